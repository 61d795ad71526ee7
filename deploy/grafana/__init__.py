"""Grafana dashboards as code; `python -m deploy.grafana` writes them as JSON."""
