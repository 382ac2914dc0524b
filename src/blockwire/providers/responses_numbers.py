"""The numbers of the events of an OpenAI response: what was seen, and whether something is missing.

Spec: docs/spec/providers.md, "OpenAI Responses". Above is ``openai_responses``.
"""

from __future__ import annotations

__all__ = ["SequenceNumbers"]


class SequenceNumbers:
    """Tells which events are new when a response is read again from an earlier one.

    Attributes:
        last: Number of the last new event.
        losses: How often something may have been lost so far. Between two moments at which it is
            the same, every event has come and was understood.
    """

    def __init__(self) -> None:
        self.last: int | None = None
        self.losses = 0
        self._last_name = ""
        self._are_trusted = True

    def is_new(self, number: int | None, name: str) -> bool:
        """Return whether to take the event; without a number it always is new."""
        if number is None or not self._are_trusted:
            self.losses += 1
            return True
        if number == self.last and name != self._last_name:
            # Two events share a number: this server does not count.
            self._are_trusted = False
            self.last = None
            self.losses += 1
            return True
        if self.last is not None and number <= self.last:
            return False
        if self.last is not None and number > self.last + 1:
            self.losses += 1
        self.last = number
        self._last_name = name
        return True
