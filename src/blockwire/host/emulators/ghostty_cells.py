"""Rows of libghostty-vt as rows of spans.

Spec: docs/spec/host/emulation.md, "Rows". Asking the library about each cell costs 27 us. So a row is
read as the 64-bit words that its cells are, and arithmetic on one large integer takes text and
styles out of all of them at once; only where the style changes, the library is asked.

A cell, from its lowest bit: 2 bits of kind, 24 of content, 16 of style, 2 of width, 1 protected, 1 of
link. The library is pinned to a release, and a test compares this with what it says itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, compress, pairwise
from typing import Any, Final

from pyghostty._ffi import check, ffi, lib, union_fn
from pyghostty.core import init_sized

from blockwire.host.emulator import BLANK_ROW, PLAIN_LOOK, LiveRow, LiveSpan, Look, LookAttribute
from blockwire.host.emulators.cells import Cell, row_of_cells, row_of_spans, takes
from blockwire.host.emulators.palette import PALETTE
from blockwire.terminal import is_valid_link
from blockwire.text import AmbiguousWidth

__all__ = ["GhosttyRows"]

CELL_BYTES: Final = 8

# Of one cell; what a row needs is made of it by :func:`_repeated`.
_KIND: Final = 0b11
_SCALAR: Final = 0x1FFFFF
_STYLE_ID: Final = 0xFFFF
_STYLE: Final = _STYLE_ID << 26
_WIDE_ANY: Final = 0b11
_WIDE: Final = _WIDE_ANY << 42
_LINK: Final = 1 << 45
_ANY_STYLE: Final = _KIND | _STYLE | _WIDE | _LINK

_SCALAR_SHIFT: Final = 2
# What no cell of a plain row of ASCII has.
_BEYOND_ASCII: Final = (1 << 64) - 1 ^ 0x7F << _SCALAR_SHIFT
_STYLE_SHIFT: Final = 26
_WIDE_SHIFT: Final = 42

_KIND_CLUSTER: Final = 1
_KIND_PALETTE: Final = 2
_KIND_RGB: Final = 3
_WIDE_FIRST: Final = 1
_WIDE_CHARACTER: Final = chr(_WIDE_FIRST)
# Of the four widths: the others are behind a wide character, or where one did not fit into the row.
_IS_CHARACTER: Final = bytes((1, 1, 0, 0)).ljust(256, b"\0")

_RUN: Final = re.compile(r"(.)\1*+", re.DOTALL)

# Of a link in bytes, as the library keeps it; a longer one is none.
LINK_BYTES_MAX: Final = 16_384
LINKS_KEPT: Final = 256

# Bytes of a style of the library -> look. Few are in use at a time.
LOOKS_KEPT: Final = 4_096

_FLAGS: Final[tuple[tuple[str, LookAttribute], ...]] = (
    ("blink", "blink"),
    ("bold", "bold"),
    ("faint", "dim"),
    ("invisible", "hidden"),
    ("inverse", "inverse"),
    ("italic", "italic"),
    ("overline", "overline"),
    ("strikethrough", "strikethrough"),
)
# Dotted and dashed ones are underlined like others.
_UNDERLINES: Final[dict[int, LookAttribute]] = {
    1: "underline",
    2: "double_underline",
    3: "curly_underline",
    4: "underline",
    5: "underline",
}


@lru_cache(64)
def _repeated(bits: int, count: int) -> int:
    """Return ``bits`` in each of ``count`` cells."""
    return int.from_bytes(bits.to_bytes(CELL_BYTES, "little") * count, "little")


@lru_cache(LOOKS_KEPT)
def _read_style(raw: bytes) -> Look:
    style = ffi.cast("GhosttyStyle *", ffi.from_buffer(raw))
    attributes = [name for flag, name in _FLAGS if getattr(style, flag)]
    if style.underline in _UNDERLINES:
        attributes.append(_UNDERLINES[style.underline])
    return Look(
        _read_colour(style.fg_color), _read_colour(style.bg_color), tuple(sorted(attributes))
    )


def _read_colour(colour: Any) -> str | None:
    if colour.tag == lib.GHOSTTY_STYLE_COLOR_PALETTE:
        return PALETTE[int(colour.value.palette)]
    if colour.tag == lib.GHOSTTY_STYLE_COLOR_RGB:
        rgb = colour.value.rgb
        return f"#{rgb.r:02x}{rgb.g:02x}{rgb.b:02x}"
    return None


class GhosttyRows:
    """Reads rows of one terminal, as its render state has them.

    Args:
        terminal: The terminal of the library.
        ambiguous_width: Cells of an ambiguous character where the rows will be painted.
    """

    def __init__(self, terminal: Any, ambiguous_width: AmbiguousWidth) -> None:
        self._terminal = terminal
        self._ambiguous_width = ambiguous_width
        self._cells_out = ffi.new("GhosttyRenderStateRowCells *")
        check(lib.ghostty_render_state_row_cells_new(ffi.NULL, self._cells_out), "row_cells_new")
        self._cells = ffi.gc(self._cells_out[0], lib.ghostty_render_state_row_cells_free)
        self._view = ffi.new("GhosttyCellsView *")
        self._row = ffi.new("GhosttyRow *")
        self._flag = ffi.new("bool *")
        self._count = ffi.new("uint32_t *")
        self._style = init_sized("GhosttyStyle")
        self._style_bytes = ffi.buffer(self._style)
        self._ref = init_sized("GhosttyGridRef")
        self._point = ffi.new("GhosttyPointS *")
        self._uri = ffi.new("uint8_t[]", LINK_BYTES_MAX)
        self._length = ffi.new("size_t *")
        self._grid_ref = union_fn(
            "ghostty_terminal_grid_ref",
            "GhosttyResult(*)(GhosttyTerminal, GhosttyPointS, GhosttyGridRef*)",
        )

    def read(self, iterator: Any, screen_row: int) -> LiveRow:
        """Return the row on which ``iterator`` stands.

        Args:
            iterator: Of the rows of a render state that is up to date.
            screen_row: Which row it is, counted from the first that the terminal has.
        """
        lib.ghostty_render_state_row_get(
            iterator, lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS_RAW, self._view
        )
        columns = self._view.len
        raw = ffi.buffer(self._view.ptr, columns * CELL_BYTES)[:]
        lib.ghostty_render_state_row_get(iterator, lib.GHOSTTY_RENDER_STATE_ROW_DATA_RAW, self._row)
        lib.ghostty_row_get(self._row[0], lib.GHOSTTY_ROW_DATA_WRAP, self._flag)
        is_wrapped = self._flag[0]
        cells = int.from_bytes(raw, "little")
        if not cells & _repeated(_BEYOND_ASCII, columns):
            # Nearly all rows of most programs.
            row = _read_ascii(cells, columns, is_wrapped=is_wrapped)
            if row is not None:
                return row
        # A scalar that nobody wrote is a blank.
        text = _lanes(cells >> _SCALAR_SHIFT, _SCALAR, columns).replace("\0", " ")
        if not cells & _repeated(_ANY_STYLE, columns) and self._takes(text, columns):
            return row_of_spans([LiveSpan(text, PLAIN_LOOK)], is_wrapped=is_wrapped)
        lib.ghostty_render_state_row_get(
            iterator, lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS, self._cells_out
        )
        spans = None
        if not cells & _repeated(_KIND | _LINK, columns):
            styles = _lanes(cells >> _STYLE_SHIFT, _STYLE_ID, columns)
            wides = ""
            if cells & _repeated(_WIDE, columns):
                wides = _lanes(cells >> _WIDE_SHIFT, _WIDE_ANY, columns)
                is_character = wides.encode().translate(_IS_CHARACTER)
                text, styles, wides = (
                    "".join(compress(lanes, is_character)) for lanes in (text, styles, wides)
                )
            spans = self._spans(text, styles, wides, columns)
        if spans is not None:
            return row_of_spans(spans, is_wrapped=is_wrapped)
        each = self._each(raw, screen_row)
        return row_of_cells(each, self._ambiguous_width, is_wrapped=is_wrapped)

    def _takes(self, text: str, cells: int) -> bool:
        # Nearly always, and asked for every row.
        if text.isascii() and text.isprintable():
            return True
        return takes(text, cells, self._ambiguous_width)

    def _spans(self, text: str, styles: str, wides: str, columns: int) -> list[LiveSpan] | None:
        """Return the spans of characters; None if a text would take other columns than its cells.

        Args:
            text: A character each.
            styles: The number of the style of each.
            wides: Whether it is wide; empty if none is.
            columns: Of the row.
        """
        cells = len(text) + wides.count(_WIDE_CHARACTER)
        if cells > columns or not self._takes(text, cells):
            return None
        spans: list[LiveSpan] = []
        known = PLAIN_LOOK
        start = end = 0
        for run in _RUN.finditer(styles):
            look = self._look(ord(run[1]), end)
            if look != known:
                if end:
                    spans.append(LiveSpan(text[start:end], known))
                start = end
                known = look
            end = run.end()
        spans.append(LiveSpan(text[start:], known))
        return spans if len(spans) == 1 or self._are_exact(text, spans, wides) else None

    def _are_exact(self, text: str, spans: list[LiveSpan], wides: str) -> bool:
        if text.isascii():
            # All of it takes its cells, and no part can take others.
            return True
        ends = list(accumulate([len(span.text) for span in spans], initial=0))
        return all(
            self._takes(span.text, end - start + wides.count(_WIDE_CHARACTER, start, end))
            for span, (start, end) in zip(spans, pairwise(ends), strict=True)
        )

    def _each(self, raw: bytes, screen_row: int) -> Iterator[Cell]:
        """Yield the cells of any row one by one."""
        looks: dict[int, Look] = {}
        for column, word in enumerate(memoryview(raw).cast("Q")):
            wide = word >> _WIDE_SHIFT & _WIDE_ANY
            if wide > _WIDE_FIRST:
                continue
            kind = word & _KIND
            scalar = word >> _SCALAR_SHIFT & _SCALAR
            if kind >= _KIND_PALETTE:
                yield Cell(" ", 1, Look(background=_read_background(kind, word)))
                continue
            style = word >> _STYLE_SHIFT & _STYLE_ID
            look = looks.get(style)
            if look is None:
                look = looks[style] = self._look(style, column)
            if word & _LINK and (link := self._link(column, screen_row)):
                look = look._replace(link=link)
            text = self._cluster(column) if kind == _KIND_CLUSTER else chr(scalar)
            # The library has put a wide one into the only column that there is.
            cells = min(2 if wide else 1, len(raw) // CELL_BYTES - column)
            yield Cell(text if scalar else "", cells, look)

    def _look(self, style: int, column: int) -> Look:
        if not style:
            return PLAIN_LOOK
        lib.ghostty_render_state_row_cells_select(self._cells, column)
        lib.ghostty_render_state_row_cells_get(
            self._cells, lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_STYLE, self._style
        )
        return _read_style(self._style_bytes[:])

    def _cluster(self, column: int) -> str:
        lib.ghostty_render_state_row_cells_select(self._cells, column)
        lib.ghostty_render_state_row_cells_get(
            self._cells, lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_GRAPHEMES_LEN, self._count
        )
        scalars = ffi.new("uint32_t[]", self._count[0])
        lib.ghostty_render_state_row_cells_get(
            self._cells, lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_GRAPHEMES_BUF, scalars
        )
        return "".join(map(chr, scalars))

    def _link(self, column: int, screen_row: int) -> str | None:
        self._point.tag = lib.GHOSTTY_POINT_TAG_SCREEN
        self._point.value.x = column
        self._point.value.y = screen_row
        is_missing = self._grid_ref(self._terminal, self._point[0], self._ref) or (
            lib.ghostty_grid_ref_hyperlink_uri(self._ref, self._uri, LINK_BYTES_MAX, self._length)
        )
        return None if is_missing else _read_link(ffi.buffer(self._uri, self._length[0])[:])


@lru_cache(LINKS_KEPT)
def _read_link(raw: bytes) -> str | None:
    uri = raw.decode("utf-8", "replace")
    return uri if is_valid_link(uri) else None


def _read_background(kind: int, word: int) -> str:
    if kind == _KIND_PALETTE:
        return PALETTE[word >> _SCALAR_SHIFT & 0xFF]
    red, green, blue = (word >> shift & 0xFF for shift in (2, 10, 18))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _read_ascii(cells: int, columns: int, *, is_wrapped: bool) -> LiveRow | None:
    """Return the plain row of cells that hold only ASCII; None if one of it is not printable."""
    data = (cells >> _SCALAR_SHIFT).to_bytes(columns * CELL_BYTES, "little")[::CELL_BYTES]
    if not is_wrapped:
        data = data.rstrip(b"\0 ")
        if not data:
            return BLANK_ROW
    text = data.replace(b"\0", b" ").decode("ascii")
    return LiveRow((LiveSpan(text, PLAIN_LOOK),), is_wrapped) if text.isprintable() else None


def _lanes(cells: int, mask: int, columns: int) -> str:
    """Return what ``mask`` leaves of each cell as a scalar."""
    words = (cells & _repeated(mask, columns)).to_bytes(columns * CELL_BYTES, "little")
    # Two scalars in each word, of which the second is none.
    return words.decode("utf-32-le", "surrogatepass")[::2]
