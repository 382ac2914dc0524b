"""Letting others in and showing them out: tokens, logins, tickets and share links over HTTP."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from blockwire.gateway.access import keyring as keyring_module
from blockwire.gateway.access.auth import SCOPES, Auth, Token, hash_token
from blockwire.gateway.access.credentials import is_mistyped, new_secret, secret_kind
from blockwire.gateway.access.limits import HttpSettings
from blockwire.jsontext import encode_json
from blockwire.stores import SqliteStore
from tests.gateway.core.world import FakeClock, line, numbered
from tests.gateway.http.surface import (
    URL,
    Peer,
    Surface,
    a_turn,
    body,
    delta,
    json_of,
    peers,
    surface,
)

pytestmark = pytest.mark.anyio

ADMIN: Final = Token("admin", hash_token("admin-token"), SCOPES)
BOSS: Final = Token("boss", hash_token("boss-token"), SCOPES, "acme")
AS_ADMIN: Final = {"authorization": "Bearer admin-token"}
AS_BOSS: Final = {"authorization": "Bearer boss-token"}
PAGE: Final = {"origin": URL, "blockwire-protocol": "1"}


def with_token(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"}


async def post(s: Surface, path: str, value: Any = None, **headers: str) -> Any:
    """Return the answer to a POST."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    arguments = body({} if value is None else value)
    return await s.client.post(path, **{**arguments, "headers": arguments["headers"] | named})


async def make(s: Surface, name: str = "t", *scopes: str, **members: Any) -> str:
    """Make a token of the store and return its secret."""
    asked = {"name": name, "scopes": [*(scopes or ("read",))], **members}
    answer = await post(s, "/v1/tokens", asked, **AS_ADMIN)
    assert answer.status_code == 201, answer.text
    return str(json_of(answer)["token"])


async def over(peer: Peer) -> None:
    """Return when the application is done with a stream: ended, or cut where it was behind."""
    with anyio.fail_after(15):
        await peer.done.wait()


def files_with(folder: Path, secret: str) -> list[Path]:
    return [path for path in folder.iterdir() if secret.encode() in path.read_bytes()]


async def status(s: Surface, headers: Mapping[str, str], path: str = "/v1/conversations") -> int:
    return (await s.client.get(path, headers=dict(headers))).status_code


@asynccontextmanager
async def guarded(**more: Any) -> AsyncIterator[Surface]:
    """Run a gateway with a token of everybody's and one of a tenant's."""
    async with surface(auth=Auth((ADMIN, BOSS)), **more) as s:
        yield s


# tokens -----------------------------------------------------------------------------------
@pytest.mark.requirement("auth:store:once", "auth:secrets:shape")
async def test_a_token_is_told_once_and_lets_in_at_once() -> None:
    async with guarded() as s:
        answer = await post(
            s, "/v1/tokens", {"name": "ci", "scopes": ["write", "read"]}, **AS_ADMIN
        )
        made = json_of(answer)
        listed = await s.client.get("/v1/tokens", headers=AS_ADMIN)

        assert answer.headers["cache-control"] == "no-store"
        assert re.fullmatch(r"bw_[A-Za-z0-9_-]{49}", made["token"])
        assert secret_kind(made["token"]) == "token"
        assert json_of(listed)["items"] == [
            {"name": "ci", "scopes": ["read", "write"], "created_at": made["created_at"]}
        ]
        assert made["token"] not in listed.text
        assert await status(s, with_token(made["token"])) == 200
        assert (await post(s, "/v1/conversations", **with_token(made["token"]))).status_code == 201
        assert await status(s, with_token(made["token"]), "/v1/tokens") == 403


@pytest.mark.requirement("auth:loopback:closes")
async def test_the_first_token_closes_a_gateway_that_was_open_for_good() -> None:
    async with surface() as s:
        assert await status(s, {}) == 200
        first = await post(s, "/v1/tokens", {"name": "a", "scopes": ["admin", "read"]})
        own = with_token(json_of(first)["token"])

        assert await status(s, {}) == 401
        assert await status(s, own) == 200
        await s.client.delete("/v1/tokens/a", headers=own)
        assert await status(s, {}) == 401
        assert await status(s, own) == 401
        await s.world.service.keyring.forget_token("a", None)
        assert await status(s, {}) == 200


@pytest.mark.requirement("auth:loopback:closes", "auth:revoke:streams")
async def test_who_came_in_through_the_open_door_has_to_knock_once_it_is_closed() -> None:
    async with surface() as s, peers(s.app) as connect:
        conversation_id = await s.bare_conversation()
        path = f"/v1/conversations/{conversation_id}/events"
        stream = await connect(path)
        poll = await connect(f"{path}?after=now&wait=60", accept="application/json")
        await stream.until_count(1)

        made = await post(s, "/v1/tokens", {"name": "a", "scopes": ["read"]})
        kept = await connect(path, **with_token(json_of(made)["token"]))
        await kept.until_count(1)
        await post(s, "/v1/tokens", {"name": "b", "scopes": ["read"]})

        assert made.status_code == 201
        await over(stream)
        await over(poll)
        assert poll.status == 401
        assert not kept.ended.is_set()


async def test_tokens_are_there_after_a_restart_and_kept_as_hashes(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    async with guarded(store=SqliteStore(path)) as s:
        secret = await make(s)

    async with surface(store=SqliteStore(path)) as s:
        assert await status(s, {}) == 401
        assert await status(s, with_token(secret)) == 200
    assert not files_with(tmp_path, secret)


@pytest.mark.requirement("auth:revoke:at-once")
@pytest.mark.parametrize("forget", ["0", "1"])
async def test_a_token_that_is_taken_back_is_worth_nothing_at_once(forget: str) -> None:
    async with guarded() as s:
        secret = await make(s)
        assert await status(s, with_token(secret)) == 200

        gone = await s.client.delete(f"/v1/tokens/t?forget={forget}", headers=AS_ADMIN)

        assert gone.status_code == 204
        assert await status(s, with_token(secret)) == 401
        listed = json_of(await s.client.get("/v1/tokens", headers=AS_ADMIN))["items"]
        assert [("revoked_at" in item) for item in listed] == ([True] if forget == "0" else [])
        assert secret != await make(s)


@pytest.mark.requirement("auth:revoke:streams")
async def test_streams_polls_and_uploads_of_a_token_end_with_it() -> None:
    async with guarded() as s, peers(s.app) as connect:
        conversation_id = await s.bare_conversation()
        await s.log(conversation_id, *a_turn("a"))
        turn_id = await s.world.submit(await s.world.conversation(), engine="external")
        turn = (await s.world.service.store.list_unfinished_turns())[0]
        both = {"authorization": "Bearer " + await make(s, "t", "read", "write")}
        other = {"authorization": "Bearer " + await make(s, "other")}
        events = f"/v1/conversations/{conversation_id}/events"
        stream = await connect(events, **both)
        stuck = await connect(events, **both)
        kept = await connect(events, **other)
        poll = await connect(f"{events}?after=now&wait=60", accept="application/json", **both)
        upload = await connect(
            f"/v1/conversations/{turn.conversation_id}/turns/{turn_id}/events",
            "POST", uploads=True, content_type="application/x-ndjson", **both,
        )  # fmt: skip
        await upload.upload(numbered(1, {"type": "x.y"}))
        await upload.until(lambda: bool(upload.writes))
        for peer in (stream, stuck, kept):
            await peer.until_count(4)
        stuck.stop_reading()

        await s.client.delete("/v1/tokens/t", headers=AS_ADMIN)
        for peer in (stream, poll, upload):
            await over(peer)
        await s.log(conversation_id, delta("after"))
        stuck.read_on()
        with anyio.fail_after(15):
            await stuck.done.wait()
        await kept.until_count(5)

        assert not stream.seqs or max(stream.seqs) == 5
        assert "after" not in stream.text + stuck.text
        assert "after" in kept.text
        assert poll.status == 401
        assert b"unauthorized" in upload.raw
        assert len(s.app.surface.guests) == 1


@pytest.mark.requirement("auth:expiry:streams")
async def test_a_stream_ends_when_its_token_does() -> None:
    clock = FakeClock()
    async with guarded(clock=clock) as s, peers(s.app) as connect:
        conversation_id = await s.bare_conversation()
        secret = await make(s, expires_at=clock.ms + 200)
        stream = await connect(f"/v1/conversations/{conversation_id}/events", **with_token(secret))
        await stream.until_count(1)
        assert not stream.ended.is_set()
        clock.ms += 1000

        await over(stream)

        assert await status(s, with_token(secret)) == 401


async def test_a_timer_that_is_far_away_is_set_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blockwire.gateway.access.guests._TIMER_S_MAX", 0.01)
    clock = FakeClock()
    async with guarded(clock=clock) as s, peers(s.app) as connect:
        secret = await make(s, expires_at=clock.ms + 100_000)
        conversation_id = await s.bare_conversation()
        stream = await connect(f"/v1/conversations/{conversation_id}/events", **with_token(secret))
        await stream.until_count(1)

        clock.ms += 100_000

        await over(stream)


BAD_TOKENS: Final[list[tuple[dict[str, Any], str, str]]] = [
    ({"name": "", "scopes": ["read"]}, "invalid_name", "/name"),
    ({"name": "a b", "scopes": ["read"]}, "invalid_name", "/name"),
    ({"name": "a/b", "scopes": ["read"]}, "invalid_name", "/name"),
    ({"name": "\x1b[31m", "scopes": ["read"]}, "invalid_name", "/name"),
    ({"name": "x" * 65, "scopes": ["read"]}, "invalid_name", "/name"),
    ({"name": 1, "scopes": ["read"]}, "invalid_name", "/name"),
    ({"name": "a", "scopes": []}, "invalid_member", "/scopes"),
    ({"name": "a", "scopes": ["root"]}, "invalid_member", "/scopes"),
    ({"name": "a", "scopes": ["read", 1]}, "invalid_member", "/scopes"),
    ({"name": "a", "scopes": "read"}, "invalid_member", "/scopes"),
    ({"name": "a", "scopes": ["read"], "tenant": ""}, "invalid_name", "/tenant"),
    ({"name": "a", "scopes": ["read"], "expires_at": 1}, "invalid_member", "/expires_at"),
    ({"name": "a", "scopes": ["read"], "expires_at": True}, "invalid_member", "/expires_at"),
    ({"name": "a", "scopes": ["read"], "expires_at": "soon"}, "invalid_member", "/expires_at"),
    ({"name": "a", "scopes": ["read"], "expires_at": 2**60}, "invalid_member", "/expires_at"),
    ({"name": "a", "scopes": ["read"], "secret": "x"}, "unknown_field", "/secret"),
    ({"scopes": ["read"]}, "missing_member", "/name"),
]


@pytest.mark.parametrize(("asked", "code", "pointer"), BAD_TOKENS)
async def test_a_token_that_cannot_be_is_refused(
    asked: dict[str, Any], code: str, pointer: str
) -> None:
    async with guarded() as s:
        answer = await post(s, "/v1/tokens", asked, **AS_ADMIN)

        error = json_of(answer)["error"]
        assert (answer.status_code, error["code"], error["pointer"]) == (400, code, pointer)
        assert not s.world.service.keyring.has_tokens


async def test_names_are_given_once_and_there_are_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring_module, "TOKENS_MAX", 2)
    async with guarded() as s:
        await make(s, "a")
        await make(s, "b")

        again = await post(s, "/v1/tokens", {"name": "a", "scopes": ["read"]}, **AS_ADMIN)
        more = await post(s, "/v1/tokens", {"name": "c", "scopes": ["read"]}, **AS_ADMIN)

        assert json_of(again)["error"]["code"] == "token_exists"
        assert json_of(more)["error"]["code"] == "limit_exceeded"
        for path in ("/v1/tokens/c", "/v1/tokens/c%20d", "/v1/tokens/c?forget=1"):
            gone = await s.client.delete(path, headers=AS_ADMIN)
            assert (gone.status_code, json_of(gone)["error"]["code"]) == (404, "token_not_found")


@pytest.mark.requirement("auth:tenants:tokens")
async def test_an_admin_of_a_tenant_has_the_tokens_of_that_only() -> None:
    async with guarded() as s:
        await make(s, "theirs", tenant="other")
        asked = {"name": "ours", "scopes": ["read", "reasoning"]}
        made = json_of(await post(s, "/v1/tokens", asked, **AS_BOSS))
        foreign = await post(
            s, "/v1/tokens", {"name": "x", "scopes": ["read"], "tenant": "other"}, **AS_BOSS
        )
        listed = json_of(await s.client.get("/v1/tokens", headers=AS_BOSS))

        assert made["tenant"] == "acme"
        assert json_of(foreign)["error"]["code"] == "insufficient_scope"
        assert [item["name"] for item in listed["items"]] == ["ours"]
        for path in ("/v1/tokens/theirs", "/v1/tokens/theirs?forget=1"):
            assert (await s.client.delete(path, headers=AS_BOSS)).status_code == 404
        assert (await s.client.delete("/v1/tokens/ours", headers=AS_BOSS)).status_code == 204


@pytest.mark.requirement("auth:tenants:names")
async def test_no_tenant_takes_the_name_that_another_caller_is_known_by() -> None:
    async with guarded() as s:
        await make(s, "theirs", tenant="other")
        await s.client.delete("/v1/tokens/theirs", headers=AS_ADMIN)
        await make(s, "ours", tenant="acme")
        await s.client.delete("/v1/tokens/ours", headers=AS_ADMIN)

        # Of the token file, of another tenant although revoked, and its own revoked one.
        for name, expected in (("admin", 409), ("boss", 409), ("theirs", 409), ("ours", 201)):
            answer = await post(s, "/v1/tokens", {"name": name, "scopes": ["read"]}, **AS_BOSS)
            assert answer.status_code == expected, name
            assert expected == 201 or json_of(answer)["error"]["code"] == "token_exists"
        listed = json_of(await s.client.get("/v1/tokens", headers=AS_ADMIN))

        assert [(item["name"], item["tenant"]) for item in listed["items"]] == [
            ("ours", "acme"),
            ("theirs", "other"),
        ]


async def test_a_scope_that_is_asked_for_twice_is_given_once() -> None:
    async with guarded() as s:
        asked = {"name": "t", "scopes": ["read", "write", "read"]}
        made = json_of(await post(s, "/v1/tokens", asked, **AS_ADMIN))

        assert made["scopes"] == ["read", "write"]


@pytest.mark.requirement("auth:store:use")
async def test_when_a_token_was_used_is_known_to_the_hour() -> None:
    clock = FakeClock()
    async with guarded(clock=clock) as s:
        secret = await make(s)

        async def used_at() -> Any:
            return json_of(await s.client.get("/v1/tokens", headers=AS_ADMIN))["items"][0].get(
                "used_at"
            )

        assert await used_at() is None
        await status(s, with_token(secret))
        first = await used_at()
        clock.ms += 3_600_000
        assert await used_at() == first
        await status(s, with_token(secret))

        assert await used_at() == first + 3_600_000
        assert first % 3_600_000 == 0
        stored = await s.world.service.store.list_tokens()
        assert stored[0].used_at == first + 3_600_000


async def test_a_store_that_fails_to_note_a_use_lets_in_all_the_same() -> None:
    async with guarded() as s:
        secret = await make(s)

        await s.world.service.store.aclose()
        assert await status(s, with_token(secret), "/v1/capabilities") == 200
        await s.world.service.store.open()


def test_secrets_that_were_cut_are_told_from_those_that_are_not_known() -> None:
    secret = new_secret("share")

    assert secret_kind(secret) == "share"
    assert not is_mistyped(secret)
    for other in (secret[:-1], secret + "x", secret[:10] + "!" + secret[11:], "bw_", "bws_x"):
        assert secret_kind(other) is None
        assert is_mistyped(other)
    assert not is_mistyped("a token of mine")
    assert new_secret("share") != secret


# logins -----------------------------------------------------------------------------------
def cookie_of(answer: Any) -> str:
    """Return the cookie that an answer sets, as a browser sends it."""
    return str(answer.headers["set-cookie"]).partition(";")[0]


async def log_in(s: Surface, secret: str = "admin-token", **headers: str) -> Any:
    return await post(s, "/v1/login", {"token": secret}, **(PAGE | headers))


@pytest.mark.requirement("auth:login:cookie")
async def test_a_page_trades_a_token_for_a_cookie_that_no_script_reads() -> None:
    async with guarded() as s:
        answer = await log_in(s)
        cookie = cookie_of(answer)

        assert answer.headers["set-cookie"] == (
            f"{cookie}; Max-Age=604800; Path=/; HttpOnly; SameSite=Strict"
        )
        assert re.fullmatch(r"blockwire-7890=bwl_[A-Za-z0-9_-]{49}", cookie)
        assert json_of(answer)["scopes"] == sorted(SCOPES)
        assert "admin-token" not in answer.text + str(answer.headers)
        assert await status(s, {"cookie": f"theme=dark; {cookie}; x"}) == 200
        assert await status(s, {"cookie": cookie + "x"}) == 401
        assert await status(s, {"cookie": "theme=dark"}) == 401
        # What is shown comes first: a wrong token is not healed by a cookie.
        assert await status(s, {"cookie": cookie, "authorization": "Bearer x"}) == 401


@pytest.mark.requirement("auth:login:secure")
async def test_over_tls_the_cookie_is_one_that_only_we_can_set() -> None:
    host = "gateway.test"
    auth = Auth((ADMIN,), host="0.0.0.0")
    async with surface(auth=auth) as s:
        answer = await log_in(s, host=host, origin=f"https://{host}")
        cookie = cookie_of(answer)

        assert cookie.startswith("__Host-blockwire=bwl_")
        assert answer.headers["set-cookie"].endswith("; HttpOnly; SameSite=Strict; Secure")
        assert await status(s, {"cookie": cookie, "host": host}) == 200


WRITES: Final[list[tuple[dict[str, str], str | None]]] = [
    (PAGE, None),
    ({"origin": URL}, "csrf_refused"),
    ({"blockwire-protocol": "1"}, "csrf_refused"),
    ({}, "csrf_refused"),
    (PAGE | {"origin": "http://evil.test"}, "origin_refused"),
    (PAGE | {"origin": "http://friend.test"}, "origin_refused"),
    (PAGE | {"sec-fetch-site": "same-origin"}, None),
    (PAGE | {"sec-fetch-site": "same-site"}, "origin_refused"),
    (PAGE | {"sec-fetch-site": "cross-site"}, "origin_refused"),
]


@pytest.mark.requirement("auth:login:csrf")
@pytest.mark.parametrize(("headers", "code"), WRITES)
async def test_a_change_by_cookie_comes_from_our_own_page(
    headers: dict[str, str], code: str | None
) -> None:
    auth = Auth((ADMIN,), allowed_origins=["http://friend.test"])
    async with surface(auth=auth) as s:
        cookie = cookie_of(await log_in(s))

        for path in ("/v1/conversations", "/v1/logout"):
            answer = await post(s, path, cookie=cookie, **headers)

            assert answer.is_success if code is None else json_of(answer)["error"]["code"] == code


@pytest.mark.requirement("auth:login:csrf")
async def test_reading_by_cookie_is_for_our_own_pages() -> None:
    async with guarded() as s:
        cookie = cookie_of(await log_in(s))

        for site, expected in (("none", 200), ("same-origin", 200), ("same-site", 403)):
            assert await status(s, {"cookie": cookie, "sec-fetch-site": site}) == expected


@pytest.mark.requirement("auth:login:end")
async def test_a_login_ends_by_logout_and_its_streams_with_it() -> None:
    async with guarded() as s, peers(s.app) as connect:
        cookie, other = cookie_of(await log_in(s)), cookie_of(await log_in(s))
        conversation_id = await s.bare_conversation()
        path = f"/v1/conversations/{conversation_id}/events"
        stream, kept = await connect(path, cookie=cookie), await connect(path, cookie=other)
        await stream.until_count(1)

        answer = await post(s, "/v1/logout", cookie=cookie, **PAGE)
        await over(stream)

        assert answer.status_code == 204
        assert "Max-Age=0" in answer.headers["set-cookie"]
        assert await status(s, {"cookie": cookie}) == 401
        assert await status(s, {"cookie": other}) == 200
        assert not kept.ended.is_set()
        assert (await post(s, "/v1/logout", cookie=cookie, **PAGE)).status_code == 204
        assert (await post(s, "/v1/logout")).status_code == 204


@pytest.mark.requirement("auth:login:end")
async def test_a_login_is_worth_what_its_token_is(tmp_path: Path) -> None:
    clock = FakeClock()
    path = tmp_path / "store.db"
    async with guarded(clock=clock, store=SqliteStore(path)) as s:
        secret = await make(s, "t", "read")
        cookie = cookie_of(await log_in(s, secret))
        ending = cookie_of(await log_in(s, await make(s, "e", expires_at=clock.ms + 10_000)))
        assert await status(s, {"cookie": cookie}) == 200
        assert (await post(s, "/v1/conversations", cookie=cookie, **PAGE)).status_code == 403

    # It survives a restart, and neither its end nor that of its token.
    async with guarded(clock=clock, store=SqliteStore(path)) as s:
        assert await status(s, {"cookie": cookie}) == 200
        assert await status(s, {"cookie": ending}) == 200
        clock.ms += 10_000
        assert await status(s, {"cookie": ending}) == 401
        late = cookie_of(await log_in(s))
        await s.client.delete("/v1/tokens/t", headers=AS_ADMIN)
        assert await status(s, {"cookie": cookie}) == 401
        clock.ms += 7 * 86_400_000
        assert await status(s, {"cookie": late}) == 401
    assert not files_with(tmp_path, cookie.partition("=")[2])


async def test_a_token_has_so_many_logins_and_the_oldest_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(keyring_module, "LOGINS_PER_TOKEN_MAX", 2)
    async with guarded() as s, peers(s.app) as connect:
        first = cookie_of(await log_in(s))
        conversation_id = await s.bare_conversation()
        stream = await connect(f"/v1/conversations/{conversation_id}/events", cookie=first)
        await stream.until_count(1)
        rest = [cookie_of(await log_in(s)) for _ in range(2)]

        await over(stream)

        assert await status(s, {"cookie": first}) == 401
        assert [await status(s, {"cookie": cookie}) for cookie in rest] == [200, 200]


BAD_LOGINS: Final[list[tuple[Any, int, str]]] = [
    ({"token": "wrong"}, 401, "unauthorized"),
    ({"token": ""}, 401, "unauthorized"),
    ({"token": ADMIN.sha256}, 401, "unauthorized"),
    ({"token": "\ud83d\ude00"}, 401, "unauthorized"),
    ({"token": 1}, 400, "invalid_member"),
    ({}, 400, "missing_member"),
    ({"token": "x", "name": "y"}, 400, "unknown_field"),
]


@pytest.mark.parametrize(("asked", "code", "name"), BAD_LOGINS)
async def test_a_login_without_a_token_of_ours_is_refused(asked: Any, code: int, name: str) -> None:
    async with guarded() as s:
        data = encode_json({"token": "😀"}) if asked == {"token": "\ud83d\ude00"} else None
        answer = await post(s, "/v1/login", asked) if data is None else await s.client.post(
            "/v1/login", content=data, headers={"content-type": "application/json"}
        )  # fmt: skip

        assert (answer.status_code, json_of(answer)["error"]["code"]) == (code, name)
        assert "set-cookie" not in answer.headers


@pytest.mark.requirement("gateway:limits:failed-logins")
async def test_an_address_that_fails_too_often_waits_and_good_logins_cost_nothing() -> None:
    settings = HttpSettings(failed_logins_burst=3, failed_login_pause_s=10)
    async with guarded(http=settings) as s:
        for _ in range(5):
            assert (await log_in(s)).status_code == 200
        for _ in range(3):
            assert (await log_in(s, "wrong")).status_code == 401

        refused = await log_in(s)
        s.clock.s += 10
        again = await log_in(s)

        assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")
        assert json_of(refused)["error"]["code"] == "too_many_failed_logins"
        assert again.status_code == 200
        # Whoever has a token is not held up by those who guess.
        assert await status(s, AS_ADMIN) == 200


# tickets ----------------------------------------------------------------------------------
async def ticket_for(s: Surface, conversation_id: str, **headers: str) -> str:
    answer = await post(s, f"/v1/conversations/{conversation_id}/tickets", **headers)
    assert answer.status_code == 201, answer.text
    return str(json_of(answer)["ticket"])


@pytest.mark.requirement("auth:tickets:opens")
async def test_a_ticket_opens_streams_of_one_conversation_for_a_minute() -> None:
    clock = FakeClock()
    async with guarded(clock=clock) as s, peers(s.app) as connect:
        conversation_id, other = await s.bare_conversation(), await s.bare_conversation("conv_b")
        await s.log(conversation_id, *a_turn("a"), delta("private", is_private=True))
        ticket = await ticket_for(s, conversation_id, **AS_ADMIN)
        path = f"/v1/conversations/{conversation_id}/events"

        first = await connect(f"{path}?ticket={ticket}&until=idle")
        second = await connect(f"{path}?ticket={ticket}&view=public&until=idle")
        for peer in (first, second):
            await peer.until_ended()
        lasting = await connect(f"{path}?ticket={ticket}")
        await lasting.until_count(6)

        # Its holder's view, and less where that is asked for.
        assert "private" in first.text
        assert "private" not in second.text
        assert await status(s, {}, f"/v1/conversations/{other}/events?ticket={ticket}") == 404
        for refused in (
            f"/v1/conversations/{conversation_id}?ticket={ticket}",
            f"/v1/conversations/{conversation_id}/messages?ticket={ticket}",
            f"/v1/events?conversations={conversation_id}&ticket={ticket}",
            "/v1/conversations",
        ):
            assert await status(s, {}, refused) in {400, 401}
            assert await status(s, with_token(ticket), refused.partition("?")[0]) in {400, 401}
        clock.ms += 60_000
        assert await status(s, {}, f"{path}?ticket={ticket}&until=idle") == 401
        assert await status(s, AS_ADMIN, f"{path}?ticket={ticket}&until=idle") == 401
        # Checked when it connects, and only then.
        await s.log(conversation_id, delta("still here"))
        await lasting.until(lambda: "still here" in lasting.text)


@pytest.mark.requirement("auth:tickets:holder")
async def test_a_ticket_is_worth_no_more_than_its_holder() -> None:
    async with guarded() as s, peers(s.app) as connect:
        secret = await make(s, "t", "read")
        conversation_id = await s.bare_conversation()
        path = f"/v1/conversations/{conversation_id}/events"
        ticket = await ticket_for(s, conversation_id, **with_token(secret))
        stream = await connect(f"{path}?ticket={ticket}")
        await stream.until_count(1)
        assert await status(s, {}, f"{path}?ticket={ticket}&view=owner") == 403

        await s.client.delete("/v1/tokens/t", headers=AS_ADMIN)

        await over(stream)
        assert await status(s, {}, f"{path}?ticket={ticket}") == 401
        foreign = await post(s, f"/v1/conversations/{conversation_id}/tickets", **AS_BOSS)
        assert foreign.status_code == 404


async def test_tickets_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring_module, "TICKETS_PER_CALLER_MAX", 2)
    monkeypatch.setattr(keyring_module, "TICKETS_MAX", 3)
    async with guarded() as s:
        conversation_id = await s.bare_conversation()
        path = f"/v1/conversations/{conversation_id}"
        tickets = [await ticket_for(s, conversation_id, **AS_ADMIN) for _ in range(3)]
        others = [with_token(await make(s, name)) for name in ("a", "b")]
        await ticket_for(s, conversation_id, **others[0])

        refused = await post(s, f"{path}/tickets", **others[1])

        assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
        assert json_of(refused)["error"]["code"] == "too_many_tickets"
        good = [
            await status(s, {"accept": "application/json"}, f"{path}/events?ticket={ticket}")
            for ticket in tickets
        ]
        assert good == [401, 200, 200]


# shares -----------------------------------------------------------------------------------
async def share(s: Surface, conversation_id: str, **members: Any) -> Any:
    answer = await post(s, f"/v1/conversations/{conversation_id}/shares", members, **AS_ADMIN)
    assert answer.status_code == 201, answer.text
    return json_of(answer)


@pytest.mark.requirement("auth:shares:view", "auth:shares:reach")
async def test_a_share_link_shows_the_public_view_of_one_conversation() -> None:
    async with guarded() as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation(
            title="T", tags=["secret tag"], metadata={"k": "secret note"}
        )
        other = await s.world.conversation()
        await s.world.ask(conversation_id, "Hi")
        await s.log(conversation_id, delta("private", is_private=True))
        made = await share(s, conversation_id)
        reader = with_token(made["secret"])
        path = f"/v1/conversations/{conversation_id}"

        shown = json_of(await s.client.get(path, headers=reader))
        listed = await s.client.get(f"{path}/messages", headers=reader)
        stream = await connect(f"{path}/events?until=idle", **reader)
        await over(stream)
        ticket = await ticket_for(s, conversation_id, **reader)

        assert made["fragment"] == f"share={conversation_id}:{made['secret']}"
        assert secret_kind(made["secret"]) == "share"
        assert (shown["id"], shown["title"], shown["tags"]) == (conversation_id, "T", [])
        assert "secret" not in str(shown)
        assert len(json_of(listed)["items"]) == 2
        assert "private" not in stream.text
        assert await status(s, {}, f"{path}/events?ticket={ticket}&until=idle") == 200
        assert await status(s, reader, f"{path}/messages?view=owner") == 403
        assert await status(s, reader, f"/v1/conversations/{other}") == 404
        for refused in ("/v1/conversations", f"{path}/turns", f"{path}/shares", "/v1/capabilities"):
            assert await status(s, reader, refused) == 403
        assert (await post(s, f"{path}/turns", {"content": "x"}, **reader)).status_code == 403
        assert (await s.client.delete(path, headers=reader)).status_code == 403


@pytest.mark.requirement("auth:shares:end")
async def test_a_share_link_is_taken_back_and_whoever_reads_through_it_is_shown_out() -> None:
    clock = FakeClock()
    async with guarded(clock=clock) as s, peers(s.app) as connect:
        conversation_id = await s.bare_conversation()
        path = f"/v1/conversations/{conversation_id}"
        made, kept = await share(s, conversation_id), await share(s, conversation_id)
        stream = await connect(f"{path}/events", **with_token(made["secret"]))
        other = await connect(f"{path}/events", **with_token(kept["secret"]))
        await stream.until_count(1)
        await other.until_count(1)
        listed = await s.client.get(f"{path}/shares", headers=AS_ADMIN)
        assert [item["id"] for item in json_of(listed)["items"]] == [made["id"], kept["id"]]
        assert made["secret"] not in listed.text

        gone = await s.client.delete(f"{path}/shares/{made['id']}", headers=AS_ADMIN)
        again = await s.client.delete(f"{path}/shares/{made['id']}", headers=AS_ADMIN)
        await over(stream)

        assert gone.status_code == 204
        assert json_of(again)["error"]["code"] == "share_not_found"
        assert await status(s, with_token(made["secret"]), path) == 401
        assert not other.ended.is_set()
        clock.ms += 30 * 86_400_000
        assert await status(s, with_token(kept["secret"]), path) == 401
        for_ever = await share(s, conversation_id, expires_at=None)
        assert "expires_at" not in for_ever
        assert await status(s, with_token(for_ever["secret"]), path) == 200
        await s.client.delete(path, headers=AS_ADMIN)
        assert await status(s, with_token(for_ever["secret"]), path) == 401


async def test_a_share_link_is_public_on_a_gateway_that_is_open_too() -> None:
    async with surface() as s:
        conversation_id = await s.bare_conversation()
        made = json_of(await post(s, f"/v1/conversations/{conversation_id}/shares"))
        reader = with_token(made["secret"])

        assert await status(s, reader, f"/v1/conversations/{conversation_id}") == 200
        assert await status(s, reader) == 403
        assert await status(s, with_token(made["secret"] + "x")) == 401


async def test_a_conversation_has_so_many_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring_module, "SHARES_MAX", 1)
    async with guarded() as s:
        conversation_id = await s.bare_conversation()
        await share(s, conversation_id)
        path = f"/v1/conversations/{conversation_id}/shares"

        refused = await post(s, path, **AS_ADMIN)
        bad = await post(s, path, {"expires_at": 1}, **AS_ADMIN)
        foreign = await post(s, path, **AS_BOSS)

        assert (refused.status_code, json_of(refused)["error"]["code"]) == (409, "too_many_shares")
        assert json_of(bad)["error"]["pointer"] == "/expires_at"
        assert foreign.status_code == 404
        assert line(type="x")
