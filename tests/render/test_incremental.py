"""A stream of Markdown gives out rows that no later text changes."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.render import MarkdownStream, TerminalLook, markdown_rows, row_width
from blockwire.render.incremental import PARAGRAPH_LIVE_CHARS_MAX, normalise_markdown
from tests.render.markdowns import (
    assert_streams_as_whole,
    characters,
    cuts_of,
    documents,
    row_text,
)
from tests.suites import suite_json

LOOKS = [
    TerminalLook(columns=columns, ambiguous_width=ambiguous)
    for columns in (9, 20, 25, 80, 200)
    for ambiguous in (1, 2)
]  # fmt: skip


def fed(*pieces: str, columns: int = 40) -> list[tuple[list[str], str | None]]:
    """Return the rows and the begun row that each piece gives out, and those of the end."""
    stream = MarkdownStream(TerminalLook(columns=columns))
    given_out = [*(stream.feed(piece) for piece in pieces), stream.finish()]
    return [
        ([row_text(row) for row in rows], None if partial is None else row_text(partial))
        for rows, partial in given_out
    ]


def every_cut(source: str) -> list[int]:
    return list(range(1, len(source)))


@pytest.mark.exhaustive
@pytest.mark.requirement("render:append-only:prefix")
@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look.columns}x{look.ambiguous_width}")
def test_every_example_of_commonmark_streams_as_its_whole(look: TerminalLook) -> None:
    for case in suite_json("commonmark/spec.json"):
        assert_streams_as_whole(case["markdown"], look, every_cut(case["markdown"]))


@pytest.mark.requirement("render:append-only:prefix")
@given(st.data(), st.sampled_from(LOOKS))
def test_documents_stream_as_their_whole_wherever_they_are_cut(
    data: st.DataObject, look: TerminalLook
) -> None:
    source = data.draw(documents())

    assert_streams_as_whole(source, look, every_cut(source))
    assert_streams_as_whole(source, look, data.draw(cuts_of(source)))


@pytest.mark.requirement("render:append-only:prefix")
@given(characters(), st.sampled_from(LOOKS))
@example("aaaa bbbb cccc dddd | e\n--- | ---\n", LOOKS[2])
@example("text\n| a | b |\n|---|---|\n", LOOKS[2])
@example("| a | b\n-", LOOKS[2])
@example("- a\n\n\n  b\n- c", LOOKS[2])
@example("1. ```a\n\n\n", LOOKS[2])
@example("  ```\n \t x\n```\r", LOOKS[2])
@example("[a\\] more words here](http://a.b) end", LOOKS[0])
@example("one [1.  1]`code\nmore code here`)*&< ", LOOKS[0])
@example("你好*\n", LOOKS[0])
@example("你好*。*你好", LOOKS[0])
@example("你好&#12290;你好", LOOKS[0])
def test_characters_stream_as_their_whole_wherever_they_are_cut(
    source: str, look: TerminalLook
) -> None:
    assert_streams_as_whole(source, look, every_cut(source))
    assert_streams_as_whole(source, look, [])


@pytest.mark.requirement("render:terminal:fits")
@given(documents() | characters(), st.sampled_from(LOOKS))
def test_no_row_is_wider_than_the_screen_save_for_code(source: str, look: TerminalLook) -> None:
    for row in markdown_rows(normalise_markdown(source), look):
        assert row.is_soft or row_width(row, look) <= look.columns


WAITING: list[tuple[str, str, list[tuple[list[str], str | None]]]] = [
    (
        "words come out as soon as the next one begins",
        "Hello wor^ld and",
        [([], "Hello"), ([], "Hello world"), (["Hello world and"], None)],
    ),
    (
        "a full row is given out when the next one begins",
        "aaaa bbbb cccc dddd eeee ffff gggg hhhh ^iiii jjjj",
        [
            ([], "aaaa bbbb cccc dddd eeee ffff gggg hhhh"),
            (["aaaa bbbb cccc dddd eeee ffff gggg hhhh"], "iiii"),
            (["iiii jjjj"], None),
        ],
    ),
    (
        "M01: a fence is nothing until it is known to be one",
        "`^``^sw^ift\n^let x = 1\n^``^`\n",
        [
            ([], None),
            ([], None),
            ([], None),
            (["  swift"], None),
            (["  let x = 1"], None),
            ([], None),
            ([], None),
            ([], None),
        ],
    ),
    (
        "M02: a hyphen below a title is neither heading nor list yet",
        "Title\n^-^--\n",
        [([], "Title"), ([], "Title"), (["Title", "─────"], None), ([], None)],
    ),
    (
        "items are given out one behind",
        "- one\n^- two\n^\nText",
        [([], None), (["• one"], None), ([], None), (["• two", "", "Text"], None)],
    ),
    (
        "a bracket inside of emphasis may still become a link around its end",
        "so **very [bold** it is ^",
        [([], "so"), ([], "so"), (["so very [bold it is"], None)],
    ),
    (
        "items that come together keep the blank lines of their source",
        "- a\n- b\n\n- c\n\n- d\n^2. e\n3. f\n4. g\n^",
        [
            (["• a", "• b", "", "• c"], None),
            (["", "• d", "", "2. e", "3. f"], None),
            ([], None),
            (["4. g"], None),
        ],
    ),
    (
        "a fence that comes with its first lines shows them",
        "```\nx\ny\n^```",
        [(["  x", "  y"], None), ([], None), ([], None)],
    ),
    (
        "what a delimiter may still enclose waits for its partner",
        "so **very ^bold** it",
        [([], "so"), ([], "so very bold"), (["so very bold it"], None)],
    ),
    (
        "M09: a less-than sign is text, and so is a tag",
        "if 5 < 10 and a<b then <sup>x^</sup> ok",
        [([], "if 5 < 10 and a<b then"), ([], "if 5 < 10 and a<b then <sup>x</sup>"),
         (["if 5 < 10 and a<b then <sup>x</sup> ok"], None)],
    ),
    (
        "a line that begins with a bar may be the head of a table",
        "Text here\n^| b |\n^more\n",
        [([], "Text here"), ([], None), ([], "Text here | b | more"), (["Text here | b | more"], None)],
    ),
    (
        "an empty fence is one empty line of code",
        "```\n```\n^after",
        [([""], None), ([], None), (["", "after"], None)],
    ),
]  # fmt: skip


@pytest.mark.requirement("render:markdown:undecided")
@pytest.mark.parametrize(
    ("source", "expected"), [row[1:] for row in WAITING], ids=[row[0] for row in WAITING]
)
@pytest.mark.case("M01")
@pytest.mark.case("M02")
@pytest.mark.case("M09")
def test_what_later_text_may_change_is_held_back(
    source: str, expected: list[tuple[list[str], str | None]]
) -> None:
    assert fed(*source.split("^")) == expected


def test_a_table_appears_when_it_is_complete() -> None:
    table = "| a |\n|---|\n| 1 |\n"

    before, after, end = fed(table, "\n")

    assert before == ([], None)
    assert after[0] == ["┌───┐", "│ a │", "├───┤", "│ 1 │", "└───┘"]
    assert end == ([], None)


def test_a_paragraph_beyond_the_live_bound_waits_for_its_end() -> None:
    words = "word " * (PARAGRAPH_LIVE_CHARS_MAX // 5)

    begun, beyond, end = fed(words, words)

    assert begun[1] is not None
    assert beyond == ([], None)
    assert [*begun[0], *end[0]] == [("word " * 8).rstrip()] * 409 + ["word word word word"]


def test_a_fence_below_a_long_item_streams_as_its_whole() -> None:
    item = "- a\n" + "\n  more of the item\n" * 300
    source = f"{item}\n```\n" + "x = 1\n" * 200 + "```\nafter"

    assert_streams_as_whole(source, TerminalLook(columns=40), list(range(0, len(source), 101)))


@pytest.mark.parametrize(
    "source",
    [case["markdown"] for case in suite_json("commonmark/spec.json") if "\t" in case["markdown"]],
)
def test_tabs_in_fences_and_lists_are_those_of_the_whole(source: str) -> None:
    assert_streams_as_whole(source, TerminalLook(columns=80), [])


def test_a_carriage_return_alone_ends_a_line_wherever_it_is_cut() -> None:
    assert fed("# a\r", "\n# b\r", "# c\r")[-1] == (["", "c"], None)
    assert fed("a\0b")[-1] == (["a␀b"], None)
