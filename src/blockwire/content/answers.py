"""What a text answers to the request of a suspended turn.

Spec: docs/spec/chat/input.md, "Answers". The one owner of this rule: whatever a person types in, at
the command line or in the chat, is read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from blockwire.errors import LocalProtocolError
from blockwire.jsontext import Json

__all__ = ["NO_WORDS", "YES_WORDS", "read_answer", "request_options", "takes_text"]

YES_WORDS: Final = frozenset({"y", "yes", "true", "ok"})
NO_WORDS: Final = frozenset({"n", "no", "false"})


def request_options(request: Mapping[str, Json]) -> list[Json]:
    """Return what a suspended turn offers as answers; a single one is a list of one."""
    options = request.get("options")
    if isinstance(options, list):
        return options
    return [] if options is None else [options]


def takes_text(request: Mapping[str, Json]) -> bool:
    """Return whether anything may be answered; an approval without options takes yes or no alone."""
    return request["kind"] != "approval" or bool(request_options(request))


def read_answer(request: Mapping[str, Json], text: str) -> Json:
    """Return what ``text`` answers to ``request``.

    An approval takes yes or no; of options a number takes that one; else the text is the answer.

    Raises:
        LocalProtocolError: ``unusable_answer``; the sentence says what would be one.
    """
    text = text.strip()
    if not takes_text(request):
        if text.lower() in YES_WORDS:
            return True
        if text.lower() in NO_WORDS:
            return False
        raise LocalProtocolError("unusable_answer", "answer yes or no")
    options = request_options(request)
    # A number with more digits than that has no option, and would take long to read.
    if text.isdecimal() and len(text) <= 9 and 1 <= int(text) <= len(options):
        return options[int(text) - 1]
    if not text:
        raise LocalProtocolError("unusable_answer", "the answer is empty")
    return text
