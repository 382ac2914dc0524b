"""Letting others in: tokens, the login of a browser, tickets and share links.

Spec: docs/spec/gateway/auth.md.
"""

from __future__ import annotations

from typing import Final

from blockwire.errors import RemoteProtocolError
from blockwire.gateway.access.auth import cookie_names, hash_token, read_cookie
from blockwire.gateway.access.entrance import check_cookie_use
from blockwire.gateway.access.keyring import LOGIN_S, token_exists, token_not_found
from blockwire.gateway.access.methods import TOKEN_NAME
from blockwire.gateway.bodies import read_login_body
from blockwire.gateway.http.answer import Answer, json_answer
from blockwire.gateway.http.call import Call
from blockwire.gateway.http.operation import Operation, Parameter, Response
from blockwire.gateway.routes.common import json_of
from blockwire.gateway.routes.refusals import BODY_ERRORS, CONVERSATION_ERRORS
from blockwire.jsontext import Json

__all__ = ["ACCESS_OPERATIONS"]

_CONVERSATION: Final = "/v1/conversations/{conversation_id}"
_COOKIE: Final = "Path=/; HttpOnly; SameSite=Strict"


# tokens -----------------------------------------------------------------------------------
async def create_token(call: Call) -> Answer:
    """Answer 201 with a new token, this once."""
    body = await call.json_body()
    name = body.get("name") if isinstance(body, dict) else None
    if isinstance(name, str) and call.surface.auth.has_name(name):
        raise token_exists()
    token = await call.service.create_token(body, call.tenant)
    return json_answer(token, status=201)


async def list_tokens(call: Call) -> Answer:
    """Answer with the tokens of the store."""
    return json_answer(call.service.list_tokens(call.tenant))


async def delete_token(call: Call) -> Answer:
    """Answer 204; the token lets nobody in any more."""
    await call.no_body()
    name = call.path["token_name"]
    if not TOKEN_NAME.match(name):
        raise token_not_found()
    keyring = call.service.keyring
    if call.flag("forget"):
        await keyring.forget_token(name, call.tenant)
    else:
        await keyring.revoke_token(name, call.tenant)
    return Answer(status=204)


# logins -----------------------------------------------------------------------------------
async def log_in(call: Call) -> Answer:
    """Answer with a cookie for the token in the body."""
    auth, limits, keyring = call.surface.auth, call.surface.limits, call.service.keyring
    secret = read_login_body(await call.json_body())
    address = auth.sites.client_address(call.peer, call.headers.getlist("x-forwarded-for"))
    limits.begin_login(address)
    token = auth.find_token(secret, keyring)
    if token is None:
        raise RemoteProtocolError("unauthorized", "this token is not known, or over")
    limits.note_login(address)
    given = await keyring.log_in(token)
    scopes: list[Json] = [*sorted(token.scopes)]
    return json_answer(
        {"scopes": scopes, "expires_at": given.expires_at},
        set_cookie=_cookie(call, given.secret, LOGIN_S),
    )


async def log_out(call: Call) -> Answer:
    """Answer 204; the login of the cookie is over."""
    await call.no_body()
    secret = read_cookie(call.headers.getlist("cookie"), call.headers.getlist("host"))
    if secret is not None:
        check_cookie_use(call.surface, call.method, call.headers)
        await call.service.keyring.log_out(hash_token(secret))
    return Answer(status=204, headers=(("set-cookie", _cookie(call, "", 0)),))


def _cookie(call: Call, secret: str, age_s: int) -> str:
    """Return the cookie; over TLS it is one that no other site of our domain can set.

    A browser says in ``Origin`` how it reached us, also through a proxy that does TLS.
    """
    secure, plain = cookie_names(call.headers.getlist("host"))
    if call.headers.get("origin", "").lower().startswith("https://"):
        return f"{secure}={secret}; Max-Age={age_s}; {_COOKIE}; Secure"
    return f"{plain}={secret}; Max-Age={age_s}; {_COOKIE}"


# tickets and shares -----------------------------------------------------------------------
async def create_ticket(call: Call) -> Answer:
    """Answer 201 with a ticket for an EventSource."""
    await call.no_body()
    ticket = await call.service.create_ticket(call.conversation_id, call.caller)
    return json_answer(ticket, status=201)


async def create_share(call: Call) -> Answer:
    """Answer 201 with a new share link, this once."""
    body = await call.json_body(default={})
    share = await call.service.create_share(call.conversation_id, body, call.tenant)
    return json_answer(share, status=201)


async def list_shares(call: Call) -> Answer:
    """Answer with the share links of a conversation."""
    return json_answer(await call.service.list_shares(call.conversation_id, call.tenant))


async def delete_share(call: Call) -> Answer:
    """Answer 204; the link shows nothing any more."""
    await call.no_body()
    await call.service.delete_share(call.conversation_id, call.path["share_id"], call.tenant)
    return Answer(status=204)


ACCESS_OPERATIONS: Final = (
    Operation(
        method="POST",
        path="/v1/tokens",
        id="create_token",
        summary="Make a token; the answer is the only place where it stands.",
        respond=create_token,
        scope="admin",
        tag="access",
        request={"application/json": "token_request"},
        responses={201: json_of("new_token", "The token, with its secret.")},
        errors=(*BODY_ERRORS, "token_exists", "limit_exceeded"),
    ),
    Operation(
        method="GET",
        path="/v1/tokens",
        id="list_tokens",
        summary="List the tokens of the store, without secrets.",
        respond=list_tokens,
        scope="admin",
        tag="access",
        responses={200: json_of("token_list", "All of them, by name.")},
    ),
    Operation(
        method="DELETE",
        path="/v1/tokens/{token_name}",
        id="delete_token",
        summary="Take a token back: from now on it lets nobody in, and its streams end.",
        respond=delete_token,
        scope="admin",
        tag="access",
        parameters=(
            Parameter(
                name="forget",
                description="1 removes it from the list, too. Without any token in it, and in "
                "no file, a gateway on loopback asks nobody for one.",
                schema={"enum": ["0", "1"], "default": "0"},
            ),
        ),
        responses={204: Response(description="It is worth nothing.")},
        errors=(*BODY_ERRORS, "token_not_found"),
    ),
    Operation(
        method="POST",
        path="/v1/login",
        id="log_in",
        summary="Trade a token for a cookie that no script can read.",
        respond=log_in,
        scope=None,
        tag="access",
        request={"application/json": "login_request"},
        responses={
            200: Response(
                description="What the login allows.",
                schemas={"application/json": "login"},
                headers={"set-cookie": "HttpOnly, SameSite=Strict; Secure over TLS."},
            )
        },
        errors=(*BODY_ERRORS, "unauthorized", "too_many_failed_logins"),
    ),
    Operation(
        method="POST",
        path="/v1/logout",
        id="log_out",
        summary="End the login of the cookie.",
        respond=log_out,
        scope=None,
        tag="access",
        responses={
            204: Response(
                description="It is over.", headers={"set-cookie": "Takes the cookie away."}
            )
        },
        errors=(*BODY_ERRORS, "csrf_refused"),
    ),
    Operation(
        method="POST",
        path=f"{_CONVERSATION}/tickets",
        id="create_ticket",
        summary="Get a ticket, with which an EventSource may open the conversation's stream.",
        respond=create_ticket,
        scope="read",
        tag="access",
        responses={201: json_of("ticket", "For `?ticket=`, within a minute.")},
        errors=(*BODY_ERRORS, *CONVERSATION_ERRORS, "too_many_tickets"),
        is_shared=True,
    ),
    Operation(
        method="POST",
        path=f"{_CONVERSATION}/shares",
        id="create_share",
        summary="Make a link that shows the public view of the conversation.",
        respond=create_share,
        scope="write",
        tag="access",
        request={"application/json": "share_request"},
        is_request_optional=True,
        responses={201: json_of("new_share", "The link, with its secret.")},
        errors=(*BODY_ERRORS, *CONVERSATION_ERRORS, "too_many_shares"),
    ),
    Operation(
        method="GET",
        path=f"{_CONVERSATION}/shares",
        id="list_shares",
        summary="List the conversation's share links, without secrets.",
        respond=list_shares,
        scope="write",
        tag="access",
        responses={200: json_of("share_list", "All of them, oldest first.")},
        errors=CONVERSATION_ERRORS,
    ),
    Operation(
        method="DELETE",
        path=f"{_CONVERSATION}/shares/{{share_id}}",
        id="delete_share",
        summary="Take a share link back: whoever reads through it is shown out.",
        respond=delete_share,
        scope="write",
        tag="access",
        responses={204: Response(description="It shows nothing any more.")},
        errors=(*BODY_ERRORS, *CONVERSATION_ERRORS, "share_not_found"),
    ),
)
