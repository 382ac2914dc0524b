"""A turn that waits for its conversation, until it begins.

Spec: docs/spec/gateway/turns.md, "The queue". A gateway keeps nothing of such a turn: one that was
started anew does not know it, and the same submit under the same key starts it once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from blockwire.client.failures import ClientError
from blockwire.client.shapes import Turn
from blockwire.client.timing import Timing, sleep

__all__ = ["LINE_POLL_S", "OnQueued", "wait_in_line"]

LINE_POLL_S = 0.5
"""Between two looks at the line."""

OnQueued = Callable[[Turn], None]


async def wait_in_line(  # noqa: PLR0913 - what to read, whom to tell, how patiently
    turn: Turn,
    read_turn: Callable[[float], Awaitable[Turn]],
    *,
    timing: Timing,
    on_queued: OnQueued | None,
    resubmit: Callable[[], Awaitable[Turn]] | None,
    give_up_s: float | None,
) -> Turn:
    """Return the turn once it waits no more: it runs, is over, or was handed back.

    Args:
        turn: As the submit answered it.
        read_turn: Reads it, for so many seconds at most until it is over.
        timing: The clock.
        on_queued: Told of its place, whenever that is another.
        resubmit: Submits the same again under the same key, for a gateway that has forgotten it.
        give_up_s: How long failures that may pass are waited for; None for ever.

    Raises:
        ClientError: ``turn_handed_back`` when somebody took it out of the line;
            ``turn_not_found`` when the gateway has forgotten it; what reading it raises.
    """
    told: object = None
    failing_since_s: float | None = None
    while turn.status == "queued":
        if on_queued is not None and turn.position != told:
            told = turn.position
            on_queued(turn)
        asked_s = timing.monotonic_s()
        try:
            turn = await read_turn(LINE_POLL_S)
            failing_since_s = None
        except ClientError as error:
            if error.code == "turn_not_found" and resubmit is not None:
                turn = await resubmit()
                continue
            now_s = timing.monotonic_s()
            since_s = failing_since_s = asked_s if failing_since_s is None else failing_since_s
            is_late = give_up_s is not None and now_s - since_s >= give_up_s
            if not error.retryable or is_late:
                raise
        left_s = LINE_POLL_S - (timing.monotonic_s() - asked_s)
        if turn.status == "queued" and left_s > 0:
            await sleep(timing, left_s)
    return turn
