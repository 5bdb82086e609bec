"""Settings of the listener that serves what the monitor knows."""

from typing import Annotated

from pydantic import PositiveInt

from monitor.config import quantities as q
from monitor.config.fields import BaseUrl, Distinct, FilePath, Listen, Name, Section, setting
from monitor.config.otlp import OtlpConfig


class ExporterConfig(Section):
    """The listener that serves metrics, API and page."""

    listen: Listen = setting(
        "127.0.0.1:9108", "Address to serve /metrics, the API and the page on, HOST:PORT."
    )
    external_url: BaseUrl | None = setting(
        None,
        "URL at which people open the page, such as https://monitor.example.org. Alerts that "
        "`rules` writes link to it. Default: alerts have no such link.",
    )
    web_config: FilePath | None = setting(
        None,
        "Web configuration file in the format of Prometheus's exporters: TLS, users with bcrypt "
        "passwords, response headers.",
    )
    hosts: Annotated[tuple[Name, ...], Distinct] = setting(
        (),
        "Names, besides addresses, localhost and those of this machine, by which a listener on "
        "loopback without authentication is opened, such as that of a reverse proxy.",
        json_schema_extra={"default": [], "uniqueItems": True},
    )
    max_connections: PositiveInt = setting(1024, "Connections served at a time; others wait.")
    allow_reload: bool = setting(
        False, "Whether POST /-/reload reloads the configuration, as SIGHUP does."
    )
    score_metrics: bool = setting(
        False,
        "Whether /metrics has every metric of scores by window, with its interval: some 40 series "
        "more for each model and window. Without it, three metrics have series.",
    )
    otlp: OtlpConfig | None = setting(
        None, "Push the series of /metrics by OTLP as well, for what is not scraped."
    )

    @property
    def address(self) -> q.Address:
        """Host and port of `listen`."""
        return q.parse_address(self.listen)
