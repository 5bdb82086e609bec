"""Fixtures that tests of several folders share."""

import gc
import os
import shutil
from collections.abc import Callable, Generator
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
from hypothesis import HealthCheck, settings

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

# No test depends on the speed of the machine, and none on what else that does.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")
_DEFAULT_TIMEOUT = signature(httpx.get).parameters["timeout"].default
for phase in ("connect", "read", "write", "pool"):
    setattr(_DEFAULT_TIMEOUT, phase, 60.0)  # five seconds before

# Programs that tests start write their bytecode, so that the next start does not compile all
# modules again: a second of CPU each.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="write golden files anew")
    parser.addoption("--spark", action="store_true", help="run what starts a Spark, too")
    parser.addoption("--slow", action="store_true", help="run tests marked slow, too")
    parser.addoption("--no-skips", action="store_true", help="fail where a test would be skipped")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect the tests without the garbage collector, which would search all modules each time.

    What is there after collection stays to the end, and is left out of later searches.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests marked `dev` without their packages, and those marked `slow` without `--slow`."""
    for mark in item.iter_markers("dev"):
        for package in mark.args:
            if find_spec(package) is None:
                pytest.skip(f"needs {package}, a package of the extra dev")
    if item.get_closest_marker("slow") and not item.config.getoption("--slow"):
        pytest.skip("is marked slow: pytest --slow runs it, and the night")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport]:
    """With `--no-skips`, a skipped test fails."""
    report = yield
    return _no_skip(report, item.config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport]:
    """With `--no-skips`, a module that is skipped as a whole fails."""
    report = yield
    return _no_skip(report, collector.config)


def _no_skip(report: Report, config: pytest.Config) -> Report:
    if report.skipped and config.getoption("--no-skips") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and --no-skips allows none: {report.longrepr}"
    return report


@pytest.fixture(scope="session", autouse=True)
def authorities_read_once() -> Generator[None]:
    """Read the certificate authorities once, and not for each request of `httpx.get` anew.

    Reading them takes 50 ms of CPU, far more than a request to a server of this machine; tests
    that wait for an answer ask many times.
    """
    made = httpx.create_ssl_context
    shared = made()

    def create(**asked: Any) -> object:
        return shared if asked["verify"] is True else made(**asked)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("httpx._transports.default.create_ssl_context", create)
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with a file beside the test; `--record` writes the file anew."""

    def check(name: str, text: str) -> None:
        path = Path(request.path).parent / name
        if request.config.getoption("--record"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.fixture
def spark(request: pytest.FixtureRequest, system_program: Callable[[str], str]) -> None:
    """Skips what starts a Spark unless it is asked for, or in CI."""
    if not (request.config.getoption("--spark") or os.environ.get("CI")):
        pytest.skip("starts a Spark, a minute of CPU each: pytest --spark")
    system_program("java")
    system_program("ps")


@pytest.fixture(scope="session")
def system_program() -> Callable[[str], str]:
    """Finds a program of the system: skips the test where it is missing, and fails in CI."""

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is None and os.environ.get("CI"):
            pytest.fail(f"{name} is missing, and CI must not skip what needs it")
        if path is None:
            pytest.skip(f"{name} is not installed")
        return path

    return find
