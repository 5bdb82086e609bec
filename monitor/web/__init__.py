"""HTTP servers for the feeds and the exporter: listening, TLS, authentication, telemetry.

server.py              runs an ASGI app in a background thread
web_config.py          web configuration files in the format of Prometheus's exporters
tokens.py              bearer tokens, read from files
passwords.py           users with bcrypt hashes
hosts.py               names by which browsers may open a listener
guesses.py             limits wrong passwords by address
request_pace.py        limits the requests of each address
access.py              authenticates a request by token or user
access_middleware.py   ASGI middleware: authentication and security headers
connection_shares.py   shares the connections of a listener between addresses
descriptors.py         divides file descriptors between listeners
listener_telemetry.py  counts requests and open connections
"""
