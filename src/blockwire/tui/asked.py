"""What a suspended turn asks, and what a key or a text answers to it.

Spec: docs/spec/chat/input.md, "Answers".
"""

from __future__ import annotations

from typing import Final, NamedTuple, cast

from blockwire.content import TurnState
from blockwire.errors import LocalProtocolError
from blockwire.jsontext import Json
from blockwire.render import value_text
from blockwire.render.plain import request_options

__all__ = ["Asked", "Choice", "asked_by", "read_answer"]

_YES: Final = frozenset({"y", "yes", "true", "ok"})
_NO: Final = frozenset({"n", "no", "false"})


class Choice(NamedTuple):
    """One answer that is offered.

    Attributes:
        key: Takes it at once; empty if none does.
        label: What it says; not yet labelled for a terminal.
        answer: What is sent.
    """

    key: str
    label: str
    answer: Json


class Asked(NamedTuple):
    """A request as it is shown.

    Attributes:
        turn_id: Which turn waits.
        request_id: Of the request.
        prompt: What is asked; may have several lines.
        choices: What is offered; none where only a text answers.
        takes_text: Whether something else may be answered.
    """

    turn_id: str
    request_id: str
    prompt: str
    choices: tuple[Choice, ...]
    takes_text: bool


def asked_by(turn: TurnState) -> Asked | None:
    """Return what ``turn`` waits for; None if it does not."""
    request = turn.request
    if request is None:
        return None
    options = request_options(request)
    # A number may be the beginning of another answer, so it counts only with Enter.
    choices = tuple(Choice("", value_text(option), option) for option in options)
    takes_text = request["kind"] != "approval" or bool(options)
    if not takes_text:
        choices = (Choice("y", "yes", True), Choice("n", "no", False))  # noqa: FBT003 - JSON
    return Asked(
        turn.turn_id, str(request["id"]), cast("str", request["prompt"]), choices, takes_text
    )


def read_answer(asked: Asked, text: str) -> Json:
    """Return what ``text`` answers.

    An approval takes yes or no; of options a number takes that one; else the text is the answer.

    Raises:
        LocalProtocolError: ``unusable_answer``; the sentence says what would be one.
    """
    text = text.strip()
    if not asked.takes_text:
        for words, answer in ((_YES, True), (_NO, False)):
            if text.lower() in words:
                return answer
        raise LocalProtocolError("unusable_answer", "answer yes or no")
    if text.isdecimal() and 1 <= int(text) <= len(asked.choices):
        return asked.choices[int(text) - 1].answer
    if not text:
        raise LocalProtocolError("unusable_answer", "the answer is empty")
    return text
