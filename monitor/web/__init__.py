"""Who reaches a listener, and how: TLS, passwords, tokens, and the headers of answers.

    tokens.py      bearer tokens out of files
    passwords.py   users with bcrypt hashes
    web_config.py  the web configuration file of Prometheus's exporters
    access.py      all of these together: is this request let in, and who sent it?
    guard.py       an app behind its access

Both listeners, the exporter's and the feeds', rest on it.
"""
