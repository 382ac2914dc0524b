"""The history of inputs and the search through it, and pastes as they come."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.tui import inputhistory, pastes
from blockwire.tui.historysearch import HistorySearch
from blockwire.tui.inputhistory import InputHistory
from blockwire.tui.pastes import PasteReader, clean_text, is_long


@pytest.mark.requirement("chat:history:kept")
@pytest.mark.parametrize(
    ("text", "is_kept"),
    [
        ("new", True),
        ("old", False),
        ("", False),
        (" \n", False),
        (" secret", False),
        ("x" * inputhistory.ENTRY_CHARS_MAX, True),
        ("x" * (inputhistory.ENTRY_CHARS_MAX + 1), False),
    ],
)
def test_what_is_kept(text: str, is_kept: bool) -> None:
    history = InputHistory(["old"])

    assert history.add(text) is is_kept
    assert history.entries == (("old", text) if is_kept else ("old",))


def test_the_oldest_entry_goes_first() -> None:
    history = InputHistory(str(number) for number in range(inputhistory.ENTRIES_MAX + 5))

    assert len(history.entries) == inputhistory.ENTRIES_MAX
    assert history.entries[0] == "5"


def test_a_walk_passes_over_repetitions_and_what_begins_otherwise() -> None:
    history = InputHistory(["git a", "ls", "git b", "ls", "git b"])

    assert history.newer() is None
    assert [history.older("git"), history.older("?"), history.older("?")] == [
        "git b", "git a", None,
    ]  # fmt: skip
    assert history.is_walking
    assert history.newer() == "git b"
    assert history.newer() is None
    assert not history.is_walking


def shown(search: HistorySearch) -> tuple[str | None, bool]:
    return search.found, search.is_failing


def test_a_search_goes_from_the_newest_to_the_oldest_whatever_the_case() -> None:
    search = HistorySearch(InputHistory(["Fix the test", "add a test", "other"]))

    search.older()
    assert shown(search) == (None, False)
    search.type("T")
    assert shown(search)[0] == "other"
    search.type("est")
    assert shown(search)[0] == "add a test"
    search.type(" ")
    assert shown(search) == ("add a test", True)
    search.delete()
    assert shown(search) == ("add a test", False)
    search.older()
    assert shown(search)[0] == "Fix the test"
    search.older()
    assert shown(search) == ("Fix the test", True)
    for _letter in "Test":
        search.delete()
    assert shown(search) == (None, False)


def is_cut(reader: PasteReader) -> bool:
    return reader.is_cut


CLEANED = [
    ("a\r\nb\rc\n", "a\nb\nc\n"),
    ("\x1b[201~rm -rf /", "[201~rm -rf /"),
    ("\x9b201~x", "201~x"),
    ("a\tb\x00\x07\x7f\x85", "a\tb"),
    ("\x1b]52;c;eA==\x07", "]52;c;eA=="),
]


@pytest.mark.requirement("chat:paste:cleaned")
@pytest.mark.parametrize(("pasted", "text"), CLEANED)
def test_a_paste_loses_what_could_act(pasted: str, text: str) -> None:
    assert clean_text(pasted) == text
    assert PasteReader().receive_data(pasted.encode(), is_last=True) == text


@pytest.mark.requirement("chat:paste:whole")
@given(
    texts=st.lists(st.text(st.characters(codec="utf-8"), max_size=20), min_size=1, max_size=3),
    size=st.integers(1, 7),
)
def test_pastes_come_whole_however_they_are_cut(texts: list[str], size: int) -> None:
    reader = PasteReader()
    for text in texts:
        data = text.encode()
        got = [
            reader.receive_data(data[at : at + size], is_last=False)
            for at in range(0, len(data), size)
        ]
        assert all(piece is None for piece in got)
        assert reader.receive_data(b"", is_last=True) == clean_text(text)
        assert not reader.is_cut


def test_bytes_that_are_no_text_are_replaced() -> None:
    reader = PasteReader()

    assert reader.receive_data(b"a\xff\xe6", is_last=True) == "a\ufffd\ufffd"
    assert reader.receive_data(b"b", is_last=True) == "b"


@pytest.mark.requirement("chat:paste:megabyte")
def test_a_megabyte_is_pasted_without_loss() -> None:
    reader = PasteReader()
    data = ("0123456789abcde\n" * 65_536).encode()
    for at in range(0, len(data), 65_536):
        assert reader.receive_data(data[at : at + 65_536], is_last=False) is None

    assert reader.receive_data(b"", is_last=True) == data.decode()
    assert not reader.is_cut


def test_a_paste_that_is_too_long_is_cut_and_says_so() -> None:
    reader = PasteReader()
    reader.receive_data(b"x" * (pastes.PASTE_CHARS_MAX - 1), is_last=False)
    assert is_cut(reader) is False
    reader.receive_data(b"yz", is_last=False)
    text = reader.receive_data(b"more", is_last=True)

    assert is_cut(reader) is True
    assert text is not None
    assert (len(text), text[-1]) == (pastes.PASTE_CHARS_MAX, "y")
    assert reader.receive_data(b"again", is_last=True) == "again"
    assert is_cut(reader) is False


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\n".join("x" * 20), False),
        ("\n".join("x" * 21), True),
        ("x" * pastes.PASTE_CHARS_SHOWN_MAX, False),
        ("x" * (pastes.PASTE_CHARS_SHOWN_MAX + 1), True),
    ],
)
def test_from_where_on_a_placeholder_stands_for_a_paste(text: str, expected: bool) -> None:
    assert is_long(text) is expected
