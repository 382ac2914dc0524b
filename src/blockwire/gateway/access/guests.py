"""Calls that stay, and what lets them: whose secret is revoked or expires has to go.

Spec: docs/spec/gateway/auth.md, "Taking back".
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from blockwire.gateway.access.callers import Caller
from blockwire.ports import Clock

__all__ = ["Guests"]

_TIMER_S_MAX: Final = 86_400.0
"""A timer further away is set again when it rings: loops do not count in months."""


class _Guest:
    """One call that stays."""

    __slots__ = ("caller", "dismiss", "timer")

    def __init__(self, caller: Caller, dismiss: Callable[[], None]) -> None:
        self.caller = caller
        self.dismiss = dismiss
        self.timer: asyncio.TimerHandle | None = None


class Guests:
    """Who stays, by the secrets that let them in. Callers without any are not noted."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._by_grant: dict[str, dict[_Guest, None]] = {}

    def __len__(self) -> int:
        """Return how many secrets somebody stays with."""
        return len(self._by_grant)

    @contextmanager
    def staying(self, caller: Caller, dismiss: Callable[[], None]) -> Iterator[None]:
        """Note a call for as long as it lasts.

        Args:
            caller: Whose it is.
            dismiss: Ends it; called at most once, from the event loop.
        """
        if not caller.grants:
            yield
            return
        guest = _Guest(caller, dismiss)
        for grant in caller.grants:
            self._by_grant.setdefault(grant, {})[guest] = None
        self._arm(guest)
        try:
            yield
        finally:
            self._forget(guest)

    def close(self, grants: Iterable[str]) -> None:
        """End every call that one of these secrets let in."""
        for grant in grants:
            for guest in list(self._by_grant.get(grant, ())):
                self._dismiss(guest)

    def _arm(self, guest: _Guest) -> None:
        expires_at = guest.caller.expires_at
        if expires_at is None:
            return
        left_s = (expires_at - self._clock.now_ms()) / 1000
        if left_s > _TIMER_S_MAX:
            ring, wait_s = self._arm, _TIMER_S_MAX
        else:
            ring, wait_s = self._dismiss, max(left_s, 0.0)
        guest.timer = asyncio.get_running_loop().call_later(wait_s, ring, guest)

    def _dismiss(self, guest: _Guest) -> None:
        self._forget(guest)
        guest.dismiss()

    def _forget(self, guest: _Guest) -> None:
        if guest.timer is not None:
            guest.timer.cancel()
            guest.timer = None
        for grant in guest.caller.grants:
            staying = self._by_grant.get(grant)
            if staying is not None:
                staying.pop(guest, None)
                if not staying:
                    del self._by_grant[grant]
