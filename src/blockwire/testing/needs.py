"""What blockwire itself can do without: hypothesis, or a sentence that says how to get it."""

from __future__ import annotations

try:
    from hypothesis import strategies as st
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "strategies need hypothesis: pip install 'blockwire[testing]'", name=error.name
    ) from None

__all__ = ["st"]
