"""Markdown for tests: fragments that people write, random characters, and how they are streamed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from hypothesis import strategies as st

from blockwire.render import MarkdownStream, Row, TerminalLook, markdown_rows
from blockwire.render.incremental import normalise_markdown

__all__ = [
    "FRAGMENTS",
    "assert_streams_as_whole",
    "characters",
    "cuts_of",
    "documents",
    "hostile",
    "row_text",
]

FRAGMENTS: Final = (
    "Steps: one two three four five\n",
    "- one\n",
    "- two words here\n",
    "\n",
    "Title\n---\n",
    "Other title that goes on\nfor two lines\n===\n",
    "1. a\n",
    "2. b\n",
    "   continued\n",
    "> quoted\n",
    "> - item in a quote\n",
    "```py\n",
    "x = 1\n",
    "\ty = 2\n",
    "```\n",
    "**bold text** and *em* `code` [l](http://x.y/z) tail words here now\n",
    "| a | b |\n|---|--:|\n| 1 | 2 |\n",
    "a long row of words | and a bar\n--- | ---\n",
    "| words | in bars |\n",
    "|---|---|\n",
    "# Heading with words\n",
    "***\n",
    "    indented code\n",
    "你好世界你好世界你好世界你好世界 text\n",
    "snake_case and 2 * 3 * 4 wide\n",
    "* star\n",
    "~~struck~~ `unclosed and more words to come for wrapping\n",
    "\t tab\n",
    "foo  \nbar\\\nbaz baz baz baz\n",
    "====\n",
    "[x]: http://a.b\n",
    "<b>html</b> and &amp; more words\n",
    "+ plus\n\n  paragraph in an item\n",
    "~~~\n",
    "10) ten\n",
    "  - nested\n",
    "…①… ± 10 € and then some\n",
    "crlf\r\n",
    "![picture](http://x.y/p.png) beside words\n",
    "word",
)

_SPECIAL: Final = (*"*_`[]()<>#-+=|\n\n\n\\ ab 12.~!:&;\t\r", "```", "\n\n", "- ", "1. ", "| a |")
_LONGER: Final = ("word ", "longer words here ", "你好", "你好。", "。", "…", "<b>", "http://a.b ")


def documents() -> st.SearchStrategy[str]:
    """Return texts made of whole fragments."""
    return st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=9).map("".join)


def characters() -> st.SearchStrategy[str]:
    """Return texts made of what Markdown takes for markup."""
    return st.lists(st.sampled_from((*_SPECIAL, *_LONGER)), max_size=40).map("".join)


# What begins something that another block could end, or another reader take for something else.
_HOSTILE: Final = (
    "<b>", "</div>", "\n<div>\n", "<!--", "-->", "<?", "<![CDATA[", "<script>", "\n</script>", "<pre>\n", '<a href="', '">',
    "[a]", "[a][a]", "[a]: /u\n", "[a]:", "](", "](<", "![", "[^1]", "[^1]: x\n", "[/1/a]", "`", "``", "\n~~~ <b>\n",
    "| <b> | `<c>` |\n|---|---|\n| <d> |\n", "-|-\n", "\n===\n", "\n---\n", "&lt;", "&#x1b;", "<https://a.b>", "'", '"', "(", ")",
    ":", "\t", "    ", "> ", "\\", "\n",
)  # fmt: skip


def hostile() -> st.SearchStrategy[str]:
    """Return texts made of beginnings and ends of what could reach beyond them."""
    return st.lists(st.sampled_from((*_HOSTILE, *_SPECIAL)), max_size=14).map("".join)


def cuts_of(source: str) -> st.SearchStrategy[list[int]]:
    """Return places at which a text may be cut, in order."""
    return st.lists(st.integers(0, len(source)), max_size=8).map(sorted)


def row_text(row: Row) -> str:
    """Return the characters of one row."""
    return "".join(span.text for span in row.spans)


def _is_beginning(part: Row, row: Row) -> bool:
    """Tell whether the characters of ``part``, styles included, are those with which ``row`` begins."""
    cells = [(char, span.style) for span in row.spans for char in span.text]
    mine = [(char, span.style) for span in part.spans for char in span.text]
    return cells[: len(mine)] == mine


def assert_streams_as_whole(source: str, look: TerminalLook, cuts: Sequence[int]) -> None:
    """Check that what a stream gives out is at every moment the beginning of the whole."""
    whole = markdown_rows(normalise_markdown(source), look)
    stream = MarkdownStream(look)
    rows: list[Row] = []
    begun: Row | None = None
    for start, end in pairwise([0, *cuts, len(source)]):
        new, partial = stream.feed(source[start:end])
        if begun is not None and new:
            assert _is_beginning(begun, new[0])
            begun = None
        rows += new
        assert rows == whole[: len(rows)], source[:end]
        if partial is not None:
            assert _is_beginning(partial, whole[len(rows)]), source[:end]
            assert begun is None or _is_beginning(begun, partial)
            begun = partial
    rows += stream.finish().rows
    assert rows == whole
