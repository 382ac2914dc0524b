"""What a suspended turn asks, as the prompt shows it, and what a key answers to it.

Spec: docs/spec/chat/input.md, "Answers". What a text answers: :mod:`blockwire.content.answers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, cast

from blockwire.content import TurnState
from blockwire.content.answers import request_options, takes_text
from blockwire.jsontext import Json
from blockwire.render import value_text

__all__ = ["Asked", "Choice", "asked_by"]


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
        request: All of it.
    """

    turn_id: str
    request_id: str
    prompt: str
    choices: tuple[Choice, ...]
    request: Mapping[str, Json]


def asked_by(turn: TurnState) -> Asked | None:
    """Return what ``turn`` waits for; None if it does not."""
    request = turn.request
    if request is None:
        return None
    # A number may be the beginning of another answer, so it counts only with Enter.
    choices = tuple(Choice("", value_text(option), option) for option in request_options(request))
    if not takes_text(request):
        choices = (Choice("y", "yes", True), Choice("n", "no", False))  # noqa: FBT003 - JSON
    prompt = cast("str", request["prompt"])
    return Asked(turn.turn_id, str(request["id"]), prompt, choices, request)
