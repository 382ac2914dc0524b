"""The door: who calls a route, and whether they may.

Spec: docs/spec/gateway/auth.md.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

from starlette.datastructures import Headers

from blockwire.errors import RemoteProtocolError
from blockwire.gateway.access.auth import Presented
from blockwire.gateway.access.callers import NOBODY, Caller
from blockwire.gateway.http.answer import PROTOCOL_HEADER
from blockwire.gateway.http.call import Surface
from blockwire.gateway.http.operation import Operation
from blockwire.gateway.operations.observer import RequestRecord
from blockwire.gateway.turns.conversation import conversation_not_found

__all__ = ["SAFE_METHODS", "TICKET", "check_cookie_use", "let_in"]

TICKET: Final = "ticket"
"""Parameter of the query that holds a ticket, on routes that take one."""

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


async def let_in(
    surface: Surface,
    operation: Operation,
    headers: Headers,
    query_string: bytes,
    record: RequestRecord,
) -> Caller:
    """Return who calls ``operation``, once nothing speaks against it.

    Raises:
        RemoteProtocolError: ``unauthorized``, ``origin_refused``, ``csrf_refused``,
            ``rate_limited``, ``insufficient_scope``, ``conversation_not_found``.
    """
    if operation.scope is None:
        return NOBODY
    presented = Presented(
        headers.getlist("authorization"),
        headers.getlist("cookie"),
        headers.getlist("host"),
        _ticket(query_string) if TICKET in operation.query_names else None,
    )
    caller = await surface.auth.identify(presented, surface.service.keyring)
    record.caller = caller.name
    if caller.via == "cookie":
        check_cookie_use(surface, record.method, headers)
    surface.limits.count_request(caller.name)
    caller.require(operation.scope)
    if caller.conversation_id is not None:
        _check_reach(caller, operation, record)
    return caller


def check_cookie_use(surface: Surface, method: str, headers: Headers) -> None:
    """Refuse a cookie that somebody else's page makes a browser send.

    Raises:
        RemoteProtocolError: ``origin_refused``; ``csrf_refused`` for a change without the header
            that only a page of ours can add.
    """
    origins = headers.getlist("origin")
    surface.auth.sites.check_cookie(
        headers.getlist("host"), origins, headers.getlist("sec-fetch-site")
    )
    if method in SAFE_METHODS:
        return
    if len(origins) != 1 or PROTOCOL_HEADER not in headers:
        raise RemoteProtocolError(
            "csrf_refused", "a change by cookie has an Origin and a Blockwire-Protocol header"
        )


def _check_reach(caller: Caller, operation: Operation, record: RequestRecord) -> None:
    """Keep whoever may see one conversation only to that."""
    if not operation.is_shared:
        raise RemoteProtocolError("insufficient_scope", "this link shows one conversation only")
    if record.path.get("conversation_id", caller.conversation_id) != caller.conversation_id:
        raise conversation_not_found()


def _ticket(query_string: bytes) -> str | None:
    """Return the ticket in a query; what else is wrong with that is told later."""
    if TICKET.encode() not in query_string:
        return None
    pairs = parse_qsl(query_string.decode("latin-1"), keep_blank_values=True)
    return next((value for name, value in pairs if name == TICKET), None)
