"""The Contexts that a program has on its terminal, from the first request to the end.

Spec: docs/spec/terminal/application.md, "Contexts and Blocks". Those of a fallback are not here.
"""

from __future__ import annotations

from typing import Final, Literal

from blockwire.terminal.blocks import ContextHandle
from blockwire.terminal.messages import (
    ContextClose,
    ContextCloseResponse,
    ContextOpen,
    ContextOpenResponse,
    Failed,
    ProtocolError,
)
from blockwire.terminal.news import (
    ContextEnded,
    ContextReady,
    ContextRefused,
    LossCode,
    News,
)
from blockwire.terminal.questions import Asked, Questions

__all__ = ["CONTEXT_ID_CHARS_MAX", "ContextRoster"]

CONTEXT_ID_CHARS_MAX: Final = 1_024
"""Of an id that a terminal chooses; it stands in every message that we send."""


class ContextRoster:
    """Who is open, and what an answer of the terminal means for whom.

    Args:
        questions: What was asked.
    """

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._open: dict[str, ContextHandle] = {}
        # Ids begin operation ids anew, so none may come back.
        self._known_ids: set[str] = set()
        self._abandoned: set[str] = set()

    def opened(self, response: ContextOpenResponse) -> list[News]:
        """Return what follows from the answer to a request to open."""
        context_id = response.context_id
        asked = self._questions.take(response.request_id, ContextOpen)
        if asked is None:
            if response.request_id in self._abandoned and isinstance(context_id, str):
                self._abandoned.remove(response.request_id)
                if self._is_fresh(context_id):
                    # Nobody waits for it any more, and it counts against the terminal's limits.
                    self._known_ids.add(context_id)
                    self._questions.ask_close(context_id)
            return []
        context = asked.context
        assert context is not None, "who opens has a Context"
        if isinstance(response.body, Failed):
            return [_refused(context, response.body.error.code)]
        assert isinstance(context_id, str), "an opened Context has an id: the codec says so"
        if not self._is_fresh(context_id):
            return [_refused(context, "invalid_message")]
        self._known_ids.add(context_id)
        self._open[context_id] = context
        context.ready(context_id)
        return [ContextReady(context)]

    def closed(self, response: ContextCloseResponse) -> list[News]:
        """Return what follows from the answer to a request to close."""
        context_id = response.context_id
        if self._questions.take(response.request_id, ContextClose, context_id) is None:
            return []
        context = self._open.pop(context_id, None)
        if context is None:
            return []
        if isinstance(response.body, Failed):
            return [context.lost(response.body.error.code)]
        context.ended()
        return [ContextEnded(context)]

    def rejected(self, error: ProtocolError) -> list[News]:
        """Return what follows from the refusal of an operation."""
        context = self._open.get(error.context_id)
        if context is None:
            return []
        news = context.rejected(error.operation_id, error.body.code)
        if context.state == "lost":
            del self._open[error.context_id]
        return news

    def give_up(self, asked: Asked, code: Literal["no_answer", "end_of_input"]) -> list[News]:
        """Return what follows from a request about a Context that was not answered."""
        if isinstance(asked.request, ContextOpen):
            assert asked.context is not None, "who opens has a Context"
            self._abandoned.add(asked.request.request_id)
            return [_refused(asked.context, code)]
        assert isinstance(asked.request, ContextClose), "the rest is about no Context"
        context = self._open.pop(asked.request.context_id, None)
        return [] if context is None else [context.lost(code)]

    def end(self) -> list[News]:
        """Return what follows from the end of the connection."""
        news: list[News] = [it.lost("end_of_input") for it in self._open.values()]
        self._open.clear()
        return news

    def heal(self) -> None:
        """Write the content of every Block anew."""
        for context in self._open.values():
            context.heal()

    def _is_fresh(self, context_id: str) -> bool:
        return len(context_id) <= CONTEXT_ID_CHARS_MAX and context_id not in self._known_ids


def _refused(context: ContextHandle, code: LossCode) -> ContextRefused:
    context.refused()
    return ContextRefused(context, code)
