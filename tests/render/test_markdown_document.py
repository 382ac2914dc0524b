"""Markdown documents: what one block opens, ends with it, for every reader of Markdown."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.render.escapes import code_span, fenced, literal_line, literal_lines
from blockwire.render.htmlprose import prose_html
from blockwire.text import label_controls
from tests.render.foreign import (
    assert_contained,
    assert_reads_the_same,
    contained,
    outline,
    parsed,
    sections,
)
from tests.render.markdowns import characters, documents, hostile
from tests.render.pages import document, strict_tree, words
from tests.render.showcase import SHOWCASE
from tests.render.turns import block, message

SOURCES: list[tuple[str, str, str]] = [
    ("raw HTML", "a <b>x</b> <!-- c --> 1 < 2", r"a \<b>x\</b> \<!-- c --> 1 < 2"),
    ("what is escaped stays", r"\<b> \\<b>", r"\<b> \\\<b>"),
    ("code is not touched", "`<b>` and\n\n    <b>\n\n~~~\n<b>\n~~~", "`<b>` and\n\n    <b>\n\n~~~\n<b>\n~~~"),
    ("an open fence", "```py\nx", "```py\nx\n```"),
    ("an open fence without lines", "~~~~", "~~~~\n~~~~"),
    ("an open fence that ends in blank lines", "```\nx\n\n", "```\nx\n\n```"),
    ("a closed fence", "```\nx\n```  \n", "```\nx\n```  "),
    ("a fence closed by a longer one", "```\nx\n`````", "```\nx\n`````"),
    ("a fence in a quote ends with it", "> ```\n> x", "> ```\n> x"),
    ("headings", "# a\n\n## b #\n\n##### c", "### a\n\n#### b #\n\n###### c"),
    ("an underlined heading", "a\n===", "### a"),
    ("an underlined heading above words", "a\n===\nb", "### a\n\nb"),
    ("an underlined heading of two lines", "a\\\nb *c*\n---", "#### a b *c*"),
    ("an underlined heading that ends in marks", "a #\n===", "### a # ###"),
    ("a heading in a quote is no heading of the document", "> # a", "> # a"),
    ("link definitions", "[a] [b][a] [A][] ![a]\n\n[a]: /u 't'", "[a][/1/a] [b][/1/a] [A][/1/A] ![a][/1/a]\n\n[/1/a]: /u 't'"),
    ("a definition in a quote", "> [a]: /u\n\n[a]", "> [/1/a]: /u\n\n[a][/1/a]"),
    ("a definition of two lines", "[a]\n\n[a]: /u\n  't'", "[a][/1/a]\n\n[/1/a]: /u\n  't'"),
    ("a label of two lines", "[a\nb]\n\n[a b]: /u", "[a\nb][/1/a b]\n\n[/1/a b]: /u"),
    ("a picture in a link", "[![a]](/x)\n\n[a]: /u", "[![a][/1/a]](/x)\n\n[/1/a]: /u"),
    ("a link in a picture", "![x [a]](/x)\n\n[a]: /u", "![x [a][/1/a]](/x)\n\n[/1/a]: /u"),
    ("a label that would name another block's", "[/7/a] [ /1/a] [/b]", r"[\/7/a] [ \/1/a] [/b]"),
    ("footnotes are text", "a[^1]\n\n[^1]: b", "a[\\^1]\n\n[\\^1]\\: b"),
    ("a definition with a mark in its label is text", "[<b>]: /u\n\n[`]: /u", "[\\<b>]\\: /u\n\n[`]\\: /u"),
    ("a target may hold anything", "[a](<b c> '<d>')", "[a](<b c> '<d>')"),
    ("cells", "| <a> | `<b>` \\| <c> |\n|---|---|\n| <d> | <e> | <f> |", "| \\<a> | `<b>` \\| \\<c> |\n|---|---|\n| \\<d> | \\<e> | <f> |"),
    ("items", "- <a>\n  - > <b>", "- \\<a>\n  - > \\<b>"),
    ("what is no target does not become one", "[a](<b\\>)\n\n[a]: <b>(c)", "[a]\\(\\<b\\>)\n\n[a]\\: \\<b>(c)"),
    ("a line of code that others take for HTML", "> `a\n> <div>` b", "> `a <div>` b"),
    ("a line of a title that others take for HTML", "[a](b '\n<div>')\n\n[c]: d '\n<div>'", "[a](b ' <div>')\n\n[/1/c]: d ' <div>'"),
    ("containers that are nested too deeply", "> " * 33 + "- x\n" + "> " * 33 + "1. y", "> " * 32 + "\\> - x\n" + "> " * 32 + "\\> 1. y"),
    ("text below them", "> " * 33 + "- x\ny", "> " * 32 + "\\> - x\ny"),
    ("a quoted title that others take for HTML", "> [c]: d '\n> <div>'\n\n> > [d]: e '\n<p>'", "> [/1/c]: d ' <div>'\n\n> > [/1/d]: e ' <p>'"),
    ("items that are nested too deeply", "1. " * 18, "1. " * 16 + "1\\. 1. "),
    ("controls are labels", "a\x1b[1m\x85", "a␛[1m\\<U+0085>"),
    ("blank", " \n\n", ""),
]  # fmt: skip


@pytest.mark.requirement("render:markdown-document:contained")
@pytest.mark.parametrize(("source", "expected"), [row[1:] for row in SOURCES], ids=[row[0] for row in SOURCES])  # fmt: skip
def test_prose_gets_small_edits(source: str, expected: str) -> None:
    assert contained(source) == expected


@pytest.mark.requirement("render:markdown-document:contained")
@pytest.mark.requirement("render:markdown-document:same")
@given(source=documents() | characters() | hostile())
def test_any_markdown_is_contained_and_reads_the_same(source: str) -> None:
    assert_contained(source)
    assert_reads_the_same(source)


@pytest.mark.requirement("render:markdown-document:contained")
def test_many_edits_of_one_line_or_of_many_take_their_time_only_once() -> None:
    # With work that grows with its square, none of these would end in time.
    for piece in ("<a[^1]", "<a\n", "[a](<b\n", "| <a> ", "> `\n> <div>` <b>", "[x]\\: <", "1. <"):
        source = "[x]: /u\n\n" + piece * (30_000 // len(piece))
        assert len(source) * 0.9 < len(contained(source)) < len(source) * 3


LITERALS: Final = (
    "**not** _this_ `nor` [this](x) ![y] <b> &amp; ~~z~~ | $x$ snake_case 2 * 3",
    "# a\n## b\n- c\n+ d\n1. e\n2) f\n> g\n= h\n---\n***\n```\n~~~",
    "    indented\n\ttab\n\n\nblank lines",
    "http://a.b www.a.b ann@a.b [^1] [x]: y",
    "ends in a backslash\\\nand two blanks  \nend",
    "\x1b]0;t\x07 \u202e",
)


@pytest.mark.requirement("render:markdown-document:literal")
@pytest.mark.parametrize("text", LITERALS)
def test_literal_text_reads_as_it_is(text: str) -> None:
    shown = words(prose_html(literal_lines(text)))
    # Blank lines are one, and blanks at the end of a line are not seen.
    expected = re.sub(
        r"\n{2,}", "\n", re.sub(r"[ \t]+$", "", label_controls(text), flags=re.MULTILINE)
    )

    assert shown.replace("\xa0", " ").rstrip("\n") == expected.replace("\t", "    ")


@pytest.mark.requirement("render:markdown-document:literal")
@given(text=characters() | documents() | st.text())
def test_any_literal_text_reads_as_it_is(text: str) -> None:
    tokens, references = parsed(literal_lines(text))

    assert set(outline(tokens)) <= {"paragraph"}
    assert references == {}
    inline = {child.type for token in tokens for child in token.children or ()}
    assert inline <= {"text", "hardbreak"}
    shown = "".join(words(prose_html(literal_lines(text))).split())
    assert shown == "".join(label_controls(text).split())


@pytest.mark.requirement("render:markdown-document:literal")
@given(text=characters() | st.text())
def test_a_literal_line_and_a_span_of_code_read_as_they_are(text: str) -> None:
    line = label_controls(text, breaks="label", tabs="label")
    for source in (f"> **x** {literal_line(text)}", f"> x {code_span(text)}"):
        tokens, _references = parsed(source)
        assert [token.type for token in tokens] == [
            "blockquote_open", "paragraph_open", "inline", "paragraph_close", "blockquote_close"
        ]  # fmt: skip
        shown = words(prose_html(source)).replace("\n", " ")
        assert shown.split() == ["x", *line.split()]


@pytest.mark.requirement("render:markdown-document:fence")
@given(text=st.text(alphabet="`~ \na<", max_size=30) | st.text(), language=st.text(max_size=9))
def test_no_code_ends_its_fence(text: str, language: str) -> None:
    tokens, _references = parsed(fenced(text, language) + "\n\nnext")

    assert outline(tokens) == ["fence", "paragraph"]
    assert tokens[0].content.removesuffix("\n") == label_controls(text).removesuffix("\n")


KINDS: list[tuple[dict[str, Any], list[str]]] = [
    (block("prose", markdown="a\n\n- b"), ["paragraph", "bullet_list"]),
    (block("code", text="```\nx"), ["fence"]),
    (block("code", text=""), []),
    (block("tool", tool="t", status="running"), ["blockquote"]),
    (block("tool", tool="t", status="running", input={}), ["blockquote"]),
    (block("tool", tool="t", status="failed", input={"a": 1}, error="e"),
     ["html_block", "paragraph", "fence", "paragraph", "fence", "html_block"]),
    (block("reasoning", text="a"), ["html_block", "paragraph", "html_block"]),
    (block("reasoning", text=" "), []),
    (block("error", code="c", message="m", retryable=True), ["blockquote"]),
    (block("notice", code="c", message=""), ["blockquote"]),
    (block("attachment", attachment_id="a", name="n", media_type="m"), ["blockquote"]),
    (block("speech", text="s"), ["blockquote"]),
    (block("chart"), ["blockquote"]),
    (block("chart", fallback_text="f"), ["blockquote"]),
]  # fmt: skip


@pytest.mark.requirement("render:markdown-document:sections")
@pytest.mark.parametrize(("given_block", "kinds"), KINDS, ids=[row[0]["type"] for row in KINDS])
def test_each_type_of_block_has_its_shape(given_block: dict[str, Any], kinds: list[str]) -> None:
    assert sections(document("markdown", [message(given_block)])) == [kinds]


@pytest.mark.requirement("render:markdown-document:sections")
def test_two_blocks_that_would_join_are_parted() -> None:
    pairs = [
        ("- a", "- b", True), ("1. a", "2. b", True), ("- a", "    b", True), ("- a", "  b", True),
        ("    a", "    b", True), ("    a", "b", False), ("- a", "b", False), ("a", "- b", False),
        ("> a", "> b", False), ("| a |\n|---|", "| b |\n|---|", False),
    ]  # fmt: skip
    for first, second, is_parted in pairs:
        said = message(block("prose", markdown=first), block("prose", markdown=second))
        source = document("markdown", [said])

        assert ("<!-- -->" in source) == is_parted
        found = [kind for kind in sections(source)[0] if kind != "html_block"]
        alone = [outline(parsed(contained(text))[0])[0] for text in (first, second)]
        assert found == alone


def test_a_tree_of_the_page_has_the_messages_of_the_markdown_document() -> None:
    source = document("markdown", [found for name in SHOWCASE for found in SHOWCASE[name]])
    tree = strict_tree(prose_html(source))

    assert len(tree.findall("h4")) == sum(map(len, SHOWCASE.values()))
