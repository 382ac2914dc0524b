"""Pages of other origins, proxies, and the headers of every answer."""

from __future__ import annotations

from typing import Final

import httpx
import pytest

from blockwire.errors import LocalProtocolError
from blockwire.gateway.access.auth import SCOPES, Auth, Token, hash_token
from blockwire.gateway.access.callers import OPEN_DOOR
from blockwire.gateway.access.sites import Sites
from blockwire.gateway.http.answer import BASE_HEADERS
from tests.gateway.http.callbook import CALLBOOK, arguments_of, filled, target_of
from tests.gateway.http.surface import URL, Surface, json_of, peers, surface

pytestmark = pytest.mark.anyio

FRIEND: Final = "https://friend.test"
STRANGER: Final = "https://stranger.test"
TOKEN: Final = Token("t", hash_token("secret"), SCOPES)
BEARER: Final = {"authorization": "Bearer secret"}
PREFLIGHT: Final = {"access-control-request-method": "POST"}


def cors_of(response: httpx.Response) -> dict[str, str]:
    return {
        name.removeprefix("access-control-"): value
        for name, value in response.headers.items()
        if name.startswith("access-control-")
    }


# cors -------------------------------------------------------------------------------------
@pytest.mark.requirement("auth:cors:closed")
@pytest.mark.parametrize("name", sorted(CALLBOOK))
async def test_without_configuration_no_route_says_a_word_to_pages_of_others(name: str) -> None:
    async with surface() as s:
        target = target_of(name, await filled(s))
        for headers in ({}, {"origin": FRIEND}, {"origin": URL}):
            arguments = arguments_of(target)
            arguments["headers"] |= headers
            for method in (target.method, "OPTIONS"):
                response = await s.client.request(**{**arguments, "method": method})

                assert cors_of(response) == {}
                if headers.get("origin") == FRIEND:
                    assert response.status_code == 403


@pytest.mark.requirement("auth:cors:configured")
async def test_pages_of_a_configured_origin_may_ask_and_read() -> None:
    auth = Auth([TOKEN], allowed_origins=[FRIEND + "/"])
    async with surface(auth=auth) as s, peers(s.app) as connect:
        path = "/v1/conversations"
        asked = await s.client.options(path, headers={"origin": FRIEND, **PREFLIGHT})
        made = await s.client.post(path, headers={"origin": FRIEND, **BEARER})
        refused = await s.client.get(path, headers={"origin": FRIEND})
        unknown = await s.client.get("/nowhere", headers={"origin": FRIEND})
        stream = await connect(
            f"{path}/{json_of(made)['id']}/events?until=idle", origin=FRIEND, **BEARER
        )
        await stream.until_ended()
        stranger = await s.client.options(path, headers={"origin": STRANGER, **PREFLIGHT})
        own = await s.client.get(path, headers={"origin": URL, **BEARER})
        program = await s.client.get(path, headers=BEARER)

        assert asked.status_code == 204
        assert cors_of(asked)["allow-origin"] == FRIEND
        assert {"PATCH", "DELETE"} <= set(cors_of(asked)["allow-methods"].split(", "))
        assert {"authorization", "idempotency-key", "last-event-id"} <= set(
            cors_of(asked)["allow-headers"].split(", ")
        )
        assert cors_of(asked)["max-age"] == "600"
        for response in (made, refused, unknown):
            assert cors_of(response)["allow-origin"] == FRIEND
            assert "etag" in cors_of(response)["expose-headers"]
        assert stream.headers["access-control-allow-origin"] == FRIEND
        for response in (asked, made, refused, stranger, own, program):
            # A cookie of ours is for our own pages, whatever is configured.
            assert "allow-credentials" not in cors_of(response)
            assert response.headers["vary"] == "origin"
        assert (stranger.status_code, cors_of(stranger)) == (403, {})
        assert cors_of(own) == cors_of(program) == {}


@pytest.mark.requirement("auth:cors:configured")
@pytest.mark.parametrize("name", sorted(CALLBOOK))
async def test_a_preflight_is_answered_whatever_the_query_of_what_it_asks_for(name: str) -> None:
    async with surface(auth=Auth([TOKEN], allowed_origins=[FRIEND])) as s:
        path = target_of(name, {}).url.partition("?")[0]
        for query in ("", "?snapshot=1", "?after=7&limit=1&no_such=1&no_such=2"):
            asked = await s.client.options(path + query, headers={"origin": FRIEND, **PREFLIGHT})

            assert asked.status_code == 204
            assert cors_of(asked)["allow-origin"] == FRIEND


@pytest.mark.requirement("auth:cors:any")
async def test_any_page_may_call_with_a_token_and_none_where_nobody_needs_one() -> None:
    async with surface(auth=Auth([TOKEN], allowed_origins=["*"])) as s:
        answer = await s.client.get("/v1/conversations", headers={"origin": STRANGER, **BEARER})

        assert answer.status_code == 200
        assert cors_of(answer)["allow-origin"] == STRANGER
        assert "allow-credentials" not in cors_of(answer)
    async with surface(auth=Auth(allowed_origins=["*"])) as s:
        answer = await s.client.get("/v1/conversations", headers={"origin": STRANGER})

        assert json_of(answer)["error"]["code"] == "origin_refused"


# headers ----------------------------------------------------------------------------------
@pytest.mark.requirement("auth:headers:every")
@pytest.mark.parametrize("name", sorted(CALLBOOK))
async def test_every_answer_tells_a_browser_to_be_careful(name: str) -> None:
    async with surface() as s, peers(s.app) as connect:
        target = target_of(name, await filled(s))
        answers = [await s.client.request(target.method, f"{target.url}&no_such=1")]
        if CALLBOOK[name].is_stream:
            peer = await connect(target.url)
            await peer.until_ended()
            sent = [peer.headers]
        else:
            answers.append(await s.client.request(**arguments_of(target)))
            sent = []

        for headers in [*(dict(answer.headers) for answer in answers), *sent]:
            for header, value in BASE_HEADERS:
                assert headers[header.decode()] == value.decode()
            assert "default-src 'none'" in headers["content-security-policy"]
            assert headers["cache-control"]
            assert "server" not in headers


async def test_a_header_is_given_once() -> None:
    async with surface() as s:
        for path in ("/", "/v1/conversations", "/nowhere", "/healthz"):
            names = [name for name, _value in (await s.client.get(path)).headers.multi_items()]

            assert len(names) == len(set(names))


# proxies ----------------------------------------------------------------------------------
PROXIES: Final = Sites(trusted_proxies=["10.0.0.0/8", "::1", "127.0.0.1"])
ADDRESSES: Final[list[tuple[str, list[str], str]]] = [
    # peer,        x-forwarded-for,                  who asks
    ("127.0.0.1", [], "127.0.0.1"),
    ("127.0.0.1", ["198.51.100.7"], "198.51.100.7"),
    ("127.0.0.1", ["203.0.113.9, 198.51.100.7"], "198.51.100.7"),
    ("127.0.0.1", ["203.0.113.9, 198.51.100.7, 10.1.2.3"], "198.51.100.7"),
    ("127.0.0.1", ["203.0.113.9", "198.51.100.7"], "198.51.100.7"),
    ("127.0.0.1", ["10.1.2.3, 10.1.2.4"], "10.1.2.3"),
    ("::1", ["[2001:db8::7]"], "2001:db8::7"),
    ("127.0.0.1", ["nonsense"], "127.0.0.1"),
    ("127.0.0.1", ["198.51.100.7, nonsense"], "127.0.0.1"),
    ("127.0.0.1", [""], "127.0.0.1"),
    # Whoever is not trusted may say what he likes.
    ("192.0.2.1", ["198.51.100.7"], "192.0.2.1"),
    ("127.0.0.1", ["127.0.0.1, 192.0.2.1"], "192.0.2.1"),
    ("", ["198.51.100.7"], ""),
]


@pytest.mark.requirement("auth:proxies:trusted")
@pytest.mark.parametrize(("peer", "forwarded", "address"), ADDRESSES)
def test_a_proxy_is_believed_if_it_is_trusted(
    peer: str, forwarded: list[str], address: str
) -> None:
    assert PROXIES.client_address(peer, forwarded) == address
    assert Sites().client_address(peer, forwarded) == peer


def test_a_proxy_that_is_no_address_is_refused() -> None:
    with pytest.raises(LocalProtocolError) as caught:
        Auth(trusted_proxies=["proxy.test"])

    assert caught.value.code == "invalid_config"
    assert "10.0.0.0/8" in caught.value.detail


async def fail_to_log_in(s: Surface, peer: str, forwarded: str) -> int:
    transport = httpx.ASGITransport(s.app, client=(peer, 1))
    async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
        answer = await client.post(
            "/v1/login",
            content=b'{"token":"wrong"}',
            headers={"content-type": "application/json", "x-forwarded-for": forwarded},
        )
    return answer.status_code


@pytest.mark.requirement("gateway:limits:failed-logins")
async def test_failed_logins_count_for_the_address_behind_the_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("blockwire.gateway.access.limits.BUCKETS_MAX", 3)
    auth = Auth([TOKEN], trusted_proxies=["127.0.0.1"])
    async with surface(auth=auth) as s:
        for _ in range(10):
            assert await fail_to_log_in(s, "127.0.0.1", "198.51.100.7") == 401
        assert await fail_to_log_in(s, "127.0.0.1", "198.51.100.7") == 429
        assert await fail_to_log_in(s, "127.0.0.1", "198.51.100.8") == 401
        # Of IPv6, one household is one network.
        for index in range(10):
            assert await fail_to_log_in(s, "127.0.0.1", f"2001:db8:1:2::{index}") == 401
        assert await fail_to_log_in(s, "127.0.0.1", "2001:db8:1:2:ffff::1") == 429
        # Whoever comes past the proxy is somebody else, and cannot say that he is not.
        for index in range(10):
            assert await fail_to_log_in(s, "192.0.2.9", f"198.51.100.{index}") == 401
        assert await fail_to_log_in(s, "192.0.2.9", "198.51.100.99") == 429
        assert s.app.surface.limits.key_count == 3


def test_take_over_replaces_what_is_configured_and_tells_whose_token_is_gone() -> None:
    other = Token("u", hash_token("other"), SCOPES)
    auth, new = Auth([TOKEN]), Auth([other], allowed_origins=[FRIEND])

    assert auth.take_over(new) == [TOKEN.sha256]
    assert auth.take_over(new) == []
    less = other._replace(scopes=frozenset({"read"}))
    assert auth.take_over(Auth([less])) == [other.sha256]
    assert Auth().take_over(new) == [OPEN_DOOR]
    auth.take_over(new)
    assert auth.sites is new.sites
