"""Texts that grow are, whenever they are looked at, the lines of the whole."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.render.growth import LIVE_CHARS_MAX, MarkdownLines, ThoughtLines
from blockwire.render.incremental import normalise_markdown
from blockwire.render.layout import BLANK_LINE, FlowLine
from blockwire.render.markdown import markdown_lines
from blockwire.render.spans import LINES_LOOK
from tests.render.markdowns import characters, cuts_of, documents
from tests.suites import suite_json


def assert_grows_as_whole(source: str, cuts: list[int]) -> None:
    """Check the lines after every piece, and that fixed lines stay."""
    grown = MarkdownLines(LINES_LOOK)
    fixed: list[object] = []
    for start, end in pairwise([0, *cuts, len(source)]):
        grown.feed(source[start:end])
        assert grown.fixed[: len(fixed)] == fixed
        fixed = [*grown.fixed]
        if len(source) <= LIVE_CHARS_MAX:
            whole = markdown_lines(normalise_markdown(source[:end]), LINES_LOOK)
            assert [*grown.fixed, *grown.rest] == whole, source[:end]
    grown.finish()
    assert grown.fixed == markdown_lines(normalise_markdown(source), LINES_LOOK)
    assert grown.rest == []


@pytest.mark.exhaustive
@pytest.mark.requirement("render:projector:whole")
@pytest.mark.parametrize("part", range(20))
def test_every_example_of_commonmark_grows_as_its_whole(part: int) -> None:
    for case in suite_json("commonmark/spec.json")[part::20]:
        assert_grows_as_whole(case["markdown"], list(range(1, len(case["markdown"]))))


@pytest.mark.requirement("render:projector:whole")
@given(st.data(), documents() | characters())
def test_markdown_grows_as_its_whole_wherever_it_is_cut(data: st.DataObject, source: str) -> None:
    assert_grows_as_whole(source, data.draw(cuts_of(source)))


CONSTRUCTS = {
    "a link definition": "see [x] and [y][x]\n\n[x]: http://a.b\n\nmore [x]\n",
    "an underlined heading": "Title of\ntwo lines\n===\nwords\n",
    "a loose list": "- a\n\n- b\n\n  more\n- c\n\n1. d\n",
    "a table": "| a | b |\n|:-:|--:|\n| 1 | a wide cell |\n| `2` | **b** |\n\nwords\n",
    "a fence": "```py\nif x:\n\treturn 'a'\n\n```\nwords\n~~~\nopen",
    "HTML": "<div>\n\n*a*\n\n</div>\n<!-- b\n\nc -->\n",
    "quotes in quotes": "> a\n> > b\n> > - c\n>\n> d\n\ne\n",
    "CRLF": "a\r\n\r\n- b\r\n```\r\nc\r\n",
}


@pytest.mark.requirement("render:projector:whole")
@pytest.mark.parametrize("source", CONSTRUCTS.values(), ids=list(CONSTRUCTS))
def test_what_reaches_beyond_its_line_grows_as_its_whole(source: str) -> None:
    assert_grows_as_whole(source, list(range(1, len(source))))


def test_a_long_open_end_is_looked_at_again_when_it_has_grown() -> None:
    grown = MarkdownLines(LINES_LOOK)
    grown.feed("word " * 400)
    before = grown.rest

    grown.feed("more")
    assert grown.rest is before
    grown.feed(" words" * 40)
    assert grown.rest is not before
    assert grown.rest[0].spans[0].text.endswith("more" + " words" * 40)


def thoughts(*pieces: str) -> list[tuple[list[str], list[str]]]:
    """Return the fixed lines and the rest after each piece, and in the end."""
    lines = ThoughtLines(LINES_LOOK, (BLANK_LINE,))
    seen: list[tuple[list[str], list[str]]] = []
    for piece in pieces:
        lines.feed(piece)
        seen.append((_texts(lines.fixed), _texts(lines.rest)))
    lines.finish()
    return [*seen, (_texts(lines.fixed), _texts(lines.rest))]


def _texts(lines: list[FlowLine]) -> list[str]:
    return ["".join(span.text for span in line.spans) for line in lines]


def test_thoughts_have_no_blank_lines_around_them() -> None:
    assert thoughts("\n \n", "a\n", "\n", "b", "\n\n") == [
        ([""], []),
        (["", "thinking", "a"], []),
        (["", "thinking", "a"], []),
        (["", "thinking", "a"], ["", "b"]),
        (["", "thinking", "a", "", "b"], []),
        (["", "thinking", "a", "", "b"], []),
    ]


def test_thoughts_of_one_piece_may_end_anywhere() -> None:
    assert thoughts("a\r", "\nb\r")[-1] == (["", "thinking", "a", "b"], [])
    assert thoughts("a") == [([""], ["thinking", "a"]), (["", "thinking", "a"], [])]


def test_a_long_open_thought_is_looked_at_again_when_it_has_grown() -> None:
    lines = ThoughtLines(LINES_LOOK)
    lines.feed("word " * 400)
    before = lines.rest

    lines.feed("more")
    assert lines.rest is before
    lines.feed(" words" * 40)
    assert lines.rest is not before


@given(st.lists(st.sampled_from(["a", "\n", "\r", " ", "b c", "\n\n"]), max_size=12))
@example(["a", "\r", "\n", "b"])
def test_thoughts_in_pieces_are_those_of_the_whole(pieces: list[str]) -> None:
    assert thoughts(*pieces)[-1] == thoughts("".join(pieces))[-1]
