"""Uploads and downloads over HTTP: who may, what is kept, what browsers are told."""

import base64
import hashlib
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import anyio
import msgspec
import pytest

from blockwire.content import (
    BlockCompleted,
    BlockStarted,
    BlockUpdated,
    StreamEvent,
    TurnEnded,
    encode_event,
)
from blockwire.gateway.access.auth import Auth, Token, hash_token
from blockwire.gateway.access.limits import HttpSettings
from blockwire.ports import ConversationRow
from tests.gateway.core.world import FAST
from tests.gateway.http.surface import Surface, body, json_of, peers, surface

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(200))
LARGE = bytes(range(256)) * 4096

TOKENS = tuple(
    Token(name=name, sha256=hash_token(name * 16), scopes=frozenset(scopes.split()), tenant=tenant)
    for name, scopes, tenant in (
        ("owner", "read write reasoning", "acme"),
        ("guest", "read", "acme"),
        ("other", "read write reasoning", "evil"),
    )
)


def bearer(name: str) -> dict[str, str]:
    return {"authorization": f"Bearer {name * 16}"}


async def uploaded(s: Surface, content: bytes = PNG, **more: Any) -> dict[str, Any]:
    conversation_id = more.pop("conversation_id", None) or await s.world.conversation()
    response = await s.client.post(
        f"/v1/conversations/{conversation_id}/attachments", content=content, **more
    )
    assert response.status_code == 201, response.text
    row: dict[str, Any] = json_of(response)
    assert response.headers["location"] == f"/v1/attachments/{row['id']}"
    return row


def named(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "attachment",
        "attachment_id": row["id"],
        "name": row["name"],
        "media_type": row["media_type"],
    }


async def pieces(*data: bytes) -> AsyncIterator[bytes]:
    for piece in data:
        yield piece


# up ---------------------------------------------------------------------------------------
@pytest.mark.requirement("attachments:upload:row", "attachments:download:whole")
async def test_a_file_comes_back_as_it_went_up() -> None:
    async with surface() as s:
        row = await uploaded(s, LARGE, params={"name": "a/b.bin"})

        answer = await s.client.get(f"/v1/attachments/{row['id']}")

        assert row == {
            "id": row["id"],
            "name": "b.bin",
            "media_type": "application/octet-stream",
            "size_bytes": len(LARGE),
            "sha256": hashlib.sha256(LARGE).hexdigest(),
            "created_at": row["created_at"],
        }
        assert answer.content == LARGE
        assert answer.headers["content-length"] == str(len(LARGE))


@pytest.mark.requirement("attachments:upload:forms")
async def test_forms_and_bodies_are_both_taken() -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()
        url = f"/v1/conversations/{conversation_id}/attachments"
        by_form = await s.client.post(url, files={"file": ("Grüße.csv", b"a,b\n", "text/csv")})
        by_curl = await s.client.post(
            url,
            content=PNG,
            headers={
                "content-type": "application/x-www-form-urlencoded",
                "content-disposition": "attachment; filename*=UTF-8''%E4%B8%96.png",
            },
        )
        by_query = await s.client.post(
            url, params={"name": "x.png"}, files={"file": ("y.png", PNG, "image/png")}
        )
        bare = await s.client.post(url, content=b"")

        rows = [json_of(answer) for answer in (by_form, by_curl, by_query, bare)]
        assert [(row["name"], row["media_type"], row["size_bytes"]) for row in rows] == [
            ("Grüße.csv", "text/csv", 4),
            ("世.png", "image/png", len(PNG)),
            ("x.png", "image/png", len(PNG)),
            ("attachment", "text/plain", 0),
        ]


@pytest.mark.requirement("attachments:upload:forms")
@pytest.mark.parametrize(
    ("content", "headers", "code", "status"),
    [
        (b"x", {"content-type": "multipart/form-data"}, "invalid_multipart", 400),
        (b"x", {"content-type": "multipart/form-data; boundary=b"}, "invalid_multipart", 400),
        (
            b'--b\r\ncontent-disposition: form-data; name="f"; filename="a"\r\n\r\nhalf',
            {"content-type": "multipart/form-data; boundary=b"},
            "invalid_multipart",
            400,
        ),
        (b"x", {"content-encoding": "gzip"}, "unsupported_encoding", 415),
    ],
)
async def test_what_is_no_file_leaves_nothing(
    content: bytes, headers: dict[str, str], code: str, status: int
) -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()

        answer = await s.client.post(
            f"/v1/conversations/{conversation_id}/attachments", content=content, headers=headers
        )

        assert (answer.status_code, json_of(answer)["error"]["code"]) == (status, code)
        assert (await s.world.service.store.measure_attachments(None)).total_bytes == 0


@pytest.mark.requirement("attachments:upload:too-large")
async def test_a_file_of_the_bound_is_taken_and_one_byte_more_is_not() -> None:
    settings = msgspec.structs.replace(FAST, attachment_bytes_max=1000)
    async with surface(settings=settings) as s:
        conversation_id = await s.world.conversation()
        url = f"/v1/conversations/{conversation_id}/attachments"
        await uploaded(s, bytes(1000), conversation_id=conversation_id)
        form = {"file": ("a", bytes(1000))}
        assert (await s.client.post(url, files=form)).status_code == 201

        announced = await s.client.post(url, content=bytes(1001))
        streamed = await s.client.post(url, content=pieces(bytes(600), bytes(401)))
        in_form = await s.client.post(url, files={"file": ("a", bytes(1001))})

        for answer in (announced, streamed, in_form):
            assert answer.status_code == 413
            assert json_of(answer)["error"]["code"] == "attachment_too_large"
        assert len(await s.world.service.store.list_attachments(conversation_id)) == 2


@pytest.mark.requirement("attachments:upload:quota")
async def test_quotas_count_a_tenant_and_all() -> None:
    settings = msgspec.structs.replace(
        FAST, attachments_tenant_bytes_max=2500, attachments_bytes_max=4000
    )
    async with surface(settings=settings, auth=Auth(TOKENS)) as s:

        async def put(tenant: str, data: bytes) -> Any:
            conversation_id = f"conv_{tenant}"
            if await s.world.service.store.load_conversation(conversation_id) is None:
                row = ConversationRow(id=conversation_id, created_at=1, updated_at=1, tenant=tenant)
                await s.world.service.store.create_conversation(row)
            caller = {"acme": "owner", "evil": "other"}[tenant]
            url = f"/v1/conversations/{conversation_id}/attachments"
            return await s.client.post(url, content=data, headers=bearer(caller))

        # The same content counts in full for its tenant, once for all.
        assert (await put("acme", b"a" * 1000)).status_code == 201
        assert (await put("acme", b"a" * 1000)).status_code == 201
        over = await put("acme", b"b" * 501)
        assert (over.status_code, json_of(over)["error"]["code"]) == (413, "quota_exceeded")
        assert (await put("evil", b"c" * 2500)).status_code == 201
        full = await put("acme", b"d" * 500 + b"e")
        assert (full.status_code, json_of(full)["error"]["code"]) == (413, "quota_exceeded")
        full = await put("evil", b"")
        assert full.status_code == 201
        all_full = await s.client.post(
            "/v1/conversations/conv_acme/attachments", content=b"f" * 500, headers=bearer("owner")
        )
        assert all_full.status_code == 201
        assert (await s.world.service.store.measure_attachments(None)).total_bytes == 4000


@pytest.mark.requirement("attachments:upload:quota")
async def test_a_full_gateway_says_507() -> None:
    settings = msgspec.structs.replace(FAST, attachments_bytes_max=1000)
    async with surface(settings=settings) as s:
        conversation_id = await s.world.conversation()
        await uploaded(s, bytes(900), conversation_id=conversation_id)

        answer = await s.client.post(
            f"/v1/conversations/{conversation_id}/attachments", content=b"x" * 101
        )

        assert (answer.status_code, json_of(answer)["error"]["code"]) == (507, "storage_exceeded")


@pytest.mark.requirement("attachments:upload:cut")
async def test_an_upload_that_is_cut_leaves_nothing() -> None:
    async with surface() as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        peer = await connect(
            f"/v1/conversations/{conversation_id}/attachments", "POST", uploads=True
        )
        await peer.upload(bytes(300_000))
        await peer.upload(bytes(300_000))

        peer.leave()
        with anyio.fail_after(15):
            await peer.done.wait()

        store = s.world.service.store
        assert await store.list_attachments(conversation_id) == []
        assert (await store.measure_attachments(None)).total_bytes == 0
        assert peer.status == 0


@pytest.mark.requirement("attachments:upload:slow")
async def test_a_silent_upload_is_given_up() -> None:
    async with surface(http=HttpSettings(attachment_idle_s=0.05)) as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        peer = await connect(
            f"/v1/conversations/{conversation_id}/attachments", "POST", uploads=True
        )
        await peer.upload(b"beginning")

        await peer.until_ended()

        assert peer.status == 408
        assert peer.headers["connection"] == "close"
        assert await s.world.service.store.list_attachments(conversation_id) == []


@pytest.mark.requirement("attachments:upload:slow")
async def test_an_upload_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blockwire.gateway.routes.attachments._BYTES_PER_S_MIN", 1 << 40)
    async with surface(http=HttpSettings(attachment_idle_s=0.2)) as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        peer = await connect(
            f"/v1/conversations/{conversation_id}/attachments", "POST", uploads=True
        )

        # Never silent for so long, and over all too slow.
        with anyio.fail_after(10), suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                await peer.upload(b"x")
                await anyio.sleep(0.01)

        assert peer.status == 408


@pytest.mark.requirement("attachments:upload:many")
async def test_so_many_uploads_at_once() -> None:
    settings = msgspec.structs.replace(FAST, uploads_max=1)
    async with surface(settings=settings) as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        url = f"/v1/conversations/{conversation_id}/attachments"
        peer = await connect(url, "POST", uploads=True)
        await peer.upload(b"first")

        refused = await s.client.post(url, content=b"second")

        assert refused.status_code == 429
        assert json_of(refused)["error"]["code"] == "too_many_uploads"
        assert int(refused.headers["retry-after"]) > 0
        await peer.upload(b"", more=False)
        await peer.until_ended()
        assert peer.status == 201
        assert (await s.client.post(url, content=b"second")).status_code == 201


@pytest.mark.requirement("attachments:upload:many")
async def test_a_tenant_leaves_a_place_for_uploads_of_others() -> None:
    settings = msgspec.structs.replace(FAST, uploads_max=3, uploads_tenant_max=2)
    async with surface(settings=settings, auth=Auth(TOKENS)) as s, peers(s.app) as connect:
        urls = {}
        for caller in ("owner", "other"):
            created = json_of(await s.client.post("/v1/conversations", headers=bearer(caller)))
            urls[caller] = f"/v1/conversations/{created['id']}/attachments"
        for _ in range(2):
            peer = await connect(urls["owner"], "POST", uploads=True, **bearer("owner"))
            await peer.upload(b"slow")

        statuses = [
            (await s.client.post(urls[caller], content=b"x", headers=bearer(caller))).status_code
            for caller in ("owner", "other", "other")
        ]

        assert statuses == [429, 201, 201]


@pytest.mark.requirement("attachments:upload:dedup")
async def test_the_same_bytes_are_kept_once_and_have_their_own_ids() -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()
        first = await uploaded(s, LARGE, conversation_id=conversation_id)
        second = await uploaded(s, LARGE, conversation_id=conversation_id)

        assert first["id"] != second["id"]
        assert first["sha256"] == second["sha256"]
        usage = await s.world.service.store.measure_attachments(None)
        assert (usage.tenant_bytes, usage.total_bytes) == (2 * len(LARGE), len(LARGE))


# down -------------------------------------------------------------------------------------
@pytest.mark.requirement("attachments:download:headers", "attachments:download:disposition")
@pytest.mark.parametrize(
    ("content", "claimed", "name", "media_type", "disposition"),
    [
        (PNG, "text/html", "a.html", "image/png", 'inline; filename="a.html"'),
        (b"\xff\xd8\xff\xe0", "image/jpeg", "a.jpg", "image/jpeg", 'inline; filename="a.jpg"'),
        (b"GIF89a", None, "a", "image/gif", 'inline; filename="a"'),
        (b"RIFF\0\0\0\0WEBP", None, "a", "image/webp", 'inline; filename="a"'),
        (
            b"<script>alert(1)</script>",
            "text/html",
            "a.html",
            "text/plain; charset=utf-8",
            'attachment; filename="a.html"',
        ),
        (
            b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
            "image/svg+xml",
            "a.svg",
            "text/plain; charset=utf-8",
            'attachment; filename="a.svg"',
        ),
        (
            b"%PDF-1.7",
            "application/pdf",
            'x".pdf',
            "application/pdf",
            "attachment; filename=\"x_.pdf\"; filename*=UTF-8''x%22.pdf",
        ),
        (b"\0\1", "image/png", "a.png", "application/octet-stream",
         'attachment; filename="a.png"'),
    ],
)  # fmt: skip
async def test_browsers_are_told_to_run_nothing(
    content: bytes, claimed: str | None, name: str, media_type: str, disposition: str
) -> None:
    async with surface() as s:
        headers = {} if claimed is None else {"content-type": claimed}
        row = await uploaded(s, content, params={"name": name}, headers=headers)

        answer = await s.client.get(f"/v1/attachments/{row['id']}")

        assert answer.headers["content-type"] == media_type
        assert answer.headers["content-disposition"] == disposition
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "private, no-cache"
        assert answer.headers["accept-ranges"] == "bytes"


@pytest.mark.requirement("attachments:download:range")
async def test_a_part_is_answered_with_a_part() -> None:
    async with surface() as s:
        row = await uploaded(s, LARGE)
        url = f"/v1/attachments/{row['id']}"
        for start, end in ((0, 1), (262_100, 262_200), (262_144, 524_289), (5, len(LARGE))):
            answer = await s.client.get(url, headers={"range": f"bytes={start}-{end - 1}"})

            assert answer.status_code == 206
            assert answer.content == LARGE[start:end]
            assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/{len(LARGE)}"
        tail = await s.client.get(url, headers={"range": "bytes=-10"})
        assert tail.content == LARGE[-10:]

        beyond = await s.client.get(url, headers={"range": f"bytes={len(LARGE)}-"})

        assert beyond.status_code == 416
        assert beyond.headers["content-range"] == f"bytes */{len(LARGE)}"
        assert json_of(beyond)["error"]["code"] == "range_not_satisfiable"
        several = await s.client.get(url, headers={"range": "bytes=0-1,3-4"})
        assert (several.status_code, several.content) == (200, LARGE)


@pytest.mark.requirement("attachments:download:conditional")
async def test_what_the_peer_has_is_not_sent_again() -> None:
    async with surface() as s:
        row = await uploaded(s)
        url = f"/v1/attachments/{row['id']}"
        etag = f'"{row["sha256"]}"'

        same = await s.client.get(url, headers={"if-none-match": f'"x", {etag}'})
        head = await s.client.head(url, headers={"range": "bytes=0-1"})
        part = await s.client.get(url, headers={"range": "bytes=0-1", "if-range": etag})
        whole = await s.client.get(url, headers={"range": "bytes=0-1", "if-range": '"x"'})

        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", etag)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == str(len(PNG))
        assert (part.status_code, part.content) == (206, PNG[:2])
        assert (whole.status_code, whole.content) == (200, PNG)


@pytest.mark.requirement("attachments:download:slow")
async def test_a_reader_that_takes_nothing_is_not_waited_for() -> None:
    async with surface(http=HttpSettings(attachment_idle_s=0.05)) as s, peers(s.app) as connect:
        row = await uploaded(s, LARGE)
        peer = await connect(f"/v1/attachments/{row['id']}", sends_all=False, fills_at_bytes=1000)

        with anyio.fail_after(15):
            await peer.done.wait()

        assert not peer.ended.is_set()
        assert sum(map(len, peer.writes)) == 65_536


@pytest.mark.requirement("attachments:download:cut")
async def test_a_download_of_what_is_deleted_meanwhile_does_not_end_well() -> None:
    async with surface() as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        row = await uploaded(s, LARGE, conversation_id=conversation_id)
        peer = await connect(f"/v1/attachments/{row['id']}", sends_all=False, fills_at_bytes=1000)
        with anyio.fail_after(15):
            await peer.is_stuck.wait()
        await s.client.delete(f"/v1/conversations/{conversation_id}")

        peer.fills_at_bytes = 1 << 40
        peer.read_on()
        with anyio.fail_after(15):
            await peer.done.wait()

        assert not peer.ended.is_set()
        gone = await s.client.get(f"/v1/attachments/{row['id']}")
        assert (gone.status_code, json_of(gone)["error"]["code"]) == (404, "attachment_not_found")


# who --------------------------------------------------------------------------------------
@pytest.mark.requirement("attachments:view:tenant", "attachments:hold:foreign")
async def test_another_tenant_finds_nothing_and_gets_nothing_by_naming_it() -> None:
    async with surface(auth=Auth(TOKENS)) as s:
        created = [
            json_of(await s.client.post("/v1/conversations", headers=bearer(name)))["id"]
            for name in ("owner", "other")
        ]
        mine, theirs = (f"/v1/conversations/{name}" for name in created)
        row = await uploaded(s, conversation_id=created[0], headers=bearer("owner"))
        url = f"/v1/attachments/{row['id']}"
        message = body({"role": "user", "content": [named(row)]})
        message["headers"] |= bearer("other")

        foreign = await s.client.post(f"{mine}/attachments", content=b"x", headers=bearer("other"))
        assert (await s.client.post(f"{theirs}/messages", **message)).status_code == 201

        assert foreign.status_code == 404
        for path in (url, "/v1/attachments/att_no_such"):
            answer = await s.client.get(path, headers=bearer("other"))
            assert answer.status_code == 404
            assert json_of(answer)["error"]["code"] == "attachment_not_found"
        assert (await s.client.get(url, headers=bearer("owner"))).content == PNG
        assert await s.world.service.store.list_holders(row["id"]) == [created[0]]
        # The block is kept as it came.
        kept = json_of(await s.client.get(f"{theirs}/messages", headers=bearer("other")))
        assert kept["items"][0]["content"][0]["attachment_id"] == row["id"]


@pytest.mark.requirement("attachments:view:public")
async def test_the_public_gets_what_the_public_is_shown() -> None:
    async with surface(auth=Auth(TOKENS)) as s:
        conversation_id = json_of(
            await s.client.post("/v1/conversations", headers=bearer("owner"))
        )["id"]
        rows = {
            name: await uploaded(
                s, name.encode(), conversation_id=conversation_id, headers=bearer("owner")
            )
            for name in ("unnamed", "system", "developer", "private", "hidden", "shown", "tool")
        }
        base = f"/v1/conversations/{conversation_id}"

        async def say(role: str, *blocks: Any) -> None:
            message = body({"role": role, "content": [*blocks]})
            message["headers"] |= bearer("owner")
            assert (await s.client.post(f"{base}/messages", **message)).status_code == 201

        await say("system", named(rows["system"]))
        await say("developer", named(rows["developer"]))
        await say(
            "assistant",
            {"type": "reasoning", "text": "", "attachment_id": rows["private"]["id"]},
            {"type": "prose", "markdown": "", "provider_data": named(rows["hidden"])},
        )
        await say("user", named(rows["shown"]))
        await say(
            "assistant",
            {
                "type": "tool",
                "tool": "draw",
                "status": "completed",
                "attachments": [rows["tool"]["id"]],
            },
        )

        for caller, expected in (("owner", set(rows)), ("guest", {"shown", "tool"})):
            found = set()
            for name, row in rows.items():
                answer = await s.client.get(f"/v1/attachments/{row['id']}", headers=bearer(caller))
                if answer.status_code == 200:
                    assert answer.content == name.encode()
                    found.add(name)
            assert found == expected
        less = await s.client.get(
            f"/v1/attachments/{rows['system']['id']}?view=public", headers=bearer("owner")
        )
        assert less.status_code == 404


@pytest.mark.requirement("attachments:hold:named", "attachments:view:public")
async def test_a_producer_uploads_while_its_turn_runs_and_names_the_file() -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()
        turn_id = await s.world.submit(conversation_id, engine="external")
        row = await uploaded(s, conversation_id=conversation_id)
        url = f"/v1/attachments/{row['id']}?view=public"
        tool = {"id": "b1", "type": "tool", "tool": "draw", "status": "running"}
        events: list[StreamEvent] = [
            BlockStarted(turn_id, {**tool}),
            BlockUpdated(turn_id, "b1", {"attachments": [row["id"]], "status": "completed"}),
            BlockCompleted(turn_id, "b1"),
            TurnEnded(turn_id, "completed"),
        ]
        assert (await s.client.get(url)).status_code == 404

        await s.world.post(
            conversation_id, turn_id, *(encode_event(event) + b"\n" for event in events)
        )

        assert (await s.client.get(url)).content == PNG


# out of messages --------------------------------------------------------------------------
@pytest.mark.requirement("attachments:inline:block", "attachments:inline:output")
@pytest.mark.parametrize("road", ["messages", "turns"])
async def test_inline_files_become_attachments(road: str) -> None:
    text = base64.b64encode(PNG).decode()
    async with surface() as s:
        conversation_id = await s.world.conversation()
        content = [
            {"type": "attachment", "name": "a.png", "data": text},
            {
                "type": "tool",
                "tool": "shot",
                "status": "completed",
                "output": {"content": [{"type": "image", "data": text, "mime_type": "image/png"}]},
            },
        ]
        value: Any = {"content": content}
        if road == "messages":
            value["role"] = "user"
        request = body(value)
        request["headers"]["idempotency-key"] = "k1"

        answers = [
            await s.client.post(f"/v1/conversations/{conversation_id}/{road}", **request)
            for _ in range(2 if road == "turns" else 1)
        ]

        assert [answer.status_code for answer in answers] == {
            "messages": [201],
            "turns": [202, 200],
        }[road]
        page = json_of(await s.client.get(f"/v1/conversations/{conversation_id}/messages"))
        block, tool = page["items"][0]["content"]
        rows = await s.world.service.store.list_attachments(conversation_id)
        assert {block["attachment_id"], *tool["attachments"]} == {row.id for row in rows}
        assert len(rows) == 2
        assert text not in str(page)
        got = await s.client.get(f"/v1/attachments/{block['attachment_id']}?view=public")
        assert got.content == PNG


@pytest.mark.requirement("attachments:inline:bounds")
async def test_a_body_with_files_may_be_larger_but_not_its_message() -> None:
    settings = msgspec.structs.replace(
        FAST, body_bytes_max=2000, inline_body_bytes_max=8000, attachment_bytes_max=3000
    )
    async with surface(settings=settings) as s:
        conversation_id = await s.world.conversation()
        url = f"/v1/conversations/{conversation_id}/messages"

        async def post(size_bytes: int, markdown: str = "") -> Any:
            text = base64.b64encode(bytes(size_bytes)).decode()
            return await s.client.post(
                url,
                **body(
                    {
                        "role": "user",
                        "content": [
                            {"type": "attachment", "name": "a", "data": text},
                            {"type": "prose", "markdown": markdown},
                        ],
                    }
                ),
            )

        assert (await post(3000)).status_code == 201
        for answer, code in (
            (await post(3001), "attachment_too_large"),
            (await post(1000, "x" * 2000), "limit_exceeded"),
            (await post(7000), "body_too_large"),
        ):
            assert (answer.status_code, json_of(answer)["error"]["code"]) == (413, code)
        assert len(await s.world.service.store.list_attachments(conversation_id)) == 1


@pytest.mark.requirement("attachments:hold:orphans")
async def test_what_nobody_names_is_collected_after_a_while() -> None:
    settings = msgspec.structs.replace(FAST, attachment_unnamed_s_max=60.0)
    async with surface(settings=settings) as s:
        conversation_id = await s.world.conversation()
        kept = await uploaded(s, conversation_id=conversation_id)
        lost = await uploaded(s, b"lost", conversation_id=conversation_id)
        await s.client.post(
            f"/v1/conversations/{conversation_id}/messages",
            **body({"role": "user", "content": [named(kept)]}),
        )
        await s.world.service.upkeep.run_round()
        assert (await s.client.get(f"/v1/attachments/{lost['id']}")).content == b"lost"
        s.clock.ms += 61_000

        await s.world.service.upkeep.run_round()

        assert (await s.client.get(f"/v1/attachments/{lost['id']}")).status_code == 404
        assert (await s.client.get(f"/v1/attachments/{kept['id']}")).content == PNG


@pytest.mark.requirement("attachments:view:share")
async def test_a_share_link_shows_what_its_own_conversation_shows() -> None:
    async with surface(auth=Auth(TOKENS)) as s:

        async def conversation() -> str:
            created = await s.client.post("/v1/conversations", headers=bearer("owner"))
            return str(json_of(created)["id"])

        async def say(conversation_id: str, role: str, *rows: dict[str, Any]) -> None:
            message = body({"role": role, "content": [named(row) for row in rows]})
            message["headers"] |= bearer("owner")
            url = f"/v1/conversations/{conversation_id}/messages"
            assert (await s.client.post(url, **message)).status_code == 201

        shared, other = await conversation(), await conversation()
        rows = [
            await uploaded(s, text, conversation_id=shared, headers=bearer("owner"))
            for text in (b"shown", b"private", b"unnamed", b"elsewhere")
        ]
        await say(shared, "user", rows[0])
        await say(shared, "system", rows[1])
        await say(other, "user", rows[3], rows[1])
        request = body({})
        request["headers"] |= bearer("owner")
        made = json_of(await s.client.post(f"/v1/conversations/{shared}/shares", **request))
        guest = {"authorization": f"Bearer {made['secret']}"}

        answers = [
            await s.client.get(f"/v1/attachments/{row['id']}", headers=guest) for row in rows
        ]
        upload = await s.client.post(
            f"/v1/conversations/{shared}/attachments", content=b"x", headers=guest
        )

        assert [answer.status_code for answer in answers] == [200, 404, 404, 404]
        assert answers[0].content == b"shown"
        assert upload.status_code == 403


@pytest.mark.requirement("attachments:upload:cut")
async def test_a_gateway_that_stops_waits_for_no_upload() -> None:
    async with surface() as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        peer = await connect(
            f"/v1/conversations/{conversation_id}/attachments", "POST", uploads=True
        )
        await peer.upload(b"beginning")

        s.app.stop()
        await peer.until_ended()

        assert peer.status == 503
        assert await s.world.service.store.list_attachments(conversation_id) == []


@pytest.mark.requirement("attachments:download:cut")
async def test_who_is_let_in_no_more_gets_no_more() -> None:
    async with surface(auth=Auth()) as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        row = await uploaded(s, LARGE, conversation_id=conversation_id)
        made = json_of(
            await s.client.post(
                "/v1/tokens", **body({"name": "reader", "scopes": ["read", "reasoning", "admin"]})
            )
        )
        credentials = {"authorization": f"Bearer {made['token']}"}
        peer = await connect(
            f"/v1/attachments/{row['id']}",
            sends_all=False,
            fills_at_bytes=1000,
            **credentials,
        )
        with anyio.fail_after(15):
            await peer.is_stuck.wait()
        revoked = await s.client.delete("/v1/tokens/reader", headers=credentials)
        assert revoked.status_code == 204

        peer.fills_at_bytes = 1 << 40
        peer.read_on()
        with anyio.fail_after(15):
            await peer.done.wait()

        assert peer.status == 200
        assert not peer.ended.is_set()
        assert sum(map(len, peer.writes)) < len(LARGE)
