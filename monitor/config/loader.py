"""Reads a configuration file: returns a `Config`, or raises an error that lists every fault."""

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from monitor.config.config import Config
from monitor.config.error_messages import config_faults
from monitor.config.yaml_document import ConfigFault, read_document
from monitor.errors import ConfigError

_LARGEST = 1 << 20


def load_config(path: str | Path, environ: Mapping[str, str] | None = None) -> Config:
    """Read the configuration from a YAML file.

    Args:
        path: the file, UTF-8, at most 1 MiB.
        environ: variables for `${VAR}`; the environment of this process by default.

    Raises:
        ConfigError: the file cannot be read or is invalid; lists every fault with its line.
    """
    return parse_config(_read(Path(path)), str(path), environ)


def parse_config(text: str, name: str, environ: Mapping[str, str] | None = None) -> Config:
    """Read the configuration from YAML text.

    Args:
        text: the YAML.
        name: name of the text in messages, usually its file.
        environ: variables for `${VAR}`; the environment of this process by default.

    Raises:
        ConfigError: the text is invalid; lists every fault with its line.

    >>> parse_config("models: {fraud: {threshold: 0.5}}", "monitor.yaml").model("fraud").threshold
    0.5
    >>> parse_config("models: {fraud: {treshold: 0.5}}", "monitor.yaml")
    Traceback (most recent call last):
    monitor.errors.ConfigError: monitor.yaml:1: unknown key 'treshold'; did you mean 'threshold'?
    """
    document = read_document(text, name, os.environ if environ is None else environ)
    faults: list[ConfigFault] = list(document.faults)
    config = None
    try:
        config = Config.model_validate(document.value)
    except ValidationError as error:
        faults += config_faults(error, document)
    if faults or config is None:
        lines = [f"{name}:{fault.line}: {fault.text}" for fault in sorted(faults, key=_line)]
        raise ConfigError(tuple(dict.fromkeys(lines)))
    return config


def _line(fault: ConfigFault) -> int:
    return fault.line


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        reason = (error.strerror or "unreadable").lower()
        raise ConfigError((f"{path}: cannot be read: {reason}; give a YAML file",)) from error
    if len(data) > _LARGEST:
        raise ConfigError((f"{path}: is larger than 1 MiB; give a configuration file, not events",))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, byte = data.count(b"\n", 0, error.start) + 1, data[error.start]
        fault = f"{path}:{line}: is not UTF-8, got byte 0x{byte:02x}; save it as UTF-8"
        raise ConfigError((fault,)) from error
