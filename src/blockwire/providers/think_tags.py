"""Reasoning that a server leaves inside the answer, as ``<think>`` tags at its beginning.

Spec: docs/spec/providers.md, "Reasoning inside the text".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from blockwire.providers.answer import Answer

__all__ = ["ThinkTags"]

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"

# Text that may stand before the tag: some templates begin with line breaks.
_BLANKS: Final = " \t\r\n"

# Blanks held back while a tag may follow; an answer that begins with more has no tags.
BLANK_CHARS_MAX: Final = 64

_State = Literal["before", "inside", "after", "text"]


class ThinkTags:
    """Puts the text of an answer into its prose, and what the tags enclose into its reasoning.

    Tags count at the very beginning only: further down they are text about tags. At most a tag
    and the blanks before it are held back until it is clear what they are.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._state: _State = "before"
        self._held = ""
        # What to do with a text in each state; each returns what is left of it.
        self._steps: Final[dict[_State, Callable[[str], str]]] = {
            "before": self._find_open,
            "inside": self._find_close,
            "after": self._skip_breaks,
            "text": self._say,
        }

    def add(self, text: str) -> None:
        """Add a piece of the text."""
        while text:
            text = self._steps[self._state](text)

    def _say(self, text: str) -> str:
        self._answer.say("prose", text)
        return ""

    def _skip_breaks(self, text: str) -> str:
        """Drop the blank lines after the tag, which belong to it."""
        text = text.lstrip("\r\n")
        if text:
            self._state = "text"
        return text

    def _find_open(self, text: str) -> str:
        held = self._held + text
        tag = held.lstrip(_BLANKS)
        self._held = ""
        if len(held) - len(tag) <= BLANK_CHARS_MAX:
            if tag.startswith(_OPEN):
                self._state = "inside"
                return tag[len(_OPEN) :]
            if _OPEN.startswith(tag):
                self._held = held
                return ""
        self._state = "text"
        return held

    def _find_close(self, text: str) -> str:
        held = self._held + text
        self._held = ""
        inside, tag, rest = held.partition(_CLOSE)
        if tag:
            self._answer.say("reasoning", inside)
            self._answer.end_segment()
            self._state = "after"
            return rest
        cut = _held_back(held)
        self._answer.say("reasoning", held[: len(held) - cut])
        self._held = held[len(held) - cut :]
        return ""

    def no_tags(self) -> None:
        """Take all further text as it is: the server has its own member for reasoning."""
        if self._state == "before":
            self.flush()

    def flush(self) -> None:
        """Add what was held back: no tag will be completed any more."""
        held, self._held = self._held, ""
        self._answer.say("reasoning" if self._state == "inside" else "prose", held)
        if self._state != "inside":
            self._state = "text"

    def drop(self) -> None:
        """Forget what was held back: the answer was cut, and half a tag is not to be seen."""
        self._held = ""


def _held_back(text: str) -> int:
    """Return how many of the last characters may be the beginning of the closing tag."""
    for length in range(min(len(text), len(_CLOSE) - 1), 0, -1):
        if text.endswith(_CLOSE[:length]):
            return length
    return 0
