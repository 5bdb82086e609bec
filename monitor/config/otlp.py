"""Settings of pushing the series by OTLP."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from monitor.config.fields import (
    BaseUrl,
    HeaderName,
    HeaderValue,
    Name,
    PositiveDuration,
    Section,
    setting,
)

_PATH = "v1/metrics"


class OtlpProtocol(StrEnum):
    """Ways to reach a receiver."""

    HTTP = "http"


class OtlpConfig(Section):
    """Where the series of /metrics are pushed to, for what is not scraped."""

    endpoint: BaseUrl = Field(
        description="URL of an OTLP receiver, such as http://collector:4318; /v1/metrics is added."
    )
    protocol: OtlpProtocol = setting("http", "http: Protobuf over HTTP, compressed by gzip.")
    every: PositiveDuration = setting("1m", "Wall time between two pushes.")
    timeout: PositiveDuration = setting("10s", "A push that takes longer has failed.")
    headers: Mapping[HeaderName, HeaderValue] = setting(
        {}, "Headers of each request, such as those with a token; values stay hidden."
    )
    attributes: Mapping[Name, Name] = setting(
        {},
        "Attributes of the resource, such as deployment.environment. Default: service.name "
        "precision-monitor, service.instance.id the host and the exporter's port.",
    )

    @property
    def url(self) -> str:
        """URL that metrics are posted to."""
        base = self.endpoint.rstrip("/")
        return base if base.endswith(f"/{_PATH}") else f"{base}/{_PATH}"
