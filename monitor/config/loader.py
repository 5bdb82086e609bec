"""A configuration file read and checked whole: a `Config`, or every fault that it has."""

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from monitor.config.document import read_document
from monitor.config.faults import faults_of
from monitor.config.schema import Config
from monitor.errors import ConfigError

_LARGEST = 1 << 20


def load_config(path: str | Path, environ: Mapping[str, str] | None = None) -> Config:
    """The configuration in a YAML file.

    Args:
        path: the file, UTF-8, at most 1 MiB.
        environ: the variables that `${VAR}` can name; those of this process by default.

    Raises:
        ConfigError: it cannot be read or has faults, all of them listed with their lines.
    """
    return parse_config(_read(Path(path)), str(path), environ)


def parse_config(text: str, name: str, environ: Mapping[str, str] | None = None) -> Config:
    """The configuration in a YAML text.

    Args:
        text: the YAML.
        name: what messages call it, usually its file.
        environ: the variables that `${VAR}` can name; those of this process by default.

    Raises:
        ConfigError: it has faults, all of them listed with their lines.

    >>> parse_config("models: {fraud: {threshold: 0.5}}", "monitor.yaml").model("fraud").threshold
    0.5
    >>> parse_config("models: {fraud: {treshold: 0.5}}", "monitor.yaml")
    Traceback (most recent call last):
    monitor.errors.ConfigError: monitor.yaml:1: unknown key 'treshold'; did you mean 'threshold'?
    """
    document = read_document(text, name, os.environ if environ is None else environ)
    faults, config = list(document.faults), None
    try:
        config = Config.model_validate(document.value)
    except ValidationError as error:
        faults += faults_of(error, document)
    if faults or config is None:
        lines = [f"{name}:{fault.line}: {fault.text}" for fault in sorted(faults, key=_order)]
        raise ConfigError(tuple(dict.fromkeys(lines)))
    return config


def _order(fault: tuple[int, object, str]) -> int:
    return fault[0]


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        reason = (error.strerror or "unreadable").lower()
        raise ConfigError((f"{path}: cannot be read: {reason}; give a YAML file",)) from error
    if len(data) > _LARGEST:
        raise ConfigError((f"{path}: is larger than 1 MiB; give a configuration, not events",))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, byte = data.count(b"\n", 0, error.start) + 1, data[error.start]
        fault = f"{path}:{line}: is not UTF-8, got byte 0x{byte:02x}; save it as UTF-8"
        raise ConfigError((fault,)) from error
