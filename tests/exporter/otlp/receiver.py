"""A receiver of OTLP over HTTP, which decodes what it gets by opentelemetry-proto."""

import gzip
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from threading import Thread

SERVICE = "opentelemetry.proto.collector.metrics.v1.metrics_service_pb2"


class Receiver:
    """Requests that came.

    Attributes:
        requests: decoded, in order.
        headers: of each request, their names in lower case.
        paths: of each request.
        status: what is answered.
    """

    def __init__(self):
        self.requests, self.headers, self.paths, self.status = [], [], [], 200


@contextmanager
def receiving():
    """A receiver, and its URL."""
    receiver = Receiver()
    message = import_module(SERVICE).ExportMetricsServiceRequest  # a package of the extra dev

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.headers.append({k.lower(): v for k, v in self.headers.items()})
            receiver.paths.append(self.path)
            if receiver.status == 200:
                receiver.requests.append(message.FromString(gzip.decompress(body)))
            self.send_response(receiver.status)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield receiver, f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def metrics_of(request):
    """The metrics of a request by name; each name comes once."""
    (resource,) = request.resource_metrics
    (scope,) = resource.scope_metrics
    found = {metric.name: metric for metric in scope.metrics}
    assert len(found) == len(scope.metrics)
    return found


def samples_of(request):
    """What Prometheus would make of a request: a number for each name and labels."""
    found = {}
    for name, metric in metrics_of(request).items():
        kind = metric.WhichOneof("data")
        for point in getattr(metric, kind).data_points:
            labels = {a.key: a.value.string_value for a in point.attributes}
            if kind != "histogram":
                found[name, frozenset(labels.items())] = point.as_double
                continue
            found[f"{name}_count", frozenset(labels.items())] = float(point.count)
            found[f"{name}_sum", frozenset(labels.items())] = point.sum
            total = 0
            for bound, count in zip(
                [*point.explicit_bounds, float("inf")], point.bucket_counts, strict=True
            ):
                total += count
                key = frozenset({**labels, "le": bound}.items())
                found[f"{name}_bucket", key] = float(total)
    return found
