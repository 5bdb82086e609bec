from contextlib import closing

import pytest
from exporter.page.browsers import Browser
from playwright import sync_api as playwright


@pytest.fixture(scope="module")
def chromium(system_program):
    path = system_program("chromium")
    arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
    with (
        playwright.sync_playwright() as started,
        closing(started.chromium.launch(executable_path=path, args=arguments)) as chromium,
    ):
        yield chromium


@pytest.fixture
def browser(chromium):
    """A browser whose pages end with the test: an open page refreshes itself on and on."""
    browser = Browser(chromium)
    yield browser
    browser.close()
