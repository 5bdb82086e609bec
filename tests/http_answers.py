"""An HTTP server that answers by a function."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import NamedTuple


class Request(NamedTuple):
    """A request; the names of headers are in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes


class Answer(NamedTuple):
    """What it is answered."""

    status: int
    content_type: str
    body: bytes = b""


class Quiet(BaseHTTPRequestHandler):
    """A handler that logs nothing."""

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def answering(answer: Callable[[Request], Answer]) -> Iterator[str]:
    """Serve on a free port; yields the URL."""

    class Handler(Quiet):
        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", 0)))
            found = answer(Request(self.path, headers, body))
            self.send_response(found.status)
            self.send_header("Content-Type", found.content_type)
            self.send_header("Content-Length", str(len(found.body)))
            self.end_headers()
            self.wfile.write(found.body)

        do_POST = do_GET  # noqa: N815  # as the server calls it

    with serving(Handler) as url:
        yield url


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve on a free port by a handler; yields the URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
