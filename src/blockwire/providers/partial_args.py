"""Arguments of a Gemini function call that come as pieces, each with a path.

Spec: docs/spec/providers.md, "Gemini".
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, Final, cast

from blockwire.jsontext import DEPTH_MAX, Json, encode_json
from blockwire.providers.members import text_of

__all__ = ["PartialArguments"]

# One step of a path: ``.name``, ``['name']``, ``["name"]`` or ``[0]``.
_STEP: Final = re.compile(
    r"""\.(?P<name>[^.\[\]'"]+)|\[(?P<quote>['"])(?P<quoted>.*?)(?P=quote)\]|\[(?P<index>[0-9]{1,6})\]"""
)

_VALUE_MEMBERS: Final = ("stringValue", "numberValue", "boolValue", "nullValue")

_Path = tuple[str | int, ...]


class PartialArguments:
    """Builds an object from values at paths; a string may come in several pieces.

    Attributes:
        is_broken: A piece could not be placed: the whole is not what was meant.
    """

    def __init__(self) -> None:
        self._root: dict[str, Json] = {}
        self._growing: _Path | None = None
        self.is_broken = False

    @property
    def text(self) -> str:
        """The object so far as JSON text."""
        return encode_json(self._root).decode()

    @property
    def is_whole(self) -> bool:
        """Whether every piece has its place and no string waits for another piece."""
        return not self.is_broken and self._growing is None

    def add(self, piece: dict[str, Json]) -> int:
        """Place one item of ``partialArgs``; return how many characters it holds."""
        path = _parse_path(text_of(piece, "jsonPath"))
        names = [name for name in _VALUE_MEMBERS if name in piece]
        if path is None or len(names) > 1:
            self.is_broken = True
            return 0
        value: Json = piece[names[0]] if names else ""
        if names == ["nullValue"]:
            value = None
        if self._growing is not None and self._growing != path:
            self.is_broken = True
        elif self._growing is not None:
            value = f"{self._get(path)}{value}" if isinstance(value, str) else value
        self._growing = path if piece.get("willContinue") is True else None
        if not self._put(path, value):
            self.is_broken = True
        return len(text_of(piece, "stringValue")) + len(text_of(piece, "jsonPath"))

    def _get(self, path: _Path) -> Json:
        value: Any = self._root
        for step in path:
            value = value[step]
        return cast("Json", value)

    def _put(self, path: _Path, value: Json) -> bool:
        """Set the value at ``path``, making objects and arrays on the way; False if that fails."""
        holder: Json = self._root
        for step, following in pairwise(path):
            fresh: Json = [] if isinstance(following, int) else {}
            holder = _child(holder, step, fresh)
        return _set(holder, path[-1], value)


def _parse_path(text: str) -> _Path | None:
    """Return the steps after ``$``; None for what is no such path, or too deep."""
    steps: list[str | int] = []
    position = 1
    while position < len(text):
        step = _STEP.match(text, position)
        if step is None:
            return None
        position = step.end()
        if step["index"] is not None:
            steps.append(int(step["index"]))
        else:
            steps.append(step["name"] or step["quoted"])
    return tuple(steps) if text.startswith("$") and 0 < len(steps) < DEPTH_MAX else None


def _child(holder: Json, step: str | int, fresh: Json) -> Json:
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.setdefault(step, fresh)
    if isinstance(holder, list) and isinstance(step, int) and step <= len(holder):
        if step == len(holder):
            holder.append(fresh)
        return holder[step]
    return None


def _set(holder: Json, step: str | int, value: Json) -> bool:
    if isinstance(holder, dict) and isinstance(step, str):
        holder[step] = value
        return True
    if isinstance(holder, list) and isinstance(step, int) and step <= len(holder):
        holder[step:] = [value, *holder[step + 1 :]]
        return True
    return False
