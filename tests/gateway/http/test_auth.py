"""Who is let in: tokens and scopes, hosts and origins, and the file that tokens are kept in."""

from __future__ import annotations

from pathlib import Path

import pytest

from blockwire.errors import LocalProtocolError, RemoteProtocolError
from blockwire.gateway.access.auth import (
    SCOPES,
    Auth,
    Caller,
    Presented,
    Token,
    hash_token,
    is_loopback,
    load_token_file,
)
from blockwire.gateway.access.sites import Sites
from blockwire.gateway.http.server import serve
from tests.gateway.http.surface import URL, body, json_of, surface

pytestmark = pytest.mark.anyio

READ = Token("read", hash_token("r-token"), frozenset({"read"}))
WRITE = Token("write", hash_token("w-token"), frozenset({"read", "write"}))
OWNER = Token("owner", hash_token("o-token"), frozenset({"read", "write", "reasoning"}))
ACME = Token("acme", hash_token("a-token"), frozenset({"read", "write"}), "acme")
TOKENS = (READ, WRITE, OWNER, ACME)


# hosts and origins ------------------------------------------------------------------------
SITES: list[tuple[str | None, str | None, str | None]] = [
    # host,                  origin,                         refused with
    ("127.0.0.1:7890", None, None),
    ("localhost:7890", None, None),
    ("LOCALHOST", None, None),
    ("[::1]:7890", None, None),
    ("127.0.0.1:7890", "http://127.0.0.1:7890", None),
    ("localhost:7890", "https://localhost:7890", None),
    ("evil.example", None, "host_refused"),
    ("evil.example:7890", None, "host_refused"),
    ("localhost.evil.example", None, "host_refused"),
    ("127.0.0.1.evil.example", None, "host_refused"),
    ("localhost:7890@evil.example", None, "host_refused"),
    ("localhost:x", None, "host_refused"),
    ("", None, "host_refused"),
    ("127.0.0.1:7890", "http://evil.example", "origin_refused"),
    ("127.0.0.1:7890", "http://127.0.0.1:3000", "origin_refused"),
    ("127.0.0.1:7890", "http://localhost:7890", "origin_refused"),
    ("127.0.0.1:7890", "null", "origin_refused"),
    ("127.0.0.1:7890", "", "origin_refused"),
    ("127.0.0.1:7890", "http://127.0.0.1:7890.evil.example", "origin_refused"),
]


@pytest.mark.parametrize(("host", "origin", "code"), SITES)
@pytest.mark.parametrize("path", ["/v1/conversations", "/healthz", "/nowhere"])
@pytest.mark.requirement("auth:site:host", "auth:site:origin", "auth:cors:closed")
async def test_pages_of_other_sites_and_names_that_point_here_are_refused(
    host: str, origin: str | None, code: str | None, path: str
) -> None:
    async with surface() as s:
        headers = {"host": host} | ({} if origin is None else {"origin": origin})

        response = await s.client.get(path, headers=headers)

        if code is None:
            assert response.status_code != 403
        else:
            assert response.status_code == 403
            assert json_of(response)["error"]["code"] == code
        assert not [name for name in response.headers if name.startswith("access-control")]


def test_two_hosts_are_no_host() -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        Sites().check(["localhost", "localhost"], [], is_open=True)

    assert caught.value.code == "host_refused"


def test_configured_hosts_and_origins_are_let_in() -> None:
    sites = Sites(allowed_hosts=["Dev.Test"], allowed_origins=["https://app.test/"])

    sites.check(["dev.test:80"], ["https://app.test"], is_open=True)


def test_on_other_binds_the_host_is_whatever_people_call_it_unless_names_are_configured() -> None:
    sites = Sites(host="0.0.0.0")
    strict = Sites(host="0.0.0.0", allowed_hosts=["gateway.test"])

    for either in (sites, strict):
        either.check(["gateway.test"], ["https://gateway.test"], is_open=False)
        with pytest.raises(RemoteProtocolError) as caught:
            either.check(["gateway.test"], ["https://evil.test"], is_open=False)
        assert caught.value.code == "origin_refused"
    sites.check(["other.test"], [], is_open=False)
    with pytest.raises(RemoteProtocolError) as caught:
        strict.check(["other.test"], [], is_open=False)

    assert caught.value.code == "host_refused"


# binds ------------------------------------------------------------------------------------
@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost"])
@pytest.mark.requirement("auth:loopback:open")
async def test_loopback_needs_no_token(host: str) -> None:
    assert is_loopback(host)
    async with surface(auth=Auth(host=host)) as s:
        keyring = s.world.service.keyring
        s.app.surface.auth.check_bind(keyring)

        caller = await s.app.surface.auth.identify(Presented(), keyring)

    assert caller.scopes == SCOPES


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "gateway.test", ""])
@pytest.mark.requirement("auth:bind:tokens")
async def test_any_other_bind_refuses_to_start_without_tokens(host: str) -> None:
    async with surface(auth=Auth(host=host), is_served=True) as s:
        with pytest.raises(LocalProtocolError) as caught:
            await serve(s.app, host, 0, lambda _host, _port: None)

        keyring = s.world.service.keyring
        with pytest.raises(RemoteProtocolError) as unauthorized:
            await s.app.surface.auth.identify(Presented(), keyring)
        Auth(TOKENS, host=host).check_bind(keyring)
        await keyring.create_token("first", ["read"], tenant=None, expires_at=None)
        s.app.surface.auth.check_bind(keyring)

    assert caught.value.code == "tokens_required"
    assert unauthorized.value.code == "unauthorized"


# tokens -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "authorization",
    [
        None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic r-token", "r-token", "Bearer r-token x",
        "Bearer r-token,", "Bearer " + READ.sha256, "Bearer r-token\x0b",
    ],
)  # fmt: skip
@pytest.mark.requirement("auth:tokens:required")
async def test_once_there_is_a_token_nothing_is_said_without_one(authorization: str | None) -> None:
    async with surface(auth=Auth(TOKENS)) as s:
        headers = {} if authorization is None else {"authorization": authorization}

        for path in ("/v1/conversations", "/v1/capabilities", "/v1/events?conversations=a"):
            response = await s.client.get(path, headers=headers)

            assert response.status_code == 401
            assert json_of(response)["error"]["code"] == "unauthorized"
            assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.requirement("auth:open-routes:harmless")
async def test_health_and_documents_say_nothing_of_anybody_and_need_no_token() -> None:
    async with surface(auth=Auth(TOKENS)) as s:
        for path in (
            "/healthz",
            "/readyz",
            "/openapi.json",
            "/schemas/conversation_turn.json",
            "/docs",
            "/",
            "/c/conv_1",
        ):
            assert (await s.client.get(path)).status_code == 200


@pytest.mark.parametrize(
    ("token", "method", "path", "status"),
    [
        ("r-token", "GET", "/v1/conversations", 200),
        ("r-token", "POST", "/v1/conversations", 403),
        ("w-token", "POST", "/v1/conversations", 201),
        ("r-token", "DELETE", "/v1/conversations/x", 403),
        ("w-token", "DELETE", "/v1/conversations/x", 404),
        ("r-token", "POST", "/v1/conversations/x/turns", 403),
        ("r-token", "POST", "/v1/conversations/x/turns/y/events", 403),
        ("w-token", "GET", "/v1/conversations/x/turns/y?view=owner", 403),
        ("o-token", "GET", "/v1/conversations/x/turns/y?view=owner", 404),
    ],
)
@pytest.mark.requirement("auth:scopes:exact")
async def test_a_token_allows_what_its_scopes_say(
    token: str, method: str, path: str, status: int
) -> None:
    async with surface(auth=Auth(TOKENS)) as s:
        headers = {"authorization": f"bearer {token}"}

        response = await s.client.request(method, path, headers=headers)

        assert response.status_code == status


async def test_two_authorizations_are_none() -> None:
    async with surface(auth=Auth(TOKENS)) as s:
        twice = [("authorization", "Bearer r-token"), ("authorization", "Bearer r-token")]

        response = await s.client.get("/v1/conversations", headers=twice)

    assert response.status_code == 401


async def test_a_tenant_sees_its_own_conversations_and_a_foreign_id_is_not_found() -> None:
    async with surface(auth=Auth(TOKENS)) as s:
        acme = {"authorization": "Bearer a-token"}
        own = json_of(await s.client.post("/v1/conversations", headers=acme))["id"]
        foreign = await s.world.conversation()

        listed = json_of(await s.client.get("/v1/conversations", headers=acme))
        for path in ("", "/events", "/messages", "/turns", "/turns/x"):
            response = await s.client.get(f"/v1/conversations/{foreign}{path}", headers=acme)
            assert response.status_code == 404
            assert json_of(response)["error"]["code"] == "conversation_not_found"
        mixed = await s.client.get(f"/v1/events?conversations={own},{foreign}", headers=acme)

        assert [item["id"] for item in listed["items"]] == [own]
        assert mixed.status_code == 404


@pytest.mark.parametrize(
    ("scopes", "asked", "view"),
    [
        (SCOPES, None, "owner"),
        (SCOPES, "owner", "owner"),
        (SCOPES, "public", "public"),
        ({"read"}, None, "public"),
        ({"read"}, "public", "public"),
    ],
)
@pytest.mark.requirement("auth:view:scope")
def test_the_view_is_the_owners_iff_the_scope_is_there_and_less_may_be_asked_for(
    scopes: set[str], asked: str | None, view: str
) -> None:
    assert Caller("x", frozenset(scopes)).view(asked) == view


@pytest.mark.requirement("auth:tokens:hidden")
async def test_a_token_is_in_no_answer() -> None:
    async with surface(auth=Auth(TOKENS)) as s:
        for token in ("wrong-token", "r-token"):
            response = await s.client.post(
                "/v1/conversations", **{**body({}), "headers": {"authorization": f"Bearer {token}"}}
            )

            assert token not in response.text + str(response.headers)
    assert URL


# the file ---------------------------------------------------------------------------------
def write(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def entry(**members: str) -> str:
    given = {
        "name": '"ci"',
        "sha256": f'"{READ.sha256}"',
        "scopes": '["read"]',
        **members,
    }
    return "[[tokens]]\n" + "".join(f"{k} = {v}\n" for k, v in given.items() if v)


@pytest.mark.requirement("auth:tokens:hashed")
def test_a_token_file_holds_hashes_scopes_and_tenants(tmp_path: Path) -> None:
    text = entry() + entry(name='"b"', scopes='["read", "write"]', tenant='"acme"')

    read = load_token_file(write(tmp_path / "tokens.toml", text))

    assert read.tokens == (
        Token("ci", READ.sha256, frozenset({"read"})),
        Token("b", READ.sha256, frozenset({"read", "write"}), "acme"),
    )
    assert read.warnings == ()


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_file_that_others_can_read_is_taken_with_a_warning(tmp_path: Path, mode: int) -> None:
    read = load_token_file(write(tmp_path / "tokens.toml", entry(), mode))

    assert "chmod 600" in read.warnings[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "[[tokens]]"),
        ("tokens = []", "[[tokens]]"),
        ("tokens = 1", "[[tokens]]"),
        ("more = 1\n" + entry(), "[[tokens]]"),
        ("tokens = [1]", "token 1"),
        ("not toml", "is not TOML"),
        (entry(name=""), "needs a name"),
        (entry(name='" "'), "needs a name"),
        (entry(name="1"), "needs a name"),
        (entry(sha256='"abc"'), "64 lower-case hex"),
        (entry(sha256=f'"{READ.sha256.upper()}"'), "64 lower-case hex"),
        (entry(scopes="[]"), "scopes are some of"),
        (entry(scopes='"read"'), "scopes are some of"),
        (entry(scopes='["root"]'), "scopes are some of"),
        (entry(scopes="[1]"), "scopes are some of"),
        (entry(tenant='""'), "tenant is a name"),
        (entry(tenant="1"), "tenant is a name"),
        (entry(token='"secret"'), "no more"),
        (entry() + entry(), "two tokens alike"),
    ],
)
@pytest.mark.requirement("auth:file:refused")
def test_a_bad_file_is_refused_with_a_sentence_on_what_is_wrong(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        load_token_file(write(tmp_path / "tokens.toml", text))

    assert caught.value.code == "invalid_token_file"
    assert says in caught.value.detail
    assert "secret" not in caught.value.detail


def test_a_file_that_is_not_there_or_not_text_or_too_large_is_refused(tmp_path: Path) -> None:
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * 1_048_577)

    for path in (tmp_path / "none.toml", binary, large):
        with pytest.raises(LocalProtocolError) as caught:
            load_token_file(path)
        assert caught.value.code == "invalid_token_file"
