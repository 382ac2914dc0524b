"""Histories of other programs: what each fixture becomes, and that no file can do harm."""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.archives import (
    ArchiveReader,
    AttachmentData,
    ConversationStarted,
    MessageLine,
)
from blockwire.archives.drafting import History
from blockwire.archives.histories import (
    HISTORY_FORMATS,
    FileFormat,
    archive_history,
    detect_format,
    open_history,
)
from blockwire.archives.report import HistoryError, Report
from blockwire.content import check_keys, visible_message
from blockwire.jsontext import Json, decode_json, encode_json

FOLDER: Final = Path(__file__).parent / "histories"
FILES: Final = sorted(path for path in FOLDER.iterdir() if ".json" in path.suffix)
FORMATS: Final[dict[str, FileFormat]] = {
    "chatgpt-2026-02.json": "chatgpt",
    "claude-2026-01.json": "claude",
    "claude-code-2.1.jsonl": "claude_code",
    "codex-0.2.jsonl": "codex",
    "codex-0.80.jsonl": "codex",
    "opencode-1.1.json": "opencode",
}
DATA: Final = {name: (FOLDER / name).read_bytes() for name in FORMATS}


def read(
    file_format: FileFormat, data: bytes, *, cut: int = 0, **options: Any
) -> tuple[list[History], Report]:
    report = Report()
    reader = open_history(file_format, report, **options)
    found: list[History] = []
    for start in range(0, len(data), cut or len(data) or 1):
        found += reader.receive_data(data[start : start + (cut or len(data))])
    return [*found, *reader.receive_eof()], report


def told(histories: list[History], report: Report) -> Json:
    """Return everything that came of a file, for comparison with the one that a person has read."""
    return {
        "conversations": [
            {
                "conversation": history.conversation,
                "messages": [*history.messages],
                "files": [
                    {"id": file.attachment_id, "name": file.name, "size": len(file.data)}
                    for file in history.files
                ],
            }
            for history in histories
        ],
        "notes": [[note.kind, note.what, note.count, note.first] for note in report.notes],
    }


def test_every_fixture_is_named_here() -> None:
    assert {path.name for path in FILES} == FORMATS.keys()
    assert set(FORMATS.values()) == set(HISTORY_FORMATS)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.requirement("gateway:history:formats")
def test_a_history_becomes_what_was_agreed(name: str) -> None:
    came = told(*read(FORMATS[name], DATA[name]))
    golden = FOLDER / "expected" / name.replace(".jsonl", ".json")
    if os.environ.get("BLOCKWIRE_WRITE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_bytes(encode_json(came) + b"\n")

    assert came == decode_json(golden.read_bytes())


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.requirement("gateway:history:detect")
def test_a_file_says_what_it_is(name: str) -> None:
    assert detect_format(DATA[name]) == FORMATS[name]
    assert detect_format(b"\xef\xbb\xbf" + DATA[name]) == FORMATS[name]
    assert detect_format(DATA[name][:1] + b"\n") is None


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.requirement("gateway:history:cuts")
def test_pieces_of_any_size_make_the_same(name: str) -> None:
    whole = told(*read(FORMATS[name], DATA[name]))

    for cut in (1, 2, 7, 1000):
        assert told(*read(FORMATS[name], DATA[name], cut=cut)) == whole


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.requirement("gateway:history:archive")
def test_a_history_is_an_archive_of_its_own(name: str) -> None:
    for history in read(FORMATS[name], DATA[name])[0]:
        archived = archive_history(history, created_at=1, generator="tests")
        again = archive_history(history, created_at=2, generator="others")
        items = read_archive(b"".join(archived.lines))

        assert [i.message for i in items if isinstance(i, MessageLine)] == history.messages
        heads = [i.conversation for i in items if isinstance(i, ConversationStarted)]
        assert heads == [history.conversation]
        content = b"".join(i.data for i in items if isinstance(i, AttachmentData))
        assert content == b"".join(file.data for file in history.files)
        # The same conversation is known again, whenever it is read.
        assert archived.key == again.key


def read_archive(data: bytes) -> list[Any]:
    reader = ArchiveReader()
    return [*reader.receive_data(data), *reader.receive_eof()]


@pytest.mark.case("V04")
@pytest.mark.parametrize(
    ("name", "private"),
    [
        ("chatgpt-2026-02.json", ["Hydration", "Thought for a moment", "I bake bread", "unknown here",
                                  "loaf.jpg"]),
        ("claude-2026-01.json", ["Two bulges, one on each", "summaries"]),
        ("claude-code-2.1.jsonl", ["Look at the list first", "c2ln", "caveat", "blue", "/home/ada"]),
        ("codex-0.80.jsonl", ["**Looking**", "gAAAAAB", "Be careful", "ask first", "0.80.0",
                              "A recipe was renamed"]),
        ("codex-0.2.jsonl", ["main"]),
        ("opencode-1.1.json", ["Smell and bubbles", "c2ln", "Called the read tool"]),
    ],
)  # fmt: skip
@pytest.mark.requirement("gateway:history:private")
def test_what_was_private_there_is_private_here(name: str, private: list[str]) -> None:
    histories, _report = read(FORMATS[name], DATA[name])
    owner = encode_json([message for one in histories for message in one.messages]).decode()
    public = encode_json(
        [visible_message("public", message) for one in histories for message in one.messages]
    ).decode()

    for text in private:
        assert text in owner, text
        assert text not in public, text


@pytest.mark.requirement("gateway:history:branches")
def test_other_branches_are_conversations_or_told_of() -> None:
    data = DATA["chatgpt-2026-02.json"]
    with_branches, kept = read("chatgpt", data)
    without, report = read("chatgpt", data, with_branches=False)

    assert [one.conversation["tags"] for one in with_branches] == [[], ["branch"], []]
    assert len(without) == 2
    assert "other branches" in {note.what for note in report.notes if note.kind == "left_out"}
    assert "other branches" not in {note.what for note in kept.notes if note.kind == "left_out"}
    side = read("claude_code", DATA["claude-code-2.1.jsonl"], with_branches=False)
    assert len(side[0]) == 1
    assert "subagents" in {note.what for note in side[1].notes}


# hostile -----------------------------------------------------------------------------------
ODD: Final[tuple[Json, ...]] = (
    None, True, 0, -1, 2**70, 1e300, "", " ", "\x00\x1b]0;t\x07", "n" * 400, [], {}, [[[]]],
    {"type": "text"}, {"type": "image"}, {"content_type": 5}, ["u1"], "u1", "t1", "m-2", "l-1",
    "2026-13-01", "9999-12-31T23:59:59Z", {"Bad Key": {"": 1}}, "data:image/png;base64,AAAA",
)  # fmt: skip


def places(value: Json, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        for name, member in value.items():
            found += places(member, (*path, name))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            found += places(member, (*path, index))
    return found


def documents(name: str) -> list[Json]:
    data = DATA[name]
    return [decode_json(line) for line in data.splitlines()] if name.endswith("l") else [
        decode_json(data)
    ]  # fmt: skip


def joined(values: list[Json]) -> bytes:
    return b"\n".join(encode_json(value) for value in values)


VALUES: Final = {name: documents(name) for name in FORMATS}
PLACES: Final = {
    name: [(index, path) for index, value in enumerate(values) for path in places(value)]
    for name, values in VALUES.items()
}


def assert_harmless(file_format: FileFormat, data: bytes) -> None:
    try:
        histories, _report = read(file_format, data)
    except HistoryError:
        # One file, one clear error.
        return
    for history in histories:
        archived = archive_history(history, created_at=1, generator="tests")
        for item in read_archive(b"".join(archived.lines)):
            if isinstance(item, MessageLine):
                check_keys(item.message)


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
@pytest.mark.requirement("gateway:history:hostile")
def test_no_odd_value_can_do_harm(name: str, data: st.DataObject) -> None:
    values = copy.deepcopy(VALUES[name])
    for _ in range(data.draw(st.integers(1, 4))):
        index, path = data.draw(st.sampled_from(PLACES[name]))
        target: Any = values[index]
        try:
            for step in path[:-1]:
                target = target[step]
            if data.draw(st.booleans()):
                target[path[-1]] = data.draw(st.sampled_from(ODD))
            elif isinstance(target, list):
                target.append(copy.deepcopy(target[path[-1]]))
            else:
                del target[path[-1]]
        except (KeyError, IndexError, TypeError):
            # An earlier change took it away.
            continue

    assert_harmless(FORMATS[name], joined(values))


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
@pytest.mark.requirement("gateway:history:hostile")
def test_no_damaged_byte_can_do_harm(name: str, data: st.DataObject) -> None:
    damaged = bytearray(DATA[name])
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        piece = data.draw(
            st.sampled_from(
                [b"", b"\x00", b'"', b"\\", b"[", b"}", b",", b"\xff", b"\\ud800", b"{" * 300]
            )
        )
        damaged[at : at + data.draw(st.integers(0, 3))] = piece

    assert_harmless(FORMATS[name], bytes(damaged))


@pytest.mark.requirement("gateway:history:unreadable")
def test_what_cannot_be_read_is_told_and_the_rest_is_read() -> None:
    both: Any = VALUES["chatgpt-2026-02.json"][0]
    good = both[0]
    deep = b'{"mapping":{"a":' + b"[" * 300 + b"]" * 300 + b"}}"
    twice = b'{"mapping":{},"mapping":{}}'
    data = b",".join([deep, twice, b"7", b'{"title":"x"}', encode_json(good)])

    histories, report = read("chatgpt", b"[" + data + b"]")

    assert len(histories) == 2
    assert not report.is_whole
    assert [(note.what, note.count, note.first) for note in report.notes[:3]] == [
        ("conversations (nesting_too_deep)", 1, "/0"),
        ("conversations (duplicate_member)", 1, "/1"),
        ("items without a mapping", 2, "/2"),
    ]


def test_half_characters_are_mended_and_told() -> None:
    data = DATA["chatgpt-2026-02.json"].replace(b"Helo!", rb"He\ud83d \\ud800 \ud83d\ude00 \udc00")

    histories, report = read("chatgpt", data)

    content: Any = histories[-1].messages[-1]["content"]
    assert content[0]["markdown"] == "He\ufffd \\ud800 \U0001f600 \ufffd"
    assert ("repaired", "half characters") in {(note.kind, note.what) for note in report.notes}
    latin = DATA["chatgpt-2026-02.json"].replace(b"Helo!", b"Hel\xf4!")
    assert "Hel\ufffd!" in encode_json(told(*read("chatgpt", latin))).decode()


@pytest.mark.requirement("gateway:history:bounds")
def test_a_conversation_that_is_too_large_is_refused_before_it_is_kept() -> None:
    for name, file_format in FORMATS.items():
        with pytest.raises(HistoryError) as refused:
            read(file_format, DATA[name], cut=50, item_bytes_max=200)
        assert refused.value.code == "item_too_large"


def test_notes_are_bounded() -> None:
    report = Report()
    for number in range(2_000):
        report.add("kept", f"kind {number}", f"/{number}")
    report.add("kept", "x" * 500, "/")

    assert len(report.notes) <= 501
    assert sum(note.count for note in report.notes) == 2_001
    assert max(len(note.what) for note in report.notes) <= 120
