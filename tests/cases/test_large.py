"""A conversation of 200 MB: what is listed, opened and searched costs by the page."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from blockwire.content import Message, MessageCreated, encode_event
from blockwire.ports import Append, ConversationRow, Draft
from blockwire.stores import SqliteStore
from tests.support.cases import case
from tests.support.programs import Gateway, call, environment

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(300)]

MESSAGES: Final = 20_000
GROUP: Final = 200
TEXT_BYTES: Final = 7_500
OUTPUT_BYTES: Final = 50_000_000
MEMORY_BYTES_MAX: Final = 512 * 1024 * 1024


def message(number: int) -> Message:
    block: dict[str, Any]
    if number == MESSAGES // 2:
        output = "line of a very long output\n" * (OUTPUT_BYTES // 27)
        block = {"type": "tool", "tool": "cat", "status": "completed", "output": output}
    else:
        words = f"Message {number} is about nothing in particular, {'as are the others, ' * 400}"
        block = {"type": "prose", "markdown": words[:TEXT_BYTES] + f" needle{number}"}
    return {
        "id": f"msg_{number}",
        "role": "user" if number % 2 else "assistant",
        "status": "completed",
        "content": [{"id": "b1", **block}],
        "created_at": number,
        "completed_at": number,
    }


async def fill(path: Path) -> None:
    async with SqliteStore(path) as store:
        await store.create_conversation(ConversationRow(id="conv_a", created_at=1, updated_at=1))
        for start in range(0, MESSAGES, GROUP):
            messages = [message(number) for number in range(start, start + GROUP)]
            drafts = []
            for item in messages:
                data = encode_event(MessageCreated(item))
                drafts.append(Draft("message.created", data, data))
            await store.append(
                Append(
                    conversation_id="conv_a",
                    drafts=drafts,
                    ts=start + 1,
                    finished=[(item, index) for index, item in enumerate(messages)],
                )
            )


class Limited(Gateway):
    """A gateway that gets no more memory than the case allows."""

    def _start(self) -> subprocess.Popen[bytes]:
        process = super()._start()
        resource.prlimit(process.pid, resource.RLIMIT_DATA, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
        return process


@case("P03")
@pytest.mark.skipif(sys.platform != "linux", reason="limits memory with prlimit")
async def test_listing_opening_and_searching_cost_by_the_page(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    await fill(path)
    assert path.stat().st_size > 190_000_000

    with Limited(environment(tmp_path), "--store", f"sqlite:///{path}") as gateway:
        listed = call(gateway.url, "/v1/conversations")["items"]
        page = call(gateway.url, "/v1/conversations/conv_a/messages?limit=20")["items"]
        older = call(gateway.url, "/v1/conversations/conv_a/messages?after=0&limit=20")["items"]
        found = call(gateway.url, "/v1/search?q=needle12345")["items"]
        peak_bytes = peak(gateway.process.pid)

        assert [item["id"] for item in listed] == ["conv_a"]
        assert page[-1]["id"] == f"msg_{MESSAGES - 1}"
        assert older[0]["id"] == "msg_0"
        assert [hit["message_id"] for hit in found] == ["msg_12345"]
        # A page is 1 MiB at most; none of the three came near the conversation.
        assert peak_bytes < 200 * 1024 * 1024


def peak(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024
