"""`demo --alerts`: two faults in turn, and the alerts of each from the real programs.

simulation.py      a simulated model with injected faults
hurried_rules.py   the shipped rules, with waits short enough for a demo
programs.py        runs Prometheus and Alertmanager on loopback
webhook.py         receives the alerts
"""
