"""Whether it is noted that a conversation names what its messages name: the same for every store.

Spec: docs/spec/gateway/attachments.md, "Holding". Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, cast

from blockwire.content import Block, Message, visible_message
from blockwire.content.naming import named_attachments
from blockwire.ports import CheckProblem

__all__ = ["Hold", "hold_problems"]

Hold = Literal["none", "private", "public", "foreign"]
"""What is noted of a conversation and an id: where it names it, if anywhere.

``foreign`` where nothing is noted and no such attachment was uploaded into the conversation: an archive
gets no hold on what it names and does not bring, and there was nothing to hold before there were
attachments.
"""


def hold_problems(
    conversation_id: str, message: Message, find_hold: Callable[[str], Hold]
) -> Iterator[CheckProblem]:
    """Yield the attachments that ``message`` names and that its conversation does not hold.

    Args:
        conversation_id: Where the message is.
        message: As it is stored.
        find_hold: Returns what is noted of the conversation and an id.
    """
    public = visible_message("public", message)
    shown = frozenset[str]() if public is None else _names(public)
    for name in sorted(_names(message)):
        hold = find_hold(name)
        if hold == "none" or (hold == "private" and name in shown):
            yield CheckProblem(conversation_id, "attachment_not_held", f"a message names {name}")


def _names(message: Message) -> frozenset[str]:
    blocks = cast("list[Block]", message["content"])
    return frozenset(name for block in blocks for name in named_attachments(block))
