"""Programs and web addresses that hear when a turn ends or waits."""

from __future__ import annotations

import hashlib
import hmac
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import msgspec
import pytest

from blockwire.engines import hooks
from blockwire.engines.hooks import HookSettings, TurnHooks, notice_of, signature
from blockwire.jsontext import decode_json
from blockwire.ports import TurnRow
from blockwire.ports.tracing import CURRENT_TRACEPARENT
from tests.engines.tools import ManualTime

pytestmark = pytest.mark.anyio

ENDED = TurnRow(
    id="turn_1",
    conversation_id="conv_1",
    status="completed",
    engine="mine",
    created_at=1,
    started_at=2,
    completed_at=3,
    request_message_id="msg_1",
    model="m",
    usage={"output_tokens": 4},
    finish_reason="stop",
    last_seq=9,
    options={"secret_option": "x"},
    idempotency_key="secret-key",
)
WAITING = msgspec.structs.replace(
    ENDED,
    status="suspended",
    completed_at=None,
    usage=None,
    finish_reason=None,
    request={"id": "req_1", "kind": "approval", "prompt": "Delete the secret plan?"},
)


@pytest.mark.requirement("hooks:content-free")
def test_a_notice_holds_ids_counts_and_codes_and_nothing_that_was_said() -> None:
    failed = msgspec.structs.replace(
        ENDED, status="failed", error={"code": "engine_failed", "message": "secret words"}
    )

    assert notice_of(ENDED) == {
        "type": "turn.ended",
        "id": "turn_1:9",
        "conversation_id": "conv_1",
        "turn_id": "turn_1",
        "status": "completed",
        "engine": "mine",
        "created_at": 1,
        "started_at": 2,
        "completed_at": 3,
        "model": "m",
        "usage": {"output_tokens": 4},
        "finish_reason": "stop",
    }
    waiting = notice_of(WAITING)
    assert (waiting["type"], waiting["request_id"], waiting["request_kind"]) == (
        "turn.waiting",
        "req_1",
        "approval",
    )
    assert notice_of(failed)["error_code"] == "engine_failed"
    assert "secret" not in f"{waiting}{notice_of(failed)}"


class Receiver:
    """A web server that answers as it is told and keeps what it was sent."""

    def __init__(self, *answers: bytes) -> None:
        self._answers = list(answers)
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.url = ""

    async def serve(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
        async with listener:
            port = listener.extra(anyio.abc.SocketAttribute.local_port)
            self.url = f"http://127.0.0.1:{port}/hook?key=secret"
            task_status.started()
            await listener.serve(self._answer)

    async def _answer(self, stream: anyio.abc.SocketStream) -> None:
        async with stream:
            data = b""
            while b"\r\n\r\n" not in data:
                data += await stream.receive()
            head, _, body = data.partition(b"\r\n\r\n")
            lines = head.decode().split("\r\n")[1:]
            headers = dict(line.lower().split(": ", 1) for line in lines)
            while len(body) < int(headers["content-length"]):
                body += await stream.receive()
            self.requests.append((headers, body))
            answer = self._answers.pop(0) if self._answers else b"204 No Content"
            if answer:
                await stream.send(b"HTTP/1.1 " + answer + b"\r\nconnection: close\r\n\r\n")


@asynccontextmanager
async def hooked(
    settings: HookSettings, time: ManualTime | None = None, pauses: list[float] | None = None
) -> AsyncIterator[TurnHooks]:
    async def sleep(seconds: float) -> None:
        if pauses is not None:
            pauses.append(seconds)

    told = TurnHooks(
        settings,
        clock=time or ManualTime(),
        redact=lambda text: text.replace("sk-1", "[redacted]"),
        sleep=sleep,
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(told.run)
        yield told
        with anyio.fail_after(10):
            await told.drain(10)
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def receiving(*answers: bytes) -> AsyncIterator[Receiver]:
    receiver = Receiver(*answers)
    async with anyio.create_task_group() as tasks:
        await tasks.start(receiver.serve)
        yield receiver
        tasks.cancel_scope.cancel()


@pytest.mark.requirement("hooks:webhook:signed")
async def test_a_webhook_is_posted_once_and_signed() -> None:
    async with receiving() as receiver:
        settings = HookSettings(webhook_url=receiver.url, webhook_secret="s3cret")
        async with hooked(settings) as told:
            told.tell(ENDED)

    ((headers, body),) = receiver.requests
    assert decode_json(body) == notice_of(ENDED)
    assert headers["content-type"] == "application/json"
    assert (headers["blockwire-event"], headers["blockwire-delivery"]) == ("turn.ended", "turn_1:9")
    time_part, _, hex_part = headers["blockwire-signature"].partition(",")
    unix_s = int(time_part.removeprefix("t="))
    expected = hmac.new(b"s3cret", b"%d.%b" % (unix_s, body), hashlib.sha256).hexdigest()
    assert hex_part == f"v1={expected}"
    assert signature("s3cret", body, unix_s) == headers["blockwire-signature"]
    assert "authorization" not in headers


TRIES: list[tuple[list[bytes], int, list[float]]] = [
    # answers, requests, pauses
    ([b"200 OK"], 1, []),
    ([b"503 Busy", b"200 OK"], 2, [1.0]),
    ([b"429 Slow\r\nretry-after: 7", b"200 OK"], 2, [7.0]),
    ([b"429 Slow\r\nretry-after: 99999", b"200 OK"], 2, [60.0]),
    ([b"429 Slow\r\nretry-after: soon", b"200 OK"], 2, [1.0]),
    ([b"", b"200 OK"], 2, [1.0]),
    ([b"500 Oops"] * 9, 3, [1.0, 2.0]),
    ([b"400 No"], 1, []),
    ([b"302 Found\r\nlocation: http://127.0.0.1:1/elsewhere"], 1, []),
]


@pytest.mark.parametrize(("answers", "count", "pauses"), TRIES)
@pytest.mark.requirement("hooks:webhook:bounded", "hooks:webhook:redirect")
async def test_a_webhook_is_tried_again_within_bounds_and_follows_no_redirect(
    answers: list[bytes], count: int, pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    waited: list[float] = []
    async with receiving(*answers) as receiver:
        settings = HookSettings(webhook_url=receiver.url, webhook_secret="s3cret", tries_max=3)
        async with hooked(settings, pauses=waited) as told:
            told.tell(ENDED)

    assert (len(receiver.requests), waited) == (count, pauses)
    assert len({body for _headers, body in receiver.requests}) == 1
    # A failure is logged without the address, whose query may hold a key.
    assert "secret" not in caplog.text
    assert "127.0.0.1" not in caplog.text


async def test_a_webhook_that_nobody_answers_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    settings = HookSettings(webhook_url="http://127.0.0.1:9/secret", tries_max=2, request_s_max=0.5)
    with caplog.at_level(logging.WARNING):
        async with hooked(settings) as told:
            told.tell(WAITING)

    assert "webhook of turn turn_1: ConnectError, tries: 2" in caplog.text
    assert "secret" not in caplog.text


def script(code: str) -> list[str]:
    return [sys.executable, "-c", code]


@pytest.mark.requirement("gateway:operations:trace-hooks")
async def test_hooks_can_join_the_trace_of_their_turn(tmp_path: Path) -> None:
    keep = (
        "import os, sys; open(sys.argv[1], 'a', encoding='utf-8').write("
        "os.environ.get('TRACEPARENT', 'none') + '\\n')"
    )
    traces = [None, f"00-{'a' * 32}-{'b' * 16}-01", f"00-{'c' * 32}-{'d' * 16}-01"]
    kept = tmp_path / "traces"
    async with receiving() as receiver:
        settings = HookSettings(webhook_url=receiver.url, on_turn_end=[*script(keep), str(kept)])
        for trace in traces:
            CURRENT_TRACEPARENT.set(trace)
            async with hooked(settings) as told:
                told.tell(ENDED)

    assert kept.read_text(encoding="utf-8").split() == [str(t or "none") for t in traces]
    assert [headers.get("traceparent") for headers, _ in receiver.requests] == traces


@pytest.mark.requirement("hooks:command:input")
async def test_programs_get_the_notice_each_its_own_kind(tmp_path: Path) -> None:
    keep = (
        "import os, sys; open(sys.argv[1], 'w', encoding='utf-8').write("
        "sys.stdin.read() + os.environ['BLOCKWIRE_TURN_STATUS'])"
    )
    ended, waiting = tmp_path / "ended", tmp_path / "waiting"
    settings = HookSettings(
        on_turn_end=[*script(keep), str(ended)], on_turn_waiting=[*script(keep), str(waiting)]
    )
    async with hooked(settings) as told:
        told.tell(ENDED)
        told.tell(WAITING)

    line, _, status = ended.read_text("utf-8").partition("\n")
    assert (decode_json(line.encode()), status) == (notice_of(ENDED), "completed")
    line, _, status = waiting.read_text("utf-8").partition("\n")
    assert (decode_json(line.encode()), status) == (notice_of(WAITING), "suspended")


@pytest.mark.requirement("hooks:command:bounded")
async def test_a_program_that_fails_or_never_ends_is_only_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    failing = script("import sys; print('sk-1', file=sys.stderr); sys.exit(3)")
    cases: list[tuple[Any, str]] = [
        (failing, "ended with status 3"),
        (script("import time; time.sleep(600)"), "took too long"),
        (["no-such-program-anywhere"], "was not found"),
    ]
    with caplog.at_level(logging.DEBUG, logger="blockwire"):
        for command, _said in cases:
            async with hooked(HookSettings(on_turn_end=command, command_s_max=0.5)) as told:
                told.tell(ENDED)

    for _command, said in cases:
        assert said in caplog.text
    assert "[redacted]" in caplog.text
    assert "sk-1" not in caplog.text


@pytest.mark.requirement("hooks:bounded")
async def test_too_many_notices_drop_the_oldest(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hooks, "NOTICES_MAX", 2)
    async with receiving() as receiver:
        told = TurnHooks(HookSettings(webhook_url=receiver.url), clock=ManualTime(), redact=str)
        for number in range(4):
            told.tell(msgspec.structs.replace(ENDED, id=f"turn_{number}"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(told.run)
            await told.drain(5)
            tasks.cancel_scope.cancel()

    delivered = {headers["blockwire-delivery"] for headers, _body in receiver.requests}
    assert delivered == {"turn_2:9", "turn_3:9"}
    assert caplog.text.count("is dropped") == 2


async def test_a_stop_waits_only_so_long(caplog: pytest.LogCaptureFixture) -> None:
    settings = HookSettings(on_turn_end=script("import time; time.sleep(600)"))
    told = TurnHooks(settings, clock=ManualTime(), redact=str)
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(told.run)
            told.tell(ENDED)
            await anyio.wait_all_tasks_blocked()
            await told.drain(0.05)
            tasks.cancel_scope.cancel()

    assert "notices of turns not delivered: 1" in caplog.text


def test_without_hooks_nothing_is_kept() -> None:
    told = TurnHooks(HookSettings(), clock=ManualTime(), redact=str)

    told.tell(ENDED)

    assert len(told._waiting) == 0
