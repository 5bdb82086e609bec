"""A schema registry over HTTP, as much of it as serializers and the monitor use."""

import json
import re
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import unquote


class Registry:
    """Schemas by id and by subject.

    Attributes:
        refuses: status of every answer; None to answer.
        asked: paths asked for.
        authorized: accounts that asked with one.
    """

    def __init__(self):
        self.schemas, self.subjects = [], {}
        self.refuses, self.asked, self.authorized = None, [], set()

    def register(self, subject, schema):
        if schema not in self.schemas:
            self.schemas.append(schema)
        number = self.schemas.index(schema) + 1
        versions = self.subjects.setdefault(subject, [])
        if number not in versions:
            versions.append(number)
        return number, versions.index(number) + 1

    def answer(self, path, body):
        if self.refuses is not None:
            return self.refuses, {"error_code": -1, "message": "refused"}
        self.asked.append(path)
        path = unquote(path.partition("?")[0])
        if "schema" in body and (found := re.match(r"/subjects/(.+?)(/versions)?$", path)):
            schema = {k: v for k, v in body.items() if k in ("schema", "schemaType", "references")}
            number, version = self.register(found[1], schema)
            return 200, {"id": number, "version": version, "subject": found[1], **schema}
        if found := re.match(r"/subjects/(.+)/versions/(\d+)$", path):
            number = self.subjects[found[1]][int(found[2]) - 1]
            given = {"subject": found[1], "version": int(found[2]), "id": number}
            return 200, given | self.schemas[number - 1]
        found = re.match(r"/schemas/ids/(\d+)$", path)
        if found and 0 < int(found[1]) <= len(self.schemas):
            return 200, self.schemas[int(found[1]) - 1]
        return 404, {"error_code": 40403, "message": "Schema not found"}


@contextmanager
def serving():
    """A registry, and its URL."""
    registry = Registry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            registry.authorized |= {*filter(None, [self.headers.get("Authorization")])}
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, found = registry.answer(self.path, json.loads(body or b"{}"))
            data = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET  # noqa: N815  # as the server calls it

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield registry, f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
