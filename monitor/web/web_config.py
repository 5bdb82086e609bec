"""The web configuration file of Prometheus's exporters (exporter-toolkit): TLS and users.

One file can thus serve all exporters of a site, and `promtool check web-config` checks it.
Settings that this server does not support (cipher suites, curves, optional client
certificates) are refused, never ignored.

Source: prometheus/exporter-toolkit, docs/web-configuration.md.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from monitor.config.yaml_document import Document, read_document
from monitor.errors import ConfigError

_HASH = r"\$2[abxy]\$(0[4-9]|1[0-6])\$[./A-Za-z0-9]{53}"
_NO_CLIENT, _VERIFIED_CLIENT = "NoClientCert", "RequireAndVerifyClientCert"
_CLIENT_AUTH = ("", _NO_CLIENT, _VERIFIED_CLIENT)
_VERSIONS = ("", "TLS12", "TLS13")
_UNSUPPORTED = (
    "auth_excluded_paths",
    "cert",
    "cipher_suites",
    "client_allowed_sans",
    "client_ca",
    "curve_preferences",
    "key",
    "prefer_server_cipher_suites",
    "rate_limit",
)
_HEADERS = (
    "Cache-Control",
    "Content-Security-Policy",
    "Strict-Transport-Security",
    "X-Content-Type-Options",
    "X-Frame-Options",
    "X-XSS-Protection",
)
_PKCS8 = "-----BEGIN PRIVATE KEY-----"
_CONVERT = (
    "must be PKCS #8 without a passphrase; convert it: "
    "openssl pkcs8 -topk8 -nocrypt -in {} -out NEW"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """TLS settings of a listener.

    Attributes:
        certificate: file of the certificate chain, PEM.
        key: file of the private key, PEM, PKCS #8.
        client_ca: file of the authorities that must have signed the client's certificate;
            None if clients need no certificate.
        oldest: oldest accepted version, such as `tls1.2`.
    """

    certificate: Path
    key: Path
    client_ca: Path | None = None
    oldest: str = "tls1.2"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebConfig:
    """Content of a web configuration file; by default no TLS, users or headers.

    Attributes:
        tls: TLS settings; None for plain HTTP.
        users: bcrypt hash of each user's password, by user name.
        headers: headers added to every response.
    """

    tls: Tls | None = None
    users: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def authenticates(self) -> bool:
        """True where clients must authenticate, by password or certificate."""
        return bool(self.users) or (self.tls is not None and self.tls.client_ca is not None)


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _TlsSection(_Section):
    cert_file: str = ""
    key_file: str = ""
    client_auth_type: str = ""
    client_ca_file: str = ""
    min_version: str = ""
    max_version: str = ""

    @model_validator(mode="after")
    def _consistent(self) -> _TlsSection:
        if not self.cert_file or not self.key_file:
            raise ValueError("requires cert_file and key_file")
        if self.client_auth_type not in _CLIENT_AUTH:
            raise ValueError(f"client_auth_type must be {_NO_CLIENT} or {_VERIFIED_CLIENT}")
        if (self.client_auth_type == _VERIFIED_CLIENT) != bool(self.client_ca_file):
            raise ValueError(f"client_ca_file and {_VERIFIED_CLIENT} require each other")
        if self.min_version not in _VERSIONS or self.max_version not in ("", "TLS13"):
            raise ValueError("min_version must be TLS12 or TLS13, max_version TLS13")
        return self


class _HttpSection(_Section):
    http2: str = ""
    headers: dict[str, str] = {}

    @field_validator("headers")
    @classmethod
    def _known(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if name not in _HEADERS:
                raise ValueError(f"{name} cannot be set; allowed are {', '.join(_HEADERS)}")
            if not (text.isascii() and text.isprintable()):
                raise ValueError(f"{name} must be printable ASCII")
        return value


class _File(_Section):
    tls_server_config: _TlsSection | None = None
    http_server_config: _HttpSection | None = None
    basic_auth_users: dict[str, str] | None = None

    @field_validator("basic_auth_users")
    @classmethod
    def _hashed(cls, value: dict[str, str] | None) -> dict[str, str] | None:
        for name, hashed in (value or {}).items():
            if ":" in name or not name.isprintable():
                raise ValueError("a user's name must be printable, without a colon")
            if not re.fullmatch(_HASH, hashed):
                raise ValueError(
                    f"the password of {name} must be a bcrypt hash of cost 4 to 16; make one "
                    "with: htpasswd -nBC 10 ''"
                )
        return value


def read_web_config(path: Path) -> WebConfig:
    """Read a web configuration file.

    Args:
        path: the file; relative paths in it start at its directory.

    Raises:
        ConfigError: the file is invalid, or a file that it names cannot be used.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError((f"{path}: cannot be read: {error.strerror}",)) from error
    except UnicodeDecodeError as error:
        raise ConfigError((f"{path}: is not UTF-8; save it as UTF-8",)) from error
    if not any(line.partition("#")[0].strip() for line in text.splitlines()):
        return WebConfig()
    document = read_document(text, str(path), {})
    if document.faults:
        raise ConfigError(tuple(f"{path}:{fault.line}: {fault.text}" for fault in document.faults))
    try:
        found = _File.model_validate(document.value or {})
    except ValidationError as error:
        raise ConfigError(tuple(_faults(path, document, error))) from error
    http, users = found.http_server_config, found.basic_auth_users
    return WebConfig(
        tls=_tls(path, found.tls_server_config),
        users=users or {},
        headers=http.headers if http else {},
    )


def _faults(path: Path, document: Document, error: ValidationError) -> Iterator[str]:
    for detail in error.errors(include_url=False, include_input=False):
        key = detail["loc"]
        while key and key not in document.written:
            key = key[:-1]
        line = document.written[key].line if key else 1
        where = ".".join(map(str, detail["loc"]))
        yield f"{path}:{line}: {where}: {_message(detail)}"


def _message(detail: Any) -> str:
    if detail["type"] == "extra_forbidden":
        unsupported = detail["loc"][-1] in _UNSUPPORTED
        return "is not supported; leave it out" if unsupported else "unknown key"
    return str(detail["msg"]).removeprefix("Value error, ")


def _tls(path: Path, section: _TlsSection | None) -> Tls | None:
    if section is None:
        return None
    folder = path.parent
    tls = Tls(
        certificate=folder / section.cert_file,
        key=folder / section.key_file,
        client_ca=folder / section.client_ca_file if section.client_ca_file else None,
        oldest="tls1.3" if section.min_version == "TLS13" else "tls1.2",
    )
    _check_files(path, tls)
    return tls


def _check_files(path: Path, tls: Tls) -> None:
    """Load the TLS files once, as the server does later.

    Raises:
        ConfigError: they cannot be used, or do not fit together.
    """
    section = f"{path}: tls_server_config"
    try:
        for file in (tls.certificate, tls.client_ca or tls.certificate):
            file.read_bytes()
        if _PKCS8 not in tls.key.read_text(encoding="ascii"):
            raise ConfigError((f"{section}: {tls.key}: {_CONVERT.format(tls.key)}",))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls.certificate, tls.key)
        if tls.client_ca is not None:
            context.load_verify_locations(tls.client_ca)
    except (OSError, UnicodeDecodeError) as error:  # an SSLError is an OSError
        reason = getattr(error, "strerror", None) or getattr(error, "reason", None) or "no PEM"
        named = getattr(error, "filename", None) or "certificate, key and authorities"
        raise ConfigError((f"{section}: {named}: cannot be used: {reason}",)) from error
