"""Web configuration files: valid and invalid ones, and agreement with promtool."""

import os
import subprocess
from pathlib import Path

import pytest
from web.certificates import write_certificates

from monitor.errors import ConfigError
from monitor.web.web_config import Tls, WebConfig, read_web_config

HASH = "$2b$04$g8dPioseIwpSXJuI7OIjoepSA4HQdZzDSvJWiderk1Np0lfZzRIsC"  # of "secret"
TLS = "tls_server_config: {cert_file: server.pem, key_file: server.key}\n"
MUTUAL = (
    "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n"
    "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.pem\n"
    "  min_version: TLS13\n"
)
USERS = f"basic_auth_users:\n  prometheus: {HASH}\n"
HEADERS = "http_server_config:\n  headers:\n    Strict-Transport-Security: max-age=60\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("web")
    write_certificates(made)
    return made


def read(folder, text):
    path = folder / "web.yml"
    path.write_text(text)
    return read_web_config(path)


TAKEN = [
    ("", WebConfig()),
    (USERS, WebConfig(users={"prometheus": HASH})),
    (HEADERS, WebConfig(headers={"Strict-Transport-Security": "max-age=60"})),
    (TLS, {"oldest": "tls1.2"}),
    (MUTUAL, {"client_ca": "ca.pem", "oldest": "tls1.3"}),
]


@pytest.mark.parametrize(("text", "meant"), TAKEN)
def test_a_valid_file_is_read(folder, text, meant):
    if isinstance(meant, dict):
        named = {name: folder / v if name == "client_ca" else v for name, v in meant.items()}
        files = {"certificate": folder / "server.pem", "key": folder / "server.key"}
        meant = WebConfig(tls=Tls(**files, **named))
    assert read(folder, text) == meant
    assert meant.authenticates == (text in (USERS, MUTUAL))


@pytest.mark.system
@pytest.mark.parametrize("text", [text for text, _ in TAKEN])
def test_promtool_accepts_the_same_files(folder, text, system_program):
    read(folder, text)
    words = [system_program("promtool"), "check", "web-config", folder / "web.yml"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


REFUSED = [
    (
        "tls_server_config: {cert_file: server.pem}\n",
        ":1: tls_server_config: requires cert_file and",
    ),
    (USERS.replace("04", "99"), ":1: basic_auth_users: the password of prometheus must be"),
    ("basic_auth_users: {a: secret}\n", ":1: basic_auth_users: the password of a must be a bcrypt"),
    (f'basic_auth_users: {{"a:b": "{HASH}"}}\n', "without a colon"),
    ("\nrate_limit: {}\n", ":2: rate_limit: is not supported; leave it out"),
    ("nonsense: 1\n", ":1: nonsense: unknown key"),
    ("a: 1\na: 2\n", "a"),
    ("- a\n", "must be a mapping"),
    (TLS.replace("}", ", cipher_suites: [a]}"), "cipher_suites: is not supported"),
    (TLS.replace("}", ", max_version: TLS12}"), "min_version must be TLS12 or TLS13"),
    (TLS.replace("}", ", client_auth_type: RequestClientCert}"), "client_auth_type must be"),
    (TLS.replace("}", ", client_auth_type: RequireAndVerifyClientCert}"), "require each other"),
    (TLS.replace("server.key", "old.key"), "openssl pkcs8 -topk8 -nocrypt"),
    (TLS.replace("server.key", "client.key"), "key values mismatch"),
    (TLS.replace("server.pem", "missing.pem"), "missing.pem"),
    (TLS.replace("server.key", "missing.key"), "missing.key"),
    (HEADERS.replace("Strict-Transport-Security", "Set-Cookie"), "Set-Cookie cannot be set"),
]


@pytest.mark.parametrize(("text", "fault"), REFUSED)
def test_a_refusal_has_its_reason_and_no_password(folder, text, fault):
    with pytest.raises(ConfigError) as refused:
        read(folder, text)
    (line,) = refused.value.faults
    assert line.startswith(str(folder / "web.yml"))
    assert fault in line
    assert "g8dPioseIwpSXJ" not in line
    assert ": secret" not in line


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="No such file"):
        read_web_config(tmp_path / "missing.yml")
    (tmp_path / "latin.yml").write_bytes(b"a: \xff")
    with pytest.raises(ConfigError, match="is not UTF-8"):
        read_web_config(Path(os.fspath(tmp_path / "latin.yml")))
