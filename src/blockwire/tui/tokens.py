"""What the turns that are shown came to, and how amounts are written.

Spec: docs/spec/chat/index.md, "The prompt".
"""

from __future__ import annotations

from typing import Final

from blockwire.content import ConversationState
from blockwire.jsontext import Json

__all__ = ["TokenCount", "amount_words", "elapsed_words"]

_KILO: Final = 1_000
_MEGA: Final = 1_000_000


class TokenCount:
    """Sums the usage of finished messages; each costs its work once.

    Attributes:
        input_count: Tokens that models read.
        output_count: Tokens that they wrote.
        model: The model of the newest message that names one.
        models: All that were named, in order.
    """

    def __init__(self) -> None:
        self._counted = 0
        self.input_count = 0
        self.output_count = 0
        self.models: dict[str, None] = {}

    def update(self, state: ConversationState, *, is_whole: bool) -> None:
        """Count what is new in ``state``.

        Args:
            state: The newest one.
            is_whole: It is a snapshot and continues nothing; all is counted anew.
        """
        if is_whole:
            self._counted = self.input_count = self.output_count = 0
        for _ordinal, message, _turn in state.finished_since(self._counted):
            self._add(message.get("usage"), message.get("model"))
        self._counted = state.finished_count
        for turn in state.running.values():
            self._add(None, turn.envelope.get("model"))

    @property
    def model(self) -> str | None:
        """The model that was named last."""
        return next(reversed(self.models), None)

    def _add(self, usage: Json, model: Json) -> None:
        if isinstance(model, str) and model:
            self.models.pop(model, None)
            self.models[model] = None
        if isinstance(usage, dict):
            self.input_count += _count(usage.get("input_tokens"))
            self.output_count += _count(usage.get("output_tokens"))


def _count(value: Json) -> int:
    return int(value) if isinstance(value, int | float) and value > 0 else 0


def amount_words(count: int) -> str:
    """Return an amount in at most four digits: ``950``, ``1.2k``, ``34k``, ``5.6M``."""
    if count < _KILO:
        return str(count)
    scale, unit = (_KILO, "k") if count < _MEGA - _KILO // 2 else (_MEGA, "M")
    return f"{count / scale:.1f}{unit}" if count < 10 * scale else f"{count / scale:.0f}{unit}"


def elapsed_words(duration_s: float) -> str:
    """Return a duration in whole units: ``7 s``, ``2 min 05 s``, ``1 h 02 min``."""
    seconds = max(int(duration_s), 0)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"
