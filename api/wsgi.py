"""The WSGI application that each gunicorn process loads: `api.wsgi:app`."""

from __future__ import annotations

from api.app import create_app
from api.client_timeouts import ClientTimeoutMiddleware
from api.shutdown import InFlightRequests
from api.wiring import wire
from shared.settings import get_settings
from shared.telemetry.log import set_up_logging

_settings = get_settings()
set_up_logging(level=_settings.log_level, log_format=_settings.log_format)
_ports = wire(_settings)
for _cell in _ports.cells.values():
    _cell.usage_replay.start()
if _ports.clock is not None:
    _ports.clock.start()
app = InFlightRequests(ClientTimeoutMiddleware(create_app(_ports)))
