"""The parts that readers of histories stand on: items of arrays, trees, times, drafts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.archives import pieces as pieces_module
from blockwire.archives import trees
from blockwire.archives.drafting import ConversationDraft
from blockwire.archives.parts import Calls, add_part, plain_text
from blockwire.archives.pieces import JsonItems
from blockwire.archives.report import HistoryError, Report
from blockwire.archives.trees import branches
from blockwire.archives.values import iso_ms, rest_of, seconds_ms, tool_members, whole_ms
from blockwire.jsontext import Json, decode_json, encode_json
from blockwire.testing.strategies import json_values


def cut(data: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def items_of(data: bytes, size: int = 10**6, item_bytes_max: int = 10**6) -> list[bytes]:
    reader = JsonItems(item_bytes_max)
    found: list[bytes] = []
    for piece in cut(data, size):
        found += reader.receive_data(piece)
        assert reader.retained_bytes <= item_bytes_max
    return [*found, *reader.receive_eof()]


# items -------------------------------------------------------------------------------------
@given(st.lists(json_values(), max_size=5), st.integers(1, 40), st.sampled_from(["", " \n", "\t"]))
@pytest.mark.requirement("gateway:history:streamed")
def test_items_are_those_of_the_array(values: list[Json], size: int, blanks: str) -> None:
    text = (blanks + ",").encode().join(encode_json(value) for value in values)
    data = f"{blanks}[{blanks}".encode() + text + f"{blanks}]{blanks}".encode()

    assert [decode_json(item) for item in items_of(data, size)] == values


@given(json_values(), st.integers(1, 9))
def test_another_value_is_one_item(value: Json, size: int) -> None:
    data = encode_json({"value": value})

    assert [decode_json(item) for item in items_of(data, size)] == [{"value": value}]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "history_truncated"),
        (b"  ", "history_truncated"),
        (b"[", "history_truncated"),
        (b'[{"a":"', "history_truncated"),
        (b"[1,", "history_truncated"),
        (b"[1,,2]", "invalid_json"),
        (b"[}]", "invalid_json"),
        (b"[1]]", "invalid_json"),
        (b"[1] x", "invalid_json"),
        (b'[1] "x"', "invalid_json"),
        (b"[[1]}]", "invalid_json"),
    ],
)
def test_brackets_that_do_not_fit_are_refused(data: bytes, code: str) -> None:
    for size in (1, 100):
        with pytest.raises(HistoryError) as refused:
            items_of(data, size)
        assert refused.value.code == code


def test_a_mark_of_byte_order_and_an_empty_array_are_fine() -> None:
    assert items_of(b"\xef\xbb\xbf [ ] \n") == []
    assert pieces_module.__doc__


def test_an_item_is_bounded() -> None:
    with pytest.raises(HistoryError, match="item_too_large"):
        items_of(b"[" + b"1" * 2_000 + b"]", 100, item_bytes_max=1_000)


# trees -------------------------------------------------------------------------------------
def paths(parents: dict[str, str | None], leaf: str | None = None) -> list[list[str]]:
    return list(branches(parents, leaf, Report(), "/0"))


def test_the_shown_branch_comes_first_and_then_the_others() -> None:
    parents = {"a": None, "b": "a", "c": "b", "d": "b", "e": "a"}

    assert paths(parents, "d") == [["a", "b", "d"], ["a", "b", "c"], ["a", "e"]]
    assert paths(parents) == [["a", "e"], ["a", "b", "c"], ["a", "b", "d"]]
    assert paths({}) == []


def test_what_hangs_below_the_shown_end_is_a_branch() -> None:
    assert paths({"a": None, "b": "a"}, "a") == [["a"], ["a", "b"]]


@pytest.mark.requirement("gateway:history:cycles")
def test_messages_that_follow_themselves_end_and_are_told() -> None:
    report = Report()

    found = list(branches({"a": "b", "b": "a", "c": "c"}, "x", report, "/0"))

    assert found == [["c"]]
    assert {note.what for note in report.notes} == {
        "current branches that are not there",
        "messages that follow themselves",
    }


@pytest.mark.requirement("gateway:history:bounds")
def test_branches_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    parents: dict[str, str | None] = {"r": None} | {f"n{n}": "r" for n in range(10)}
    monkeypatch.setattr(trees, "BRANCHES_MAX", 3)
    assert len(paths(parents)) == 4
    monkeypatch.setattr(trees, "BRANCHES_MAX", 100)
    monkeypatch.setattr(trees, "NODES_MAX", 9)
    assert len(paths(parents)) == 5


# values ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("value", "ms"),
    [
        (1767225600.125, 1767225600125),
        (5, 5000),
        (None, None),
        (True, None),
        ("5", None),
        (float("inf"), None),
        (-1, None),
        (2.0**60, None),
    ],
)
def test_seconds(value: Json, ms: int | None) -> None:
    assert seconds_ms(value) == ms


@pytest.mark.parametrize(
    ("value", "ms"), [(5, 5), (5.0, 5), (5.5, None), (-5, None), (2**60, None), ("5", None)]
)
def test_milliseconds(value: Json, ms: int | None) -> None:
    assert whole_ms(value) == ms


@pytest.mark.parametrize(
    ("value", "ms"),
    [
        ("1970-01-01T00:00:01Z", 1000),
        ("1970-01-01T01:00:01.500+01:00", 1500),
        ("1970-01-01T00:00:01", 1000),
        ("1969-12-31T00:00:00Z", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("yesterday", None),
        (5, None),
    ],
)
def test_iso_times(value: Json, ms: int | None) -> None:
    assert iso_ms(value) == ms


def test_what_is_left_of_a_record() -> None:
    assert rest_of({"a": 1, "b": None, "c": [], "d": 0, "e": ""}, "a") == {"d": 0}


def test_values_of_tools_keep_their_source() -> None:
    deep: Json = 1
    for _ in range(70):
        deep = [deep]
    assert tool_members("text", "input") == {"input": "text"}
    assert tool_members({"aB": 1}, "input") == {"input": {"a_b": 1}, "input_json": '{"aB":1}'}
    assert tool_members(deep, "output") == {"output": "[" * 70 + "1" + "]" * 70}


# drafts ------------------------------------------------------------------------------------
def draft(source_id: Json = "s1", **options: Json) -> ConversationDraft:
    return ConversationDraft("acme", source_id, 5, Report(), "/0", **options)  # type: ignore[arg-type]


def test_ids_are_unique_and_names_are_clean() -> None:
    conversation = draft("id\x1b[31m", title="  A\nB  ")
    for source_id in ("m", "m", None, " ", "m"):
        conversation.open("user", source_id=source_id).prose("x")

    history = conversation.finish()

    assert history is not None
    assert [message["id"] for message in history.messages] == ["m", "m~2", "msg_3", "msg_4", "m~3"]
    assert history.conversation["title"] == "A\ufffdB"
    assert history.conversation["id"] == "id\ufffd[31m"


def test_a_conversation_without_an_id_or_anything_else() -> None:
    conversation = draft(None)
    conversation.open("user").prose(" ")
    assert conversation.finish() is None
    conversation = draft(" ")
    conversation.open("assistant", at=7).tool(None, "completed")
    history = conversation.finish()

    assert history is not None
    assert history.conversation["id"] == "acme/0"
    assert history.conversation["metadata"] == {"source": {"format": "acme"}}
    assert history.messages[0]["content"][0]["tool"] == "unnamed"  # type: ignore[index, call-overload]


def test_times_that_contradict_each_other_are_left_out() -> None:
    conversation = ConversationDraft("acme", "s", None, Report(), "")
    message = conversation.open("assistant", at=10)
    message.prose("x")
    message.members["completed_at"] = 9
    message.members["model"] = "m\x00"
    history = conversation.finish()

    assert history is not None
    assert "completed_at" not in history.messages[0]
    assert history.messages[0]["model"] == "m\ufffd"
    assert history.conversation["created_at"] == 10


def test_too_many_inline_files_stay_where_they_are() -> None:
    conversation = draft()
    part = {"type": "image", "data": "AAAA", "mimeType": "image/png"}

    content, files = conversation.open("user").take_files([part] * 101, "/0")  # type: ignore[list-item]

    assert content == [part] * 101
    assert files == []
    assert [note.kind for note in conversation.report.notes] == ["kept"]


# parts -------------------------------------------------------------------------------------
def test_parts_of_messages() -> None:
    conversation = draft()
    message = conversation.open("assistant")
    calls = Calls()
    parts: list[Json] = [
        7,
        {"type": "redacted_thinking", "data": "x"},
        {"type": "tool_use", "name": "a"},
        {"type": "tool_result", "name": "b", "content": "lost"},
        {"type": "tool_use", "name": "c", "input": 1, "start_timestamp": "1970-01-01T00:00:01Z"},
        {"type": "tool_result", "name": "c", "content": [{"type": "text", "text": "x"}], "meta": 1},
        {"type": "image", "source": {"type": "url", "url": "https://example.org"}},
        {"type": "flag", "flag": "x"},
        {"type": ""},
    ]
    for part in parts:
        add_part(message, part, calls, "/x")
    history = conversation.finish()

    assert history is not None
    blocks: list[Json] = history.messages[0]["content"]  # type: ignore[assignment]
    assert [block["type"] for block in blocks] == [  # type: ignore[index, call-overload]
        "acme_part", "reasoning", "tool", "tool", "tool", "acme_image", "acme_part",
    ]  # fmt: skip
    assert blocks[3]["output"] == "lost"  # type: ignore[index, call-overload]
    assert blocks[4]["output"] == "x"  # type: ignore[index, call-overload]
    assert blocks[4]["started_at"] == 1000  # type: ignore[index, call-overload]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("x", "x"),
        (None, None),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b", "citations": []}], "a\nb"),
        ([{"type": "text", "text": "a", "citations": [1]}], None),
        ([{"type": "image"}], None),
    ],
)
def test_plain_text(content: Json, text: str | None) -> None:
    assert plain_text(content) == text
