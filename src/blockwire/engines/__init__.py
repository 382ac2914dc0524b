"""Engines: one module per way to run a turn, and the guard that makes any stream end well.

Spec: docs/spec/gateway/engines.md. Above is the gateway's wiring; below are ``providers``,
``ports`` and ``content``. An engine never numbers, saves or publishes events.
"""

from __future__ import annotations

from blockwire.engines.command import CommandEngine, CommandSettings, child_environment
from blockwire.engines.failures import ProviderError
from blockwire.engines.guard import guard
from blockwire.engines.keeper import TurnKeeper, TurnLimits, cancelled_events
from blockwire.engines.request import encode_request, engine_request_schema, fit_request

__all__ = [
    "CommandEngine",
    "CommandSettings",
    "ProviderError",
    "TurnKeeper",
    "TurnLimits",
    "cancelled_events",
    "child_environment",
    "encode_request",
    "engine_request_schema",
    "fit_request",
    "guard",
]
