"""What emulators are made of, and how one is chosen."""

from __future__ import annotations

import importlib
import sys
from itertools import product
from typing import Any, Final

import pytest
from pyghostty._ffi import check, ffi, lib

from blockwire.errors import LocalProtocolError
from blockwire.host import emulator as emulator_module
from blockwire.host.emulator import (
    BLANK_ROW,
    Cursor,
    Emulator,
    EmulatorName,
    LiveRow,
    LiveSpan,
    Look,
    LookAttribute,
    ProgramModes,
    SwallowingEmulator,
    best_emulator,
    to_ordinary,
)
from blockwire.host.emulators import ghostty_cells as layout
from blockwire.host.emulators.cells import Cell, row_of_cells
from blockwire.host.emulators.palette import PALETTE
from blockwire.host.emulators.replies import allowed_replies
from blockwire.screen import OrdinaryRow
from blockwire.terminal import Span, Style
from blockwire.terminal.types.styles import is_valid_style
from blockwire.text import width

# --- which


def test_the_first_that_is_installed_is_taken() -> None:
    assert type(best_emulator(10, 4)).__name__ == "GhosttyEmulator"
    assert type(best_emulator(10, 4, name="pyte")).__name__ == "PyteEmulator"


@pytest.mark.parametrize("absent", [None, OSError("no library for this system")])
def test_without_the_native_library_the_other_one_is_taken(
    monkeypatch: pytest.MonkeyPatch, absent: OSError | None
) -> None:
    _without(monkeypatch, {"ghostty": absent})

    assert type(best_emulator(10, 4)).__name__ == "PyteEmulator"


@pytest.mark.parametrize("name", ["auto", "ghostty", "pyte"])
def test_without_any_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, name: EmulatorName
) -> None:
    _without(monkeypatch, {"ghostty": None, "pyte": None})

    with pytest.raises(LocalProtocolError, match=r'pip install "blockwire\[term\]"') as caught:
        best_emulator(10, 4, name=name)

    assert caught.value.code == "emulator_missing"


def _without(monkeypatch: pytest.MonkeyPatch, absent: dict[str, OSError | None]) -> None:
    """Let modules fail to load as Python does: not found, or with the error of their own."""
    importing = importlib.import_module

    def load(path: str) -> Any:
        for name, error in absent.items():
            if path.endswith(f".{name}_emulator"):
                if error is not None:
                    raise error
                monkeypatch.setitem(sys.modules, path, None)
        return importing(path)

    monkeypatch.setattr(emulator_module, "import_module", load)


def test_the_default_colours_do_not_get_into_the_cells() -> None:
    for name in ("ghostty", "pyte"):
        emulator = best_emulator(10, 2, name=name, foreground="#ffffff", background="#102030")
        emulator.feed(b"x")
        assert emulator.live_rows()[0] == LiveRow((LiveSpan("x", Look()),))


def test_one_that_swallows_everything_shows_nothing() -> None:
    emulator: Emulator = SwallowingEmulator(10, 3)

    assert emulator.feed(b"text\r\n\x1b[6n") == b""
    emulator.end_row()
    assert emulator.live_rows() == (BLANK_ROW,) * 3
    assert emulator.rows_in_use() == 1
    assert emulator.cursor == Cursor(0, 0)
    assert emulator.take_scrolled() == []
    assert emulator.take_top(9) == [OrdinaryRow(())] * 3
    assert not emulator.is_wrap_pending
    assert emulator.modes == ProgramModes()
    emulator.resize(4, 2)
    assert (emulator.columns, emulator.rows) == (4, 2)


# --- rows as history

ATTRIBUTES: Final[tuple[LookAttribute, ...]] = (
    "blink", "bold", "curly_underline", "dim", "double_underline", "hidden", "inverse", "italic",
    "overline", "strikethrough", "underline",
)  # fmt: skip

ORDINARY: Final = [
    # span,                                                      as history
    (LiveSpan("x", Look()), Span(text="x")),
    (LiveSpan("a\u202eb", Look()), Span(text="a<U+202E>b")),
    (LiveSpan("secret 中", Look(attributes=("hidden",))), Span(text=" " * 9)),
    (LiveSpan("x", Look(attributes=("blink", "overline"))), Span(text="x")),
    (
        LiveSpan("x", Look("red", "#010203", ("bold", "curly_underline"), "https://a.example/")),
        Span(
            text="x",
            style=Style(
                foreground="red",
                background="#010203",
                attributes=("bold", "underline"),
                link="https://a.example/",
            ),
        ),
    ),
]


@pytest.mark.parametrize(("span", "expected"), ORDINARY)
def test_a_row_becomes_history(span: LiveSpan, expected: Span) -> None:
    assert to_ordinary(LiveRow((span,), is_wrapped=True)) == OrdinaryRow(
        (expected,), is_wrapped=True
    )


def test_every_look_makes_a_valid_style_or_none() -> None:
    links = (None, "mailto:a@b.example")
    for colour, link, attribute in product((None, "blue"), links, (*ATTRIBUTES, None)):
        look = Look(colour, colour, (attribute,) if attribute else (), link)
        (span,) = to_ordinary(LiveRow((LiveSpan("x", look),))).spans
        assert not span.style or is_valid_style(span.style)


# --- cells

FITTED: Final = [
    # cells,                                     ambiguous, text
    ([("a", 1), ("", 1), ("b", 1)], 1, "a b"),
    ([("中", 2), ("x", 1)], 1, "中x"),
    ([("☺", 2), ("x", 1)], 1, "☺ x"),
    ([("中", 1), ("x", 1)], 1, "?x"),
    ([("\u200b", 1), ("x", 1)], 1, "?x"),
    ([("\u0301", 2), ("x", 1)], 1, "? x"),
    ([("─", 1), ("│", 1), ("é", 1), ("—", 1), ("★", 1), ("“", 1)], 2, '-|?-*"'),
    ([("─", 2), ("│", 1)], 2, "─|"),
    ([("a\u202e", 1), ("\x7f", 1), ("x", 1)], 1, "a?x"),
    ([("🇩", 2), ("🇪", 2)], 1, "🇩? "),
    ([("👩", 2), ("\u200d👩", 2), ("x", 1)], 1, "👩? x"),
]


@pytest.mark.requirement("host:emulation:exact-cells")
@pytest.mark.parametrize(("cells", "ambiguous_width", "text"), FITTED)
def test_a_cell_gets_a_text_of_its_width(
    cells: list[tuple[str, int]], ambiguous_width: Any, text: str
) -> None:
    looks = [Look(), Look("red"), Look("red")]
    row = row_of_cells(
        [Cell(*cell, looks[index % 3]) for index, cell in enumerate(cells)],
        ambiguous_width,
        is_wrapped=False,
    )

    shown = "".join(span.text for span in row.spans)
    assert shown == text
    assert width(shown, ambiguous_width=ambiguous_width) == sum(count for _, count in cells)


def test_the_palette_is_that_of_xterm() -> None:
    assert PALETTE[0] == "black"
    assert PALETTE[15] == "bright_white"
    assert [PALETTE[it] for it in (16, 21, 196, 231, 232, 255)] == [
        "#000000", "#0000ff", "#ff0000", "#ffffff", "#080808", "#eeeeee",
    ]  # fmt: skip


def test_replies_of_other_kinds_are_left_out() -> None:
    assert (
        allowed_replies(b"\x1b[?0u\x1b[1;1R\x1bP>|x\x1b\\\x1b[0n\x1b]lt\x1b\\")
        == b"\x1b[1;1R\x1b[0n"
    )
    assert allowed_replies(b"\x1bP!|00000000\x1b\\") == b"\x1bP!|00000000\x1b\\"


# --- the native library

CELL_KINDS: Final = (
    b"x", b"\xe4\xb8\xad", "e\u0301".encode(), b"\x1b[31mx", b"\x1b[1;44mx", b"\x1b[44m\x1b[K",
    b"\x1b[48;2;1;2;3m\x1b[K", b"\x1b]8;;https://a.example/\x1b\\x", "\x1b[31m\U0001f600".encode(), b"",
)  # fmt: skip


@pytest.mark.parametrize("written", CELL_KINDS)
def test_cells_are_laid_out_as_the_library_says(written: bytes) -> None:
    """We take cells apart ourselves: this is what tells that a release has them otherwise."""
    emulator: Any = best_emulator(4, 2, name="ghostty")
    emulator.feed(written)
    emulator._update(overscan=0)
    lib.ghostty_render_state_row_iterator_next(emulator._iterator[0])
    view = ffi.new("GhosttyCellsView *")
    check(
        lib.ghostty_render_state_row_get(
            emulator._iterator[0], lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS_RAW, view
        ),
        "cells",
    )

    for column in range(view.len):
        word = int(view.ptr[column])
        kind = _of_cell(word, "CONTENT_TAG", "GhosttyCellContentTag *")
        assert word & layout._KIND == kind
        assert word >> layout._WIDE_SHIFT & layout._WIDE_ANY == _of_cell(word, "WIDE", "int *")
        assert bool(word & layout._LINK) == _of_cell(word, "HAS_HYPERLINK", "bool *")
        assert word >> layout._STYLE_SHIFT & layout._STYLE_ID == _of_cell(
            word, "STYLE_ID", "uint16_t *"
        )
        if kind < layout._KIND_PALETTE:
            scalar = word >> layout._SCALAR_SHIFT & layout._SCALAR
            assert scalar == _of_cell(word, "CODEPOINT", "uint32_t *")
        elif kind == layout._KIND_PALETTE:
            index = _of_cell(word, "COLOR_PALETTE", "uint8_t *")
            assert layout._read_background(kind, word) == PALETTE[index]
        else:
            rgb = _of_cell(word, "COLOR_RGB", "GhosttyColorRgb *")
            assert layout._read_background(kind, word) == f"#{rgb.r:02x}{rgb.g:02x}{rgb.b:02x}"


def _of_cell(word: int, what: str, ctype: str) -> Any:
    out = ffi.new(ctype)
    check(lib.ghostty_cell_get(word, getattr(lib, f"GHOSTTY_CELL_DATA_{what}"), out), what)
    return out[0]
