"""What an application has asked its terminal, until it is answered or nobody waits any more.

Spec: docs/spec/terminal/application.md, "Contexts and Blocks". An answer counts once, and only for
the request that it echoes.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from blockwire.terminal.applicationlimits import ApplicationLimits
from blockwire.terminal.blocks import ContextHandle
from blockwire.terminal.bounds import PROTOCOL_VERSION
from blockwire.terminal.messages import EMPTY, CapabilityQuery, ContextClose, ContextOpen
from blockwire.terminal.outgoing import Outgoing

__all__ = ["Asked", "Questions"]

_Request: TypeAlias = CapabilityQuery | ContextOpen | ContextClose


class Asked(Struct, eq=False):
    """A request that waits for its answer."""

    request: _Request
    context: ContextHandle | None
    until_s: float | None
    """None until it is written."""


class Questions:
    """The requests of one program: their ids, and how long each waits.

    Args:
        process_id: Begins every request id.
        outgoing: Where requests wait to be written.
    """

    def __init__(self, process_id: str, outgoing: Outgoing) -> None:
        self._process_id = process_id
        self._outgoing = outgoing
        self._count = 0
        self._asked: dict[str, Asked] = {}
        self._latest: list[Asked] = []

    def __len__(self) -> int:
        """Return how many are not answered."""
        return len(self._asked)

    @property
    def next_due_at_s(self) -> float | None:
        """When the first of those that are written has waited long enough."""
        return min(
            (it.until_s for it in self._asked.values() if it.until_s is not None), default=None
        )

    @property
    def last_due_at_s(self) -> float | None:
        """When the last of those that are written has."""
        return max(
            (it.until_s for it in self._asked.values() if it.until_s is not None), default=None
        )

    def ask_support(self) -> None:
        """Ask whether Blocks are shown."""
        self._ask(
            CapabilityQuery(version=PROTOCOL_VERSION, request_id=self._next_id(), body=EMPTY), None
        )

    def ask_open(self, context: ContextHandle) -> None:
        """Ask for a Context."""
        self._ask(
            ContextOpen(version=PROTOCOL_VERSION, request_id=self._next_id(), body=EMPTY), context
        )

    def ask_close(self, context_id: str) -> None:
        """Ask for the end of a Context."""
        request = ContextClose(
            version=PROTOCOL_VERSION,
            request_id=self._next_id(),
            context_id=context_id,
            body=EMPTY,
        )
        self._ask(request, None)

    def note_taken(self, now_s: float, limits: ApplicationLimits) -> None:
        """Let the wait begin of what is to be written from now on."""
        self._latest = [it for it in self._asked.values() if it.until_s is None]
        self.note_writing(now_s, limits)

    def note_writing(self, now_s: float, limits: ApplicationLimits) -> None:
        """Let the wait of what was taken last begin anew: it was not all written before."""
        for asked in self._latest:
            is_query = isinstance(asked.request, CapabilityQuery)
            asked.until_s = now_s + (limits.answer_s if is_query else limits.request_s)

    def take(self, request_id: str, kind: type[_Request], context_id: str = "") -> Asked | None:
        """Return what an answer of this kind is to, as answered; None if nothing was asked so.

        Args:
            request_id: As echoed.
            kind: Of the request.
            context_id: As echoed, by the answer to a close.
        """
        asked = self._asked.get(request_id)
        if asked is None or not isinstance(asked.request, kind):
            return None
        if isinstance(asked.request, ContextClose) and asked.request.context_id != context_id:
            return None
        return self._asked.pop(request_id)

    def take_overdue(self, now_s: float) -> list[Asked]:
        """Return what has waited long enough, and wait no more for it."""
        return self._take(
            [it for it in self._asked.values() if it.until_s is not None and now_s >= it.until_s]
        )

    def take_all(self) -> list[Asked]:
        """Return everything, and wait for nothing."""
        return self._take([*self._asked.values()])

    def _take(self, taken: list[Asked]) -> list[Asked]:
        for asked in taken:
            del self._asked[asked.request.request_id]
        return taken

    def _next_id(self) -> str:
        self._count += 1
        return f"{self._process_id}.{self._count}"

    def _ask(self, request: _Request, context: ContextHandle | None) -> None:
        self._asked[request.request_id] = Asked(request, context, None)
        self._outgoing.add_request(request)
