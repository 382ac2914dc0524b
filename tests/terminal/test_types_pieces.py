"""The growing text against a string, with chunks so small that everything crosses their edges."""

import re
import sys
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.terminal.types import pieces
from blockwire.terminal.types.pieces import GrowingText, TextLine
from tests.terminal.contents import TEXTS


@pytest.fixture(scope="module", autouse=True)
def _small_chunks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "CHUNK_CHARS", 4)
        patch.setattr(pieces, "WAITING_PIECES_MAX", 2)
        yield


def model_lines(text: str) -> list[TextLine]:
    """Return the lines of ``text`` by another rule: split at breaks, drop what a last one leaves."""
    parts = re.split("(\r\n|\r|\n)", text)
    lines, start = [], 0
    for line, found in zip(parts[::2], [*parts[1::2], ""], strict=True):
        lines.append(TextLine(start, line, len(found)))
        start += len(line) + len(found)
    return lines[:-1] if len(lines) > 1 and not lines[-1].text else lines


CHANGES: Final = st.lists(st.tuples(st.integers(0, 40) | st.none(), TEXTS), max_size=8)


def grown(changes: list[tuple[int | None, str]]) -> tuple[GrowingText, str]:
    growing, text = GrowingText(), ""
    for retain, added in changes:
        if retain is not None:
            growing.cut(min(retain, len(text)))
            text = text[:retain]
        growing.add(added)
        text += added
    return growing, text


@given(CHANGES, st.integers(0, 40), st.integers(0, 40))
@example([(None, "abcd"), (4, ""), (3, "d")], 0, 4)
@example([(None, "abcdefgh"), (8, "")], 8, 8)
def test_it_is_a_string(changes: list[tuple[int | None, str]], start: int, end: int) -> None:
    growing, text = grown(changes)

    assert growing.text() == text
    assert growing.scalar_count == len(text)
    assert growing.utf8_bytes == len(text.encode())
    start, end = sorted((min(start, len(text)), min(end, len(text))))
    assert growing.slice(start, end) == text[start:end]


@given(CHANGES)
@example([(None, "abc\r"), (None, "\nx")])
@example([(None, "abc\r"), (None, "x")])
@example([(None, "abc\r")])
@example([(None, "abcdefg\r\n")])
@example([(None, "\n\n\r\r\n\n")])
def test_lines_end_at_breaks_and_hold_what_stands_in_them(
    changes: list[tuple[int | None, str]],
) -> None:
    growing, text = grown(changes)

    lines = model_lines(text)
    assert list(growing.lines(0)) == lines
    for at in range(len(text) + 2):
        holding = [line for line in lines if line.start <= at][-1]
        assert growing.line_start(at) == holding.start
        assert list(growing.lines(holding.start)) == lines[lines.index(holding) :]


@given(CHANGES)
def test_all_chunks_but_the_last_are_whole_and_few_pieces_wait(
    changes: list[tuple[int | None, str]],
) -> None:
    growing, _text = grown(changes)

    assert {len(growing._piece(index)) for index in range(len(growing._chunks))} <= {4}
    assert sum(map(len, growing._waiting)) == growing._waiting_chars < 4
    assert len(growing._waiting) <= 2


@pytest.mark.parametrize("text", ["a", "é", "漢", "😀", "aaa😀", "aéa漢", "aaaé", "漢漢漢a"])
@pytest.mark.requirement("terminal:types:memory")
def test_no_chunk_takes_more_than_twice_its_utf_8(text: str) -> None:
    growing = GrowingText()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "CHUNK_CHARS", 4_096)
        growing.add((text * 4_096)[: 2 * 4_096])
        held_bytes = sum(map(sys.getsizeof, growing._chunks))
        assert growing.text() == (text * 4_096)[: 2 * 4_096]
        assert growing.slice(4_000, 4_200) == growing.text()[4_000:4_200]
    overhead_bytes = len(growing._chunks) * sys.getsizeof("\U0001f600")
    assert held_bytes <= 2 * growing.utf8_bytes + overhead_bytes
