"""What other machines could change without authentication is refused at the start."""

import httpx
import pytest
from starlette.routing import Route
from web.certificates import write_certificates
from web.test_web_config import HASH, MUTUAL, TLS, USERS

from monitor.config import Config
from monitor.errors import ConfigError
from monitor.exporter.app import create_app
from monitor.service.listeners import ExporterAccess, exposed_listeners
from monitor.web.access import Access
from monitor.web.server import BackgroundServer
from monitor.web.web_config import WebConfig

READING = {"GET", "HEAD"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("listeners")
    write_certificates(folder)
    (folder / "token").write_text("correct-horse-battery")
    for name, text in {"users": USERS, "tls": TLS, "mutual": MUTUAL}.items():
        (folder / name).write_text(text)
    return folder


def named(files, settings):
    settings = {k: files / v if k == "web_config" else v for k, v in settings.items()}
    if "token_files" in settings:
        settings["token_files"] = [files / name for name in settings["token_files"]]
    return settings


ANYWHERE = "0.0.0.0:1"


@pytest.mark.parametrize(
    ("feed", "faults"),
    [
        ({"listen": "127.0.0.1:1"}, 0),
        ({"listen": "[::1]:1"}, 0),
        ({"listen": "localhost:1"}, 0),
        ({"listen": ANYWHERE}, 1),
        ({"listen": "[::]:1"}, 1),
        ({"listen": "monitor.example:1"}, 1),
        ({"listen": ANYWHERE, "token_files": ["token"]}, 0),
        ({"listen": ANYWHERE, "web_config": "users"}, 0),
        ({"listen": ANYWHERE, "web_config": "mutual"}, 0),
        ({"listen": ANYWHERE, "web_config": "tls"}, 1),
    ],
)
def test_a_feed_that_is_open_to_others_is_a_fault(files, feed, faults):
    found = exposed_listeners(Config(feeds=[{"type": "http", **named(files, feed)}]))
    assert len(found) == faults
    assert all("run with --insecure" in fault for fault in found)


@pytest.mark.parametrize(
    ("exporter", "faults"),
    [
        ({"listen": ANYWHERE}, 0),
        ({"listen": "127.0.0.1:1", "allow_reload": True}, 0),
        ({"listen": ANYWHERE, "allow_reload": True}, 1),
        ({"listen": ANYWHERE, "allow_reload": True, "web_config": "users"}, 0),
        ({"listen": ANYWHERE, "allow_reload": True, "web_config": "tls"}, 1),
    ],
)
def test_an_exporter_that_others_can_change_is_a_fault(files, exporter, faults):
    found = exposed_listeners(Config(exporter=named(files, exporter)))
    assert len(found) == faults
    assert all(fault.startswith("exporter.allow_reload: is open") for fault in found)


def test_every_route_of_the_exporter_but_the_probes_is_401_without_a_password():
    access = Access(web=WebConfig(users={"ann": HASH}))
    asked = []
    app = create_app(lambda: None, ready=lambda: True, reload=asked.append, access=access)
    routes = [route for route in app._app.routes if isinstance(route, Route)]
    changing = [route.path for route in routes if route.methods - READING]
    assert changing == ["/-/reload"]
    with BackgroundServer(app) as server:
        for route in routes:
            for method in route.methods:
                answer = httpx.request(method, f"{server.url}{route.path}")
                expected = 200 if route.path in ("/healthz", "/readyz") else 401
                assert answer.status_code == expected, (method, route.path)
    assert asked == []


def test_users_change_with_their_file_and_tls_does_not(files):
    path = files / "changing"
    path.write_text(USERS)
    config = Config(exporter={"web_config": path})
    app = create_app(lambda: None, ready=lambda: True, access=Access())
    guard = ExporterAccess(app)
    take = guard.prepare(config)
    assert not app.access.restricted
    take()
    assert app.access.web.users == {"prometheus": HASH}
    path.write_text("basic_auth_users: {a: b}")
    with pytest.raises(ConfigError, match="must be a bcrypt hash"):
        guard.prepare(config)
    path.write_text(TLS)
    with pytest.raises(ConfigError, match=r"exporter\.web_config: TLS cannot be changed"):
        guard.prepare(config)
