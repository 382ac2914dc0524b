"""Colours that can be read, code that is coloured by class, and nothing that is loaded."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.token import Keyword, Token

from blockwire.render import highlight
from blockwire.render.highlight import (
    HIGHLIGHTED_CHARS_MAX,
    LANGUAGES,
    LINE_CHARS_MAX,
    Colours,
    _class_of,
)
from blockwire.render.htmldoc import CONTENT_POLICY
from blockwire.render.stylesheet import CODE_CLASSES, PALETTES, STYLESHEET
from blockwire.text import label_controls
from tests.render.markdowns import characters
from tests.render.pages import page, strict_tree, words
from tests.render.turns import block, message

GROUNDS = ("ground", "raised", "bad-ground")


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2 for ``#rrggbb``."""
    parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.requirement("render:html:contrast")
@pytest.mark.parametrize("theme", PALETTES)
def test_every_text_can_be_read_on_every_ground(theme: str) -> None:
    palette = PALETTES[theme]
    texts = [name for name in palette if name not in {*GROUNDS, "line"}]

    low = {
        (text, ground): contrast(palette[text], palette[ground])
        for text, ground in product(texts, GROUNDS)
        if contrast(palette[text], palette[ground]) < 4.5
    }
    assert low == {}
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_both_themes_name_the_same_colours_and_the_rules_use_no_other() -> None:
    assert PALETTES["light"].keys() == PALETTES["dark"].keys()
    used = set(re.findall(r"var\(--([a-z-]+)\)", STYLESHEET))
    assert used <= PALETTES["light"].keys()
    assert "prefers-color-scheme: dark" in STYLESHEET


@pytest.mark.requirement("render:html:self-contained")
def test_a_page_loads_nothing_and_runs_nothing() -> None:
    html = page(message(block("prose", markdown="hello")), title="hello")
    tree = strict_tree(html)

    policy = [m.get("content") for m in tree.iter("meta") if m.get("http-equiv") == "Content-Security-Policy"]  # fmt: skip
    assert policy == [CONTENT_POLICY]
    assert CONTENT_POLICY.startswith("default-src 'none'")
    assert {"url(", "@import", "http", "</"}.isdisjoint(re.findall(r"url\(|@import|http|</", STYLESHEET.replace('[href^="http"]', "")))  # fmt: skip
    assert {element.tag for element in tree.iter()}.isdisjoint({"script", "link", "img", "iframe"})


@pytest.mark.requirement("render:html:headings")
def test_headings_go_down_without_a_gap_from_the_page_to_the_message_to_its_prose() -> None:
    said = message(block("prose", markdown="".join(f"{'#' * n} h\n\n" for n in range(1, 7))))
    tags = [e.tag for e in strict_tree(page(said)).iter() if re.fullmatch(r"h[1-6]", e.tag)]

    assert tags == ["h1", "h2", "h3", "h4", "h5", "h6", "h6", "h6"]


CODE = 'def f(a: int = 0x1) -> "x":  # c\n\t@d\n\treturn None\r\n<b class="x">&amp;</b>\n/* c */ let x = `a${b}`;\n'


@pytest.mark.requirement("render:html:code")
@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_coloured_code_is_the_code(language: str) -> None:
    html = Colours().html(CODE, language)

    assert words(html) == label_controls(CODE)
    known = set(" ".join(CODE_CLASSES.values()).split())
    assert {span.get("class") for span in strict_tree(html)} <= known


@pytest.mark.requirement("render:html:code")
@given(text=characters() | st.text(), language=st.sampled_from(sorted(set(LANGUAGES.values()))))
def test_any_code_is_shown_whole_in_any_language(text: str, language: str) -> None:
    assert words(Colours().html(text, language)) == label_controls(text)


def test_a_kind_of_code_without_a_class_is_coloured_as_what_it_is_a_kind_of() -> None:
    assert _class_of(Keyword.Of.Some.Language) == "k"
    assert _class_of(Token.Unheard) == ""


@pytest.mark.requirement("render:html:linear")
def test_code_is_coloured_where_it_is_short_and_its_language_known() -> None:
    def is_coloured(code: str, language: str = "python") -> bool:
        return "<span" in Colours().html(code, language)

    assert is_coloured("if x: pass", "Python")
    assert is_coloured("$ ls", "console")
    assert not is_coloured("if x: pass", "brainfuck")
    assert not is_coloured("if x: pass", "")
    long = "if x: pass\n" * (HIGHLIGHTED_CHARS_MAX // 11)
    assert is_coloured(long)
    assert not is_coloured(long + "x" * 11)
    assert is_coloured("if " + "x" * (LINE_CHARS_MAX - 3))
    assert not is_coloured("if " + "x" * (LINE_CHARS_MAX - 2))


@pytest.mark.requirement("render:html:linear")
def test_of_one_message_only_so_much_is_coloured() -> None:
    code = "if x: pass\n" * 400
    fenced = block("prose", markdown=f"```py\n{code}```\n" * 6)
    said = message(fenced, *[block("code", text=code, language="py")] * 6)
    coloured = [pre.find("code/span") is not None for pre in strict_tree(page(said)).iter("pre")]

    assert coloured == [True] * 9 + [False] * 3


def test_a_lexer_that_changes_the_code_does_not_colour_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful:
        def get_tokens(self, code: str) -> list[tuple[object, str]]:
            return [(Keyword, code[1:])]

    monkeypatch.setattr(highlight, "_lexer", lambda _name: Forgetful())
    assert Colours().html("if x", "python") == "if x"
