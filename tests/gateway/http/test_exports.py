"""Exports and imports over HTTP: headers, cuts that do not look whole, uploads that are cut."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, get_args

import anyio
import pytest

from blockwire.archives import ArchiveReader
from blockwire.content import Message
from blockwire.gateway.access.limits import HttpSettings
from blockwire.gateway.exports import ExportFormat
from blockwire.jsontext import decode_json
from blockwire.stores import MemoryStore
from tests.archives.samples import ANSWER, QUESTION, archive_lines
from tests.gateway.http.surface import Surface, surface

pytestmark = pytest.mark.anyio

FORMATS = get_args(ExportFormat)
WHOLE = b"".join(archive_lines())
NDJSON = {"content-type": "application/x-ndjson"}
IMPORT_SCOPE = {
    "type": "http",
    "method": "POST",
    "path": "/v1/import",
    "query_string": b"",
    "headers": [(b"host", b"127.0.0.1:7890"), (b"content-type", b"application/x-ndjson")],
    "client": ("127.0.0.1", 1),
}
POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"


async def filled(s: Surface, *messages: Message, title: str = "Zwölf Münzen / 硬币") -> str:
    conversation_id = await s.world.conversation(title=title)
    for message in messages or (QUESTION, ANSWER):
        await s.world.service.append_message(conversation_id, message, None)
    return conversation_id


def path(conversation_id: str, export_format: str, **more: str) -> str:
    query = "".join(f"&{name}={value}" for name, value in more.items())
    return f"/v1/conversations/{conversation_id}/export?format={export_format}{query}"


@pytest.mark.parametrize(
    ("export_format", "media_type", "ending"),
    [
        ("markdown", "text/markdown; charset=utf-8", "md"),
        ("html", "text/html; charset=utf-8", "html"),
        ("text", "text/plain; charset=utf-8", "txt"),
        ("json", "application/json", "json"),
        ("jsonl", "application/x-ndjson", "jsonl"),
    ],
)
@pytest.mark.requirement("gateway:export:headers")
async def test_an_export_is_a_file_that_nothing_runs_in(
    export_format: str, media_type: str, ending: str
) -> None:
    async with surface() as s:
        conversation_id = await filled(s)
        answer = await s.client.get(path(conversation_id, export_format))
        head = await s.client.head(path(conversation_id, export_format))
        tag = {"if-none-match": f'"x", {answer.headers["etag"]}'}
        again = await s.client.get(path(conversation_id, export_format), headers=tag)

    assert answer.status_code == 200
    assert "Three weighings do." in answer.text
    assert answer.headers["content-type"] == media_type
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == POLICY
    name = f"Zw%C3%B6lf%20M%C3%BCnzen%20-%20%E7%A1%AC%E5%B8%81.{ending}"
    assert answer.headers["content-disposition"] == (
        f"attachment; filename=\"Zw_lf M_nzen - __.{ending}\"; filename*=UTF-8''{name}"
    )
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["etag"] == answer.headers["etag"]
    assert (again.status_code, again.content) == (304, b"")


async def test_the_format_has_to_be_known() -> None:
    async with surface() as s:
        conversation_id = await filled(s)
        for query in ("", "?format=pdf", "?format=json&x=1"):
            answer = await s.client.get(f"/v1/conversations/{conversation_id}/export{query}")
            assert answer.status_code == 400
        missing = await s.client.get(path("conv_unknown", "json"))

    assert missing.json()["error"]["code"] == "conversation_not_found"


@pytest.mark.parametrize("export_format", FORMATS)
@pytest.mark.case("V02")
@pytest.mark.requirement("gateway:export:view")
async def test_the_public_view_hides_reasoning(export_format: str) -> None:
    secret: Message = {
        **ANSWER,
        "content": [{"id": "r", "type": "reasoning", "text": "canary-4711"}],
    }
    async with surface() as s:
        conversation_id = await filled(s, secret)
        public = await s.client.get(path(conversation_id, export_format, view="public"))
        owner = await s.client.get(path(conversation_id, export_format))

    assert "canary-4711" not in public.text
    assert "canary-4711" in owner.text


class TornStore(MemoryStore):
    """Fails at the second page of messages."""

    is_torn = False

    async def list_messages(self, *args: Any, **options: Any) -> Any:
        if self.is_torn and options["after_seq"]:
            msg = "a bug"
            raise RuntimeError(msg)
        return await super().list_messages(*args, **options)


@pytest.mark.case("P07")
@pytest.mark.parametrize("export_format", FORMATS)
@pytest.mark.requirement("gateway:export:cut")
async def test_an_export_that_fails_is_never_ended_well(
    export_format: str, caplog: pytest.LogCaptureFixture
) -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        await anyio.sleep_forever()

    async def send(message: Any) -> None:
        sent.append(message)

    store = TornStore()
    async with surface(store=store) as s:
        conversation_id = await filled(s)
        store.is_torn = True
        target = path(conversation_id, export_format).encode()
        raw_path, _, query = target.partition(b"?")
        scope = {
            "type": "http",
            "method": "GET",
            "path": raw_path.decode(),
            "query_string": query,
            "headers": [(b"host", b"127.0.0.1:7890")],
            "client": ("127.0.0.1", 1),
        }
        with anyio.fail_after(15):
            await s.app(scope, receive, send)

    assert sent[0]["status"] == 200
    assert all(message["more_body"] for message in sent[1:])
    assert "an export failed" in caplog.text


@pytest.mark.requirement("gateway:export:slow")
async def test_a_reader_that_takes_nothing_is_let_go() -> None:
    async def receive() -> Any:
        await anyio.sleep_forever()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            await anyio.sleep_forever()

    async with surface(http=HttpSettings(body_s_max=0.05)) as s:
        conversation_id = await filled(s)
        scope = {
            "type": "http",
            "method": "GET",
            "path": f"/v1/conversations/{conversation_id}/export",
            "query_string": b"format=json",
            "headers": [(b"host", b"127.0.0.1:7890")],
            "client": ("127.0.0.1", 1),
        }
        with anyio.fail_after(15):
            await s.app(scope, receive, send)


# imports -----------------------------------------------------------------------------------
@pytest.mark.requirement("gateway:import:route")
async def test_an_archive_that_is_sent_is_a_conversation() -> None:
    async with surface() as s:
        first = await s.client.post("/v1/import", content=WHOLE, headers=NDJSON)
        keyed = {**NDJSON, "idempotency-key": "k"}
        new = await s.client.post("/v1/import", content=WHOLE, headers=keyed)
        known = await s.client.post("/v1/import", content=WHOLE, headers=keyed)
        (conversation,) = first.json()["conversations"]
        listed = await s.client.get(f"/v1/conversations/{conversation['id']}/messages")
        archive = await s.client.get(path(conversation["id"], "jsonl"))

    assert (first.status_code, new.status_code, known.status_code) == (201, 201, 200)
    assert new.json() == known.json()
    assert listed.json()["items"] == [QUESTION, ANSWER]
    reader = ArchiveReader()
    assert [*reader.receive_data(archive.content), *reader.receive_eof()]


@pytest.mark.parametrize(
    ("content", "headers", "status", "code"),
    [
        (WHOLE[:-200], NDJSON, 400, "archive_truncated"),
        (b"", NDJSON, 400, "archive_truncated"),
        (WHOLE.replace(b"Coins", b"Clubs"), NDJSON, 400, "archive_mismatch"),
        (WHOLE, {"content-type": "text/plain"}, 415, "unsupported_media_type"),
        (WHOLE, {**NDJSON, "idempotency-key": " "}, 400, "invalid_idempotency_key"),
    ],
)
@pytest.mark.requirement("gateway:import:refused")
async def test_refusals(content: bytes, headers: dict[str, str], status: int, code: str) -> None:
    async with surface() as s:
        answer = await s.client.post("/v1/import", content=content, headers=headers)
        listed = await s.client.get("/v1/conversations")

    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (status, code)
    assert listed.json()["items"] == []


async def test_a_refusal_names_line_and_place() -> None:
    broken = WHOLE.replace(b'"role":"user"', b'"role":"boss"')
    async with surface() as s:
        answer = await s.client.post("/v1/import", content=broken, headers=NDJSON)

    error: Any = decode_json(answer.content)
    assert error["error"]["pointer"] == "/message/role"
    assert error["error"]["message"].startswith("line 7: ")


@pytest.mark.requirement("gateway:import:silent")
async def test_an_upload_that_falls_silent_is_let_go() -> None:
    async def silent() -> AsyncIterator[bytes]:
        yield WHOLE[:2_000]
        await anyio.sleep_forever()

    async with surface(http=HttpSettings(body_s_max=0.05)) as s:
        pieces = silent()
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": await anext(pieces), "more_body": True}

        async def send(message: Any) -> None:
            sent.append(message)

        with anyio.fail_after(15):
            await s.app({**IMPORT_SCOPE}, receive, send)
        assert sent[0]["status"] == 408
        page = await s.client.get("/v1/conversations")
        assert page.json()["items"] == []


@pytest.mark.requirement("gateway:import:all-or-nothing")
async def test_a_peer_that_leaves_leaves_nothing() -> None:
    answers = iter(
        [
            {"type": "http.request", "body": WHOLE[:20_000], "more_body": True},
            {"type": "http.disconnect"},
        ]
    )
    sent: list[Any] = []

    async def receive() -> Any:
        return next(answers)

    async def send(message: Any) -> None:
        sent.append(message)

    async with surface() as s:
        await s.app({**IMPORT_SCOPE}, receive, send)
        page = await s.client.get("/v1/conversations")

    assert sent == []
    assert page.json()["items"] == []
