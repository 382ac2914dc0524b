"""Lines of code in colours, each by itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.token import Token

from blockwire.render import highlight
from blockwire.render.highlight import LANGUAGES, LINE_CHARS_MAX, line_pieces
from blockwire.render.markdown import markdown_lines
from blockwire.render.spans import LINES_LOOK, TerminalLook
from blockwire.text import label_controls


@given(st.sampled_from(sorted(LANGUAGES)), st.text(max_size=30))
def test_a_coloured_line_is_the_line(language: str, text: str) -> None:
    line = label_controls(text, breaks="label")

    pieces = line_pieces(line, language)

    assert pieces is None or "".join(piece for _use, piece in pieces) == line


def test_a_line_is_coloured_where_its_language_is_known_and_it_is_short() -> None:
    assert line_pieces("if x", "Python") == [("keyword", "if"), ("", " "), ("", "x"), ("", "")]
    assert line_pieces("if x", "brainfuck") is None
    assert line_pieces("x" * (LINE_CHARS_MAX + 1), "python") is None


def test_a_lexer_that_loses_a_character_colours_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Losing:
        def get_tokens(self, text: str) -> list[Any]:
            return [(Token, text[1:])]

    monkeypatch.setattr(highlight, "_lexer", lambda _name: Losing())

    assert line_pieces("if x", "python") is None
    assert highlight.Colours().html("if x", "python") == "if x"


def test_code_has_the_same_colours_in_rows_and_in_lines() -> None:
    def colours(look: TerminalLook) -> set[Any]:
        lines = markdown_lines("```py\nif x:\n```\n", look)
        return {span.style.colour for span in lines[1].spans}

    assert colours(TerminalLook()) == colours(LINES_LOOK) == {"magenta", None}
