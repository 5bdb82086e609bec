"""A schema registry over HTTP, as much of it as serializers and the monitor use."""

import json
import re
from contextlib import contextmanager
from urllib.parse import unquote

from http_answers import Answer, answering


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

    def answer(request):
        registry.authorized |= {*filter(None, [request.headers.get("authorization")])}
        status, found = registry.answer(request.path, json.loads(request.body or b"{}"))
        return Answer(status, "application/json", json.dumps(found).encode())

    with answering(answer) as url:
        yield registry, url
