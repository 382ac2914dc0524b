"""The ``blockwire`` command: arguments, configuration, wiring.

Spec: docs/reference/cli.md. Everything below is reachable without it.
"""

from __future__ import annotations

from blockwire.cli.main import main

__all__ = ["main"]
