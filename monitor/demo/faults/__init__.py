"""The difference, shown: two faults in turn, and who is told of each, by the real programs.

stream.py     a simulated model, on which faults are put
rules.py      the shipped rules, with waits short enough for a demo
programs.py   Prometheus and Alertmanager, started on loopback and ended
webhook.py    what receives the alerts
"""
