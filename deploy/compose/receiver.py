"""Prints the alerts that Alertmanager posts: stands in for a pager and a ticket queue.

    python3 deploy/compose/receiver.py [PORT]

Listens on 127.0.0.1 at the port (9099 by default) that ../alertmanager/alertmanager.yml names,
and prints a line for each alert: the path it came to, its state, its name, its summary. Needs
Python alone.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = 9099


class Receiver(BaseHTTPRequestHandler):
    """Takes one message, which holds one alert or several."""

    def do_POST(self) -> None:  # the name that the server calls
        """Print it; 400 for what is no message of Alertmanager."""
        try:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            lines = [_line(self.path, alert) for alert in json.loads(body)["alerts"]]
        except (KeyError, TypeError, ValueError) as error:
            self.send_error(400, f"no message of Alertmanager: {error!r}")
            return
        # In one piece: several messages may come at once.
        print("".join(f"{line}\n" for line in lines), end="", flush=True)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the server's name
        """Nothing: what came is printed already."""


def _line(path: str, alert: dict) -> str:
    name, summary = alert["labels"]["alertname"], alert["annotations"].get("summary", "")
    return f"{path[1:]:<8} {alert['status']:<8} {name}: {summary}"


if __name__ == "__main__":
    address = "127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else PORT
    server = ThreadingHTTPServer(address, Receiver)
    print(f"waiting for alerts on http://{address[0]}:{server.server_port}", flush=True)
    server.serve_forever()
