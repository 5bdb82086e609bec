"""A real browser, whose pages note everything a page should not do."""

from __future__ import annotations

from urllib.parse import urlsplit

SIZES = {"wide": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}


class Browser:
    """Pages that note everything a page should not do."""

    def __init__(self, browser):
        self._browser = browser
        self._pages = []

    def page(self, size="wide", scheme="light"):
        page = self._browser.new_page(viewport=SIZES[size], color_scheme=scheme)
        self._pages.append(page)
        page.set_default_timeout(20_000)
        page.complaints, page.hosts = [], set()
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("request", lambda request: page.hosts.add(urlsplit(request.url).netloc))
        page.expose_function("ran", lambda: page.complaints.append("a script ran"))
        return page

    def close(self):
        for page in self._pages:
            page.close()
