"""Prose in a page, where it is more or other than the CommonMark specification says."""

from __future__ import annotations

import pytest
from hypothesis import given

from blockwire.render.htmlprose import TARGETS_CHARS_MIN, prose_html
from tests.render.markdowns import characters, documents, hostile
from tests.render.pages import page, strict_tree, words
from tests.render.test_linear import Count, parsed  # noqa: F401 - a fixture
from tests.render.turns import block, message

REL = 'rel="noopener noreferrer nofollow"'

SHOWN: list[tuple[str, str, str]] = [
    ("a link", "[a](https://b.c 't')", f'<p><a class="link" href="https://b.c" {REL} title="t">a</a></p>'),
    ("a link that leads nowhere", "[a](/b)", '<p><span class="link">a <span class="target">(/b)</span></span></p>'),
    ("a link without target", "[a]()", '<p><span class="link">a</span></p>'),
    ("a link of another scheme", "<irc://a.b>", '<p><span class="link">irc://a.b</span></p>'),
    ("a host that no name stands for", "[a](https://xn--a)", '<p><span class="link">a <span class="target">(https://xn--a)</span></span></p>'),
    ("words that are another address", "[https://a.b](https://c.d)",
     f'<p><a class="link" href="https://c.d" {REL}>https://a.b</a> <span class="target">(https://c.d)</span></p>'),
    ("words that are another site", "[**bank.com**](https://c.d)",
     f'<p><a class="link" href="https://c.d" {REL}><strong>bank.com</strong></a> <span class="target">(https://c.d)</span></p>'),
    ("words that are another mailbox", "[a@b](mailto:c@d)",
     f'<p><a class="link" href="mailto:c@d" {REL}>a@b</a> <span class="target">(mailto:c@d)</span></p>'),
    ("words that are the site of the address", "[www.a.com](https://a.com/b?c)", f'<p><a class="link" href="https://a.com/b?c" {REL}>www.a.com</a></p>'),
    ("words that are the address in other letters", "<https://a.b/ü>", f'<p><a class="link" href="https://a.b/%C3%BC" {REL}>https://a.b/ü</a></p>'),
    ("a picture", "![a *b*\nc](https://d.e)", f'<p><a class="image" href="https://d.e" {REL}>a b\nc</a></p>'),
    ("a picture in a link", "[![a](https://d.e)](https://f.g)",
     (f'<p><a class="link" href="https://f.g" {REL}><span class="image">a <span class="target">(https://d.e)</span></span></a>'
     ' <span class="target">(https://f.g)</span></p>')),
    ("a picture in the words of a picture", "![a ![b](c)](https://d.e)", f'<p><a class="image" href="https://d.e" {REL}>a b</a></p>'),
    ("a data picture", "![a](data:image/png;base64,AA)", '<p><span class="image">a <span class="target">(data:image/png;base64,AA)</span></span></p>'),
    ("tasks", "- [ ] a\n- [x] *b*\n- [X]\n- [ ]c", ('<ul>\n<li><input type="checkbox" disabled=""> a\n</li>\n'
     '<li><input type="checkbox" disabled="" checked=""> <em>b</em>\n</li>\n<li>[X]\n</li>\n<li>[ ]c\n</li>\n</ul>')),
    ("tasks of a loose list", "1. [ ] a\n\n   [x] b", '<ol>\n<li><p><input type="checkbox" disabled=""> a</p>\n<p>[x] b</p>\n</li>\n</ol>'),
    ("footnotes", "a[^1]\n\n[^1]: b", "<p>a[^1]</p>\n<p>[^1]: b</p>"),
    ("a table", "| a | b | c |\n|---|:-:|--:|\n| 1 | 2 | 3 |",
     ('<div class="table"><table>\n<thead>\n<tr>\n<th>a</th>\n<th class="center">b</th>\n<th class="right">c</th>\n</tr>\n</thead>\n'
     '<tbody>\n<tr>\n<td>1</td>\n<td class="center">2</td>\n<td class="right">3</td>\n</tr>\n</tbody>\n</table></div>')),
    ("struck", "~~a~~", "<p><s>a</s></p>"),
    ("emphasis in emphasis", "*" * 40 + "a" + "*" * 40, "<p>" + "<strong>" * 16 + "a" + "</strong>" * 16 + "</p>"),
    ("controls", "a\x1b[m &#x1b; &#x202e;b\0", "<p>a␛[m � &lt;U+202E&gt;b␀</p>"),
    ("line ends", "a\r\nb\rc", "<p>a\nb\nc</p>"),
    ("a number", "7) a", '<ol start="7">\n<li>a\n</li>\n</ol>'),
    ("nothing", "", ""),
]  # fmt: skip


@pytest.mark.requirement("render:html:links")
@pytest.mark.parametrize(("source", "expected"), [row[1:] for row in SHOWN], ids=[row[0] for row in SHOWN])  # fmt: skip
def test_prose_in_a_page(source: str, expected: str) -> None:
    assert prose_html(source).removesuffix("\n") == expected


@pytest.mark.requirement("render:html:inert")
@given(source=documents() | characters() | hostile())
def test_any_markdown_makes_a_page(source: str) -> None:
    strict_tree(page(message(block("prose", markdown=source))))


@pytest.mark.requirement("render:html:linear")
def test_many_links_to_one_long_address_make_no_long_page() -> None:
    for target, kind in (
        ("https://a.b/" + "u" * 2000, "[x] "),
        ("u" * 50_000, "[x] "),
        ("/", "![x] "),
    ):
        source = f"[x]: {target} '{'t' * 30_000}'\n\n" + kind * 5_000
        html = prose_html(source)

        assert len(html) < 60 * len(kind) * 5_000 + 14 * TARGETS_CHARS_MIN
        assert words(html).count("x") >= 5_000


HOSTILE = (
    "[", "*", "**a ", "> ", "<", "`", "`a", "![", "_a*", "- ", "1. ", "[a](", "~~a", "&", "\\", "|a", "[[]", "<a ", "[^1]", "*a_ ",
    "[a][", "](", "[a]: <", "<!--", "\n> ", "\n- ", "#", "[/1/a]",
)  # fmt: skip


@pytest.mark.requirement("render:html:linear")
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_nesting_makes_a_page_in_proportion(piece: str, parsed: Count) -> None:  # noqa: F811 - the fixture
    sizes: list[tuple[int, int]] = []
    for count in (500, 2_000):
        parsed.chars = 0
        html = prose_html(piece * count)
        sizes.append((len(html), parsed.chars))
        assert max(_depths(html)) < 120
    (small, few), (large, many) = sizes
    assert large <= 4.2 * small + 1_000
    assert few <= 2 * 500 * len(piece) + 10
    assert many <= 2 * 2_000 * len(piece) + 10


def _depths(html: str) -> list[int]:
    depth, depths = 0, [0]
    for tag in html.split("<")[1:]:
        if not tag.startswith(("hr", "br", "input")):
            depth += -1 if tag.startswith("/") else 1
        depths.append(depth)
    return depths


@pytest.mark.requirement("render:html:linear")
def test_a_hundred_thousand_marks_are_shown() -> None:
    for piece, containers in (("`", 0), (">", 32), ("\\", 50_000), ("*", 100_000)):
        assert (
            words(prose_html("x" * (piece == "`") + piece * 100_000)).count(piece)
            >= 100_000 - containers
        )
