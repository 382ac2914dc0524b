"""Agents for the engine ``command``, as small programs of a few lines."""

from __future__ import annotations

from pathlib import Path
from typing import Final

GO: Final = "go"
"""The file that lets slow agents end, in the folder that they run in."""

_UNTIL_GO: Final = f"""
while not pathlib.Path("{GO}").exists():
    time.sleep(0.01)
"""

SLOW: Final = (
    """
import pathlib, sys, time
sys.stdin.read()
print("begun\\n", flush=True)
"""
    + _UNTIL_GO
    + """
print("and done", flush=True)
"""
)
"""Says that it has begun, and the rest when it may."""

SLOW_ECHO: Final = (
    """
import json, pathlib, sys, time
asked = json.load(sys.stdin)["messages"][-1]["content"][-1]["markdown"]
print("begun", asked, flush=True)
print(flush=True)
"""
    + _UNTIL_GO
    + """
print("done", asked, flush=True)
"""
)
"""The same, with what it was asked in both."""


def let_go(place: Path) -> None:
    """Let the slow agents in ``place`` end, those that are asked later at once."""
    (place / GO).touch()
