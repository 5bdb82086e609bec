"""A receiver of OTLP over HTTP, which decodes what it gets by opentelemetry-proto."""

import gzip
from contextlib import contextmanager
from importlib import import_module

from http_answers import Answer, answering

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

    def answer(request):
        receiver.headers.append(request.headers)
        receiver.paths.append(request.path)
        if receiver.status == 200:
            receiver.requests.append(message.FromString(gzip.decompress(request.body)))
        return Answer(receiver.status, "application/x-protobuf")

    with answering(answer) as url:
        yield receiver, url


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
