"""Which attachments are named, and how files are called."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.content import (
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    BlockUpdated,
    MessageCreated,
    StreamEvent,
    TurnStarted,
)
from blockwire.content.naming import (
    NAMED_MAX,
    event_attachments,
    named_attachments,
    safe_file_name,
)
from blockwire.errors import RemoteProtocolError


def message(*content: Any) -> dict[str, Any]:
    return {
        "id": "msg_1", "role": "user", "status": "completed", "created_at": 1,
        "content": [*content],
    }  # fmt: skip


FILE: dict[str, Any] = {"id": "b1", "type": "attachment", "attachment_id": "att_1"}
TOOL: dict[str, Any] = {"id": "b2", "type": "tool", "attachments": ["att_2", "att_3", 5]}
ODD: dict[str, Any] = {"id": "b3", "type": "acme.card", "attachment_id": 7, "attachments": "att_9"}


@pytest.mark.requirement("attachments:hold:named")
@pytest.mark.parametrize(
    ("event", "names"),
    [
        (MessageCreated(message=message(FILE, TOOL, ODD)), {"att_1", "att_2", "att_3"}),
        (BlockStarted(turn_id="t", block=FILE), {"att_1"}),
        (BlockCompleted(turn_id="t", block_id="b2", block=TOOL), {"att_2", "att_3"}),
        (BlockCompleted(turn_id="t", block_id="b2"), set()),
        (BlockUpdated(turn_id="t", block_id="b2", set={"attachments": ["att_4"]}), {"att_4"}),
        (BlockUpdated(turn_id="t", block_id="b2", set={"status": "running"}), set()),
        (BlockDelta(turn_id="t", block_id="b", field="text", text="att_1"), set()),
        (TurnStarted(turn_id="t", role="assistant", created_at=1), set()),
        (MessageCreated(message={**message(), "content": "att_1"}), set()),
        (MessageCreated(message=message("att_1")), set()),
    ],
)
def test_events_name_attachments(event: StreamEvent, names: set[str]) -> None:
    assert event_attachments(event) == names


def test_a_block_of_unknown_type_names_attachments_too() -> None:
    block: dict[str, Any] = {"id": "b", "type": "acme.card", "attachment_id": "att_1"}

    assert list(named_attachments({**block, "attachments": ["att_2"]})) == ["att_1", "att_2"]


def test_one_event_names_so_many_at_most() -> None:
    names = [f"att_{number}" for number in range(NAMED_MAX)]
    assert len(event_attachments(BlockUpdated("t", "b", {"attachments": [*names]}))) == NAMED_MAX

    with pytest.raises(RemoteProtocolError) as refused:
        event_attachments(BlockUpdated("t", "b", {"attachments": [*names, "att_more"]}))

    assert refused.value.code == "limit_exceeded"


@pytest.mark.requirement("attachments:name:safe")
@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\photo.png", "photo.png"),
        ("a\x00b\r\nc\x1b[2J.txt", "ab c[2J.txt"),
        ("invoice\u202egnp.exe", "invoicegnp.exe"),
        ("zero\u200bwidth", "zerowidth"),
        (".bashrc", "bashrc"),
        ("..", "attachment"),
        ("/", "attachment"),
        ("", "attachment"),
        (" two   blanks \t here. ", "two blanks here"),
        ("a \u200b b", "a b"),
        ("e\u0301te\u0301.txt", "été.txt"),
        ("\ud800", "attachment"),
        ("x" * 300 + ".tar.gz", "x" * 237 + ".gz"),
        ("." + "x" * 300, "x" * 240),
        ("y" * 250 + "." + "z" * 40, "y" * 240),
    ],
)
def test_names_of_files_are_made_safe(name: str, kept: str) -> None:
    assert safe_file_name(name) == kept


@pytest.mark.requirement("attachments:name:safe")
@given(st.text(max_size=400) | st.text(alphabet="./\\ \x00ab\u202e", max_size=400))
def test_a_safe_name_is_one_name_in_any_folder(name: str) -> None:
    safe = safe_file_name(name)

    assert 0 < len(safe) <= 256
    assert len(safe.encode()) <= 255
    assert not {"/", "\\", "\x00", "\n", "\u202e"} & set(safe)
    assert safe not in {".", ".."}
    assert safe_file_name(safe) == safe
