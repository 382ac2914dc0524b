"""Routes: what each answers, and how each refuses."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from blockwire.errors import (
    BusError,
    EngineError,
    LocalProtocolError,
    RemoteProtocolError,
    StoreError,
)
from blockwire.gateway.http.http_errors import error_body, internal_error, retry_after_s, status_of
from blockwire.gateway.settings import EngineProfile
from blockwire.gateway.turns.accounts import Prices
from tests.gateway.core.world import ScriptEngine, prose, stuck_after
from tests.gateway.http.surface import body, json_of, peers, surface

pytestmark = pytest.mark.anyio

CONVERSATIONS = "/v1/conversations"


def code_of(response: Any) -> str:
    return str(json_of(response)["error"]["code"])


# conversations ----------------------------------------------------------------------------
async def test_a_conversation_lives_from_201_to_204() -> None:
    async with surface() as s:
        created = await s.client.post(CONVERSATIONS, **body({"title": "One", "tags": ["a"]}))
        url = created.headers["location"]
        read = await s.client.get(url)
        changed = await s.client.patch(url, **body({"title": None, "tags": ["b"]}))
        deleted = await s.client.delete(url)
        gone = await s.client.get(url)

        assert created.status_code == 201
        assert json_of(read) == json_of(created)
        assert json_of(changed)["tags"] == ["b"]
        assert "title" not in json_of(changed)
        assert (deleted.status_code, deleted.content) == (204, b"")
        assert (gone.status_code, code_of(gone)) == (404, "conversation_not_found")


async def test_a_conversation_may_be_created_without_a_body() -> None:
    async with surface() as s:
        assert (await s.client.post(CONVERSATIONS)).status_code == 201


@pytest.mark.requirement("gateway:pages:join")
async def test_lists_come_in_pages_newest_first() -> None:
    async with surface() as s:
        ids = [await s.world.conversation() for _ in range(5)]

        first = json_of(await s.client.get(CONVERSATIONS + "?limit=3"))
        cursor = first["next_cursor"]
        rest = json_of(await s.client.get(CONVERSATIONS, params={"limit": "3", "cursor": cursor}))

        assert [item["id"] for item in first["items"] + rest["items"]] == ids[::-1]
        assert rest["next_cursor"] is None


@pytest.mark.parametrize("tag", ["{}", "W/{}", '"x", {}', "*"])
@pytest.mark.requirement("gateway:answers:etag")
async def test_what_the_peer_has_already_is_not_sent_again(tag: str) -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()
        turn = await s.world.ask(conversation_id)
        for url in (
            CONVERSATIONS,
            f"{CONVERSATIONS}/{conversation_id}",
            f"{CONVERSATIONS}/{conversation_id}/turns",
            f"{CONVERSATIONS}/{conversation_id}/turns/{turn['id']}",
            f"{CONVERSATIONS}/{conversation_id}/messages",
            "/openapi.json",
        ):
            etag = (await s.client.get(url)).headers["etag"]

            again = await s.client.get(url, headers={"if-none-match": tag.format(etag)})
            other = await s.client.get(url, headers={"if-none-match": '"other"'})

            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["etag"] == etag
            assert other.status_code == 200


# turns ------------------------------------------------------------------------------------
async def test_a_turn_is_submitted_read_and_waited_for() -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()
        url = f"{CONVERSATIONS}/{conversation_id}/turns"

        submitted = await s.client.post(url, **body({"content": "Hi"}))
        waited = await s.client.get(submitted.headers["location"], params={"wait": "5"})
        listed = json_of(await s.client.get(url))

        assert submitted.status_code == 202
        assert submitted.headers["blockwire-epoch"] == "1"
        assert json_of(waited)["status"] == "completed"
        assert json_of(waited)["message"]["content"][0]["markdown"] == "Hello!"
        assert [turn["id"] for turn in listed["items"]] == [json_of(submitted)["id"]]


async def test_the_same_key_and_body_attach_and_another_body_is_refused() -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()
        url = f"{CONVERSATIONS}/{conversation_id}/turns"
        key = {"idempotency-key": "k1", "content-type": "application/json"}

        first = await s.client.post(url, content=b'{"content":"Hi"}', headers=key)
        again = await s.client.post(url, content=b' {"content" : "\\u0048i"}', headers=key)
        other = await s.client.post(url, content=b'{"content":"Ho"}', headers=key)

        assert (first.status_code, again.status_code) == (202, 200)
        assert json_of(first)["id"] == json_of(again)["id"]
        assert again.headers["blockwire-epoch"] == first.headers["blockwire-epoch"]
        assert (other.status_code, code_of(other)) == (409, "idempotency_key_reused")


async def test_a_second_submit_while_a_turn_runs_waits_until_it_is_cancelled() -> None:
    engine = ScriptEngine(stuck_after(lambda turn_id: prose(turn_id, "b1", "x", is_open=True)))
    async with surface(engines={"e": engine}) as s:
        conversation_id = await s.world.conversation()
        url = f"{CONVERSATIONS}/{conversation_id}/turns"
        turn_url = (await s.client.post(url, **body({"content": "1"}))).headers["location"]

        waiting = await s.client.post(url, **body({"content": "2"}))
        cancelled = await s.client.post(turn_url + "/cancel")
        ended = json_of(await s.client.get(turn_url + "?wait=5"))
        late = await s.client.post(turn_url + "/cancel", **body({}))

        shown = [json_of(waiting)[name] for name in ("status", "durable", "position")]
        assert (waiting.status_code, shown) == (202, ["queued", False, 1])
        assert cancelled.status_code == 202
        assert ended["status"] == "cancelled"
        assert (late.status_code, code_of(late)) == (409, "turn_terminal")


async def test_a_turn_that_is_not_suspended_takes_no_answer() -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()
        turn_id = await s.world.submit(conversation_id, engine="external")
        url = f"{CONVERSATIONS}/{conversation_id}/turns/{turn_id}/resume"

        response = await s.client.post(url, **body({"request_id": "r", "answer": 1}))

        assert (response.status_code, code_of(response)) == (409, "turn_not_suspended")


async def test_a_waiting_read_that_fails_says_why() -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()

        response = await s.client.get(f"{CONVERSATIONS}/{conversation_id}/turns/none?wait=1")

        assert (response.status_code, code_of(response)) == (404, "turn_not_found")


# messages ---------------------------------------------------------------------------------
async def test_messages_are_imported_and_read_by_pages_both_ways() -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()
        url = f"{CONVERSATIONS}/{conversation_id}/messages"
        for text in ("one", "two", "three"):
            message = {"role": "user", "content": [{"type": "prose", "markdown": text}]}
            assert (await s.client.post(url, **body(message))).status_code == 201  # type: ignore[arg-type]

        def texts(page: Any) -> list[str]:
            return [item["content"][0]["markdown"] for item in page["items"]]

        newest = json_of(await s.client.get(url + "?limit=2"))
        older = json_of(await s.client.get(url, params={"before": newest["next_cursor"]}))
        same = json_of(await s.client.get(url, params={"cursor": newest["next_cursor"]}))
        oldest = json_of(await s.client.get(url + "?after=0&limit=1"))
        small = json_of(await s.client.get(url + "?max_bytes=1"))

        assert texts(newest) == ["two", "three"]
        assert texts(older) == texts(same) == ["one"]
        assert texts(oldest) == ["one"]
        assert texts(small) == ["three"]


# bodies -----------------------------------------------------------------------------------
BAD_BODIES: list[tuple[bytes, str, int, str, str | None]] = [
    # body,                         content type,         status, code,            pointer
    (b"", "application/json", 400, "invalid_json", None),
    (b"{", "application/json", 400, "invalid_json", None),
    (b'{"content":1e999}', "application/json", 400, "number_out_of_range", None),
    (b'{"content":"a","content":"b"}', "application/json", 400, "duplicate_member", None),
    (b'{"content":"\xff"}', "application/json", 400, "invalid_unicode", None),
    (b'{"content":"\\ud800"}', "application/json", 400, "invalid_unicode", None),
    (b'\xef\xbb\xbf{"content":"a"}', "application/json", 400, "invalid_json", None),
    (b'{"content":' + b"[" * 64 + b"]" * 64 + b"}", "application/json", 400, "nesting_too_deep", None),
    (b'[]', "application/json", 400, "invalid_member", ""),
    (b'{"contents":"a"}', "application/json", 400, "unknown_field", "/contents"),
    (b'{"content":"a","stream":true}', "application/json", 400, "unknown_field", "/stream"),
    (b'{}', "application/json", 400, "missing_member", "/content"),
    (b'{"content":[{"type":"prose"}]}', "application/json", 400, "missing_member", "/content/0/markdown"),
    (b'{"content":[{"type":"prose","markdown":"","fooBar":1}]}', "application/json", 400, "invalid_key",
     "/content/0/fooBar"),
    (b'{"content":[{"id":"b","type":"prose","markdown":""},{"id":"b","type":"prose","markdown":""}]}',
     "application/json", 400, "block_exists", "/content/1/id"),
    (b'{"content":"a","engine":"none"}', "application/json", 400, "engine_not_found", None),
    (b'{"content":"a"}', "text/plain", 415, "unsupported_media_type", None),
    (b'{"content":"a"}', "application/x-www-form-urlencoded", 415, "unsupported_media_type", None),
    (b'{"content":"a"}', "", 415, "unsupported_media_type", None),
    (b'{"content":"a"}', "application/json; charset=latin-1", 415, "unsupported_media_type", None),
    (b'{"content":"a","if_last_turn":"turn_x"}', "application/json", 409, "last_turn_mismatch", None),
]  # fmt: skip


@pytest.mark.parametrize(("content", "media_type", "status", "code", "pointer"), BAD_BODIES)
@pytest.mark.requirement("gateway:bodies:strict", "gateway:bodies:unknown-field")
async def test_a_bad_body_is_refused_with_its_code_and_place(
    content: bytes, media_type: str, status: int, code: str, pointer: str | None
) -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()
        headers = {"content-type": media_type} if media_type else {}

        response = await s.client.post(
            f"{CONVERSATIONS}/{conversation_id}/turns", content=content, headers=headers
        )

        error = json_of(response)["error"]
        assert (response.status_code, error["code"]) == (status, code)
        if pointer is not None:
            assert error["pointer"] == pointer
        assert json_of(await s.client.get(f"{CONVERSATIONS}/{conversation_id}"))["head_seq"] == 0


async def test_a_compressed_body_is_refused() -> None:
    async with surface() as s:
        headers = {"content-type": "application/json", "content-encoding": "gzip"}

        response = await s.client.post(CONVERSATIONS, content=b"{}", headers=headers)

        assert (response.status_code, code_of(response)) == (415, "unsupported_encoding")


@pytest.mark.parametrize(
    "media_type", ["application/json; charset=utf-8", 'APPLICATION/JSON;charset="UTF-8"']
)
async def test_utf_8_may_be_named(media_type: str) -> None:
    async with surface() as s:
        response = await s.client.post(
            CONVERSATIONS, content=b"{}", headers={"content-type": media_type}
        )

        assert response.status_code == 201


@pytest.mark.requirement("gateway:bodies:keys")
async def test_keys_are_converted_where_that_is_asked_for() -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()
        content = [{"type": "tool", "tool": "t", "status": "completed", "input": {"userName": "x"}}]
        url = f"{CONVERSATIONS}/{conversation_id}/turns"

        refused = await s.client.post(url, **body({"content": content}))  # type: ignore[dict-item]
        taken = await s.client.post(url + "?keys=convert", **body({"content": content}))  # type: ignore[dict-item]
        page = json_of(await s.client.get(f"{CONVERSATIONS}/{conversation_id}/messages?after=0"))

        assert code_of(refused) == "invalid_key"
        assert taken.status_code == 202
        block = page["items"][0]["content"][0]
        assert block["input"] == {"user_name": "x"}
        assert block["input_json"] == '{"userName":"x"}'


async def test_a_body_where_none_belongs_is_refused() -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()

        response = await s.client.request(
            "DELETE", f"{CONVERSATIONS}/{conversation_id}", **body({"force": True})
        )

        assert (response.status_code, code_of(response)) == (400, "unknown_field")


# parameters, methods, versions ------------------------------------------------------------
@pytest.mark.parametrize(
    ("url", "status", "code"),
    [
        ("/v1/conversations?limit=0", 400, "invalid_parameter"),
        ("/v1/conversations?limit=201", 400, "invalid_parameter"),
        ("/v1/conversations?limit=ten", 400, "invalid_parameter"),
        ("/v1/conversations?limit=1&limit=2", 400, "invalid_parameter"),
        ("/v1/conversations?offset=1", 400, "unknown_parameter"),
        ("/v1/conversations?%FF=1", 400, "invalid_parameter"),
        ("/v1/conversations?cursor=nonsense", 400, "invalid_cursor"),
        ("/v1/conversations/", 404, "not_found"),
        ("/v1/conversations/x/y/z", 404, "not_found"),
        ("/v2/conversations", 404, "not_found"),
        ("/schemas/none.json", 404, "not_found"),
        ("/schemas/turn", 404, "not_found"),
        ("/v1/conversations/x/messages?before=1&after=1", 400, "invalid_parameter"),
        ("/v1/conversations/x/messages?before=1&cursor=1", 400, "invalid_parameter"),
    ],
)
@pytest.mark.requirement("gateway:query:strict")
@pytest.mark.requirement("gateway:routes:unknown")
async def test_a_bad_url_is_refused(url: str, status: int, code: str) -> None:
    async with surface() as s:
        response = await s.client.get(url)

        assert (response.status_code, code_of(response)) == (status, code)


@pytest.mark.parametrize("method", ["PUT", "TRACE", "POST", "BREW"])
@pytest.mark.requirement("gateway:routes:unknown")
async def test_other_methods_are_refused_with_those_that_are_there(method: str) -> None:
    async with surface() as s:
        response = await s.client.request(method, "/v1/conversations/x")

        assert (response.status_code, code_of(response)) == (405, "method_not_allowed")
        assert response.headers["allow"] == "GET, PATCH, DELETE, HEAD, OPTIONS"


async def test_options_names_the_methods_and_lets_no_other_site_in() -> None:
    async with surface() as s:
        options = await s.client.options("/v1/conversations")
        missing = await s.client.options("/v1/nowhere")

        assert (options.status_code, options.headers["allow"]) == (204, "POST, GET, HEAD, OPTIONS")
        assert "access-control-allow-origin" not in options.headers
        assert missing.status_code == 404


async def test_head_answers_like_get_without_the_body() -> None:
    async with surface() as s:
        got = await s.client.get("/v1/capabilities")
        head = await s.client.head("/v1/capabilities")

        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == got.headers["content-length"]


@pytest.mark.requirement("gateway:protocol:named", "gateway:protocol:mismatch")
async def test_every_answer_names_the_protocol_and_another_one_is_refused_naming_both() -> None:
    async with surface() as s:
        for url in ("/", "/healthz", "/nowhere", "/v1/conversations", "/v1/conversations/x"):
            assert (await s.client.get(url)).headers["blockwire-protocol"] == "1"

        same = await s.client.get(CONVERSATIONS, headers={"blockwire-protocol": "1"})
        other = await s.client.get(CONVERSATIONS, headers={"blockwire-protocol": "2"})

        assert same.status_code == 200
        assert (other.status_code, code_of(other)) == (400, "protocol_mismatch")
        assert "'2'" in json_of(other)["error"]["message"]
        assert "version 1" in json_of(other)["error"]["message"]


# about itself -----------------------------------------------------------------------------
async def test_ready_says_whether_store_and_bus_can_be_reached() -> None:
    async with surface() as s:
        ready = await s.client.get("/readyz")
        await s.world.service.bus.aclose()
        not_ready = await s.client.get("/readyz")
        alive = await s.client.get("/healthz")
        s.app.stop()
        stopping = await s.client.get("/readyz")

        assert (ready.status_code, alive.status_code) == (200, 200)
        assert not_ready.status_code == 503
        assert not_ready.headers["retry-after"]
        assert code_of(stopping) == "gateway_stopping"


async def test_capabilities_name_engines_bounds_and_the_callers_scopes() -> None:
    async with surface() as s:
        capabilities = json_of(await s.client.get("/v1/capabilities"))

        assert capabilities["protocol"] == 1
        assert capabilities["engines"] == ["script", "external"]
        assert capabilities["scopes"] == ["admin", "metrics", "read", "reasoning", "write"]
        assert capabilities["limits"]["body_bytes_max"] == 1_048_576


@pytest.mark.requirement("gateway:capabilities:engines")
async def test_capabilities_name_the_models_that_are_configured_the_default_first() -> None:
    priced = Prices(by_model={"big": {"input": 2.0}, "small": {"input": 1.0}, "*": {"input": 3.0}})
    profiles = {
        "script": EngineProfile(model="small", prices=priced),
        "other": EngineProfile(prices=priced),
        "bare": EngineProfile(prices=Prices(by_model={"*": {"input": 1.0}})),
        "one": EngineProfile(model="only"),
    }
    async with surface(profiles=profiles) as s:
        capabilities = json_of(await s.client.get("/v1/capabilities"))

        assert capabilities["engines"][0] == "script"
        assert set(capabilities["engines"]) == {"script", "external", "other", "bare", "one"}
        assert capabilities["models"] == {
            "script": ["small", "big"],
            "other": ["big", "small"],
            "one": ["only"],
        }


@pytest.mark.requirement("gateway:capabilities:replays")
async def test_capabilities_name_the_engines_that_play_recordings() -> None:
    profiles = {"script": EngineProfile(), "demo": EngineProfile(is_replay=True)}
    async with surface(profiles=profiles) as s:
        capabilities = json_of(await s.client.get("/v1/capabilities"))

        assert capabilities["replays"] == ["demo"]


async def test_the_api_for_people_loads_nothing_from_elsewhere() -> None:
    async with surface() as s:
        page = await s.client.get("/docs")

        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert "default-src 'none'" in page.headers["content-security-policy"]
        for remote in ("https://", "//cdn", "src=", "@import", "url("):
            assert remote not in page.text


# errors -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (RemoteProtocolError("never_heard_of", "detail"), 400, "detail"),
        (StoreError("conversation_not_found", "detail"), 404, "detail"),
        (StoreError("store_odd", "/var/lib/x.db is odd"), 503, None),
        (BusError("bus_closed", "detail"), 503, None),
        (EngineError("engine_failed", "token sk-123"), 502, None),
        (LocalProtocolError("our_fault", "detail"), 500, None),
        (RemoteProtocolError("block_exists", "detail"), 409, "detail"),
        (RemoteProtocolError("block_exists", "detail", pointer="/x"), 400, "detail"),
        (internal_error(), 500, "the gateway failed; its log says more"),
    ],
)
@pytest.mark.requirement("gateway:errors:no-internals", "gateway:errors:retry-after")
def test_each_refusal_has_a_status_and_tells_nothing_of_our_backends(
    error: Any, status: int, says: str | None
) -> None:
    told = error_body(error)["error"]

    assert status_of(error) == status
    assert told["code"] == error.code  # type: ignore[index, call-overload]
    message = told["message"]  # type: ignore[index, call-overload]
    assert message == says if says is not None else error.detail not in str(message)
    assert (retry_after_s(error) is not None) == (status in {413, 429, 503})


@pytest.mark.requirement("gateway:errors:no-internals")
async def test_a_bug_is_an_internal_error_without_a_word_about_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with surface() as s:

        async def broken() -> None:
            raise RuntimeError("password=hunter2")

        monkeypatch.setattr(s.world.service, "ping", broken)
        response = await s.client.get("/readyz")

        assert (response.status_code, code_of(response)) == (500, "internal_error")
        assert "hunter2" not in response.text
        assert "a route failed" in caplog.text


async def test_a_bug_after_the_answer_began_cuts_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()

        async def broken(*_args: Any, **_kwargs: Any) -> None:
            raise RuntimeError("x")

        monkeypatch.setattr(s.world.service.store, "read_frames", broken)
        peer = await connect("/v1/conversations/conv_a/events")
        await peer.until_ended()

        assert peer.status == 200
        assert peer.types == ["subscription.ready"]
        assert "a stream ends early: RuntimeError" in caplog.text


async def test_a_peer_that_leaves_before_its_request_is_whole_gets_no_answer() -> None:
    async with surface() as s, peers(s.app) as connect:
        peer = await connect(CONVERSATIONS, method="POST", sends_all=False)
        peer.leave()
        with anyio.fail_after(15):
            await peer.done.wait()

        assert peer.status == 0
