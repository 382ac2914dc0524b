"""Whoever makes a request, and what they may do.

Spec: docs/spec/gateway/auth.md.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args

from blockwire.content import View
from blockwire.content.vocabulary import VIEWS
from blockwire.errors import RemoteProtocolError

__all__ = ["LOCAL_CALLER", "NOBODY", "OPEN_DOOR", "SCOPES", "Caller", "Scope", "Via"]

Scope = Literal["read", "write", "reasoning", "admin", "metrics"]
SCOPES: Final[frozenset[str]] = frozenset(get_args(Scope))

Via = Literal["local", "token", "cookie", "ticket", "share"]
"""How a caller came in: without anything, or with what."""


class Caller(NamedTuple):
    """Whoever made a request.

    Attributes:
        name: Of the token, ``local``, or ``share`` and an id; limits are counted by it.
        scopes: What it may do.
        tenant: Whose conversations it sees; None sees all.
        conversation_id: The only conversation that it sees; None for all of its tenant.
        via: How it came in.
        grants: Hashes of the secrets that let it in, or :data:`OPEN_DOOR`; without one of them it
            has to go.
        expires_at: When it has to go, Unix milliseconds; None for never.
    """

    name: str
    scopes: frozenset[str]
    tenant: str | None = None
    conversation_id: str | None = None
    via: Via = "token"
    grants: tuple[str, ...] = ()
    expires_at: int | None = None

    def require(self, scope: str) -> None:
        """Raise RemoteProtocolError ``insufficient_scope`` unless the caller has ``scope``."""
        if scope not in self.scopes:
            raise RemoteProtocolError("insufficient_scope", f"the token lacks the scope {scope}")

    def view(self, asked: str | None = None) -> View:
        """Return the view of this caller: the owner's iff it has the scope ``reasoning``.

        Args:
            asked: ``public`` asks for less, ``owner`` for what the token must allow.

        Raises:
            RemoteProtocolError: ``insufficient_scope``, ``invalid_parameter``.
        """
        if asked is not None and asked not in VIEWS:
            raise RemoteProtocolError("invalid_parameter", f"view is {' or '.join(VIEWS)}")
        if asked == "owner":
            self.require("reasoning")
        return "owner" if asked != "public" and "reasoning" in self.scopes else "public"


OPEN_DOOR: Final = "open"
"""What lets in whoever comes without a secret; it is gone with the first token."""

LOCAL_CALLER: Final = Caller("local", SCOPES, via="local", grants=(OPEN_DOOR,))
"""Whoever calls a gateway on loopback that has no tokens."""

NOBODY: Final = Caller("nobody", frozenset())
"""Whoever calls a route that asks for no token."""
