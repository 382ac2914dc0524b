"""What a Block holds, and what a content type is: the one contract for all of them.

Spec: docs/spec/terminal/content-types.md. A content type is one module in
:mod:`blockwire.terminal.types` and one row of its registry. The session sees only what is here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final, Literal, NamedTuple, Protocol, TypeAlias, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from blockwire.jsontext import Json

PaletteName: TypeAlias = Literal[
    "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
    "bright_black", "bright_red", "bright_green", "bright_yellow", "bright_blue",
    "bright_magenta", "bright_cyan", "bright_white",
]  # fmt: skip
Attribute: TypeAlias = Literal["bold", "dim", "italic", "underline", "strikethrough", "inverse"]
Wrap: TypeAlias = Literal["word", "character", "none"]
Align: TypeAlias = Literal["left", "center", "right"]

PALETTE_NAMES: Final[tuple[PaletteName, ...]] = get_args(PaletteName)
HEX_COLOUR_PATTERN: Final = "#[0-9a-f]{6}"

# One pattern, since a value cannot be one of two kinds of strings; ``$`` would let a break follow.
Colour: TypeAlias = Annotated[
    str, Meta(pattern=rf"^(?:{HEX_COLOUR_PATTERN}|{'|'.join(PALETTE_NAMES)})\Z")
]
"""``#rrggbb`` or a palette name."""

FragmentShape: TypeAlias = Literal["text", "spans", "lines"]
"""What data of a type is made of, and what its fragments are therefore."""


class Style(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """How a text looks; at least one member is set in a valid one.

    Attributes:
        foreground: ``#rrggbb`` or a palette name.
        background: As ``foreground``.
        attributes: Unique, in any order; not empty.
        link: Absolute http, https or mailto URI.
    """

    foreground: Colour | UnsetType = UNSET
    background: Colour | UnsetType = UNSET
    attributes: tuple[Attribute, ...] | UnsetType = UNSET
    link: str | UnsetType = UNSET


class Span(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A run of text in one style; the text may be empty."""

    text: str
    style: Style | UnsetType = UNSET


class Layout(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """How the terminal lays out one logical line; nothing of it is in the logical text."""

    wrap: Wrap | UnsetType = UNSET
    align: Align | UnsetType = UNSET
    first_prefix: tuple[Span, ...] | UnsetType = UNSET
    rest_prefix: tuple[Span, ...] | UnsetType = UNSET
    fill: Style | UnsetType = UNSET


class Line(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A logical line; its spans hold no line break."""

    spans: tuple[Span, ...]
    layout: Layout | UnsetType = UNSET


Data: TypeAlias = str | tuple[Span, ...] | tuple[Line, ...]
"""Content data of the types that are known here, validated against their schema."""

ContentRefusal: TypeAlias = Literal["invalid_content", "invalid_content_boundary"]


class LogicalLine(NamedTuple):
    """One line of the logical text as a screen wants it.

    Attributes:
        start: Index of its first scalar in the logical text.
        spans: Text and style; the texts joined are the line without its break.
        break_chars: Scalars of the break that ends it: 0 at the end of the text, 2 for CRLF.
        layout: Set for ``text/lines`` only.
    """

    start: int
    spans: tuple[Span, ...]
    break_chars: int
    layout: Layout | None


class Content(Protocol):
    """The content of one Block. Only the session changes it, and only after it was asked.

    Growing takes time in the fragment, amortised; replacing a suffix in what is removed and what
    is added. Nothing takes time in the number of operations before.
    """

    @property
    def scalar_count(self) -> int:
        """Unicode scalar values of the logical text."""

    @property
    def cost_bytes(self) -> int:
        """What it is counted with against the limits; see "Cost" of the page.

        UTF-8 bytes of all texts, prefixes and links, and a fixed price for each style, line and
        layout, so that it never falls far behind the memory that is held.
        """

    def data(self) -> Data:
        """Return it whole, as an update would carry it (normal form where the type has one)."""

    def text(self) -> str:
        """Return the logical text, raw."""

    def lines(self, start: int = 0) -> Iterator[LogicalLine]:
        """Yield the lines from the one that holds scalar ``start``; at least one."""

    def refuse_extend(self, fragment: Data) -> ContentRefusal | None:
        """Return why ``fragment`` cannot be added here; None if it can. Changes nothing."""

    def extend(self, fragment: Data) -> None:
        """Add a fragment that is not refused."""

    def refuse_replace_suffix(self, retain: int, replacement: Data) -> ContentRefusal | None:
        """Return why the end cannot be replaced so; None if it can. Changes nothing."""

    def replace_suffix(self, retain: int, replacement: Data) -> None:
        """Keep ``retain`` scalars and add ``replacement``, which are not refused."""

    def growth_bytes(self, retain: int, added: Data) -> int:
        """Return by how much ``cost_bytes`` would grow; negative if it would shrink.

        Args:
            retain: Scalars that are kept; all of them for an extend.
            added: A fragment or replacement that is not refused.
        """


class ContentType(Protocol):
    """One way to represent content."""

    @property
    def name(self) -> str:
        """As in ``ContentSnapshot.type``."""

    @property
    def shape(self) -> FragmentShape:
        """What its data is made of."""

    def read_data(self, value: Json) -> Data:
        """Return ``value`` as data of this type, if it is that by its schema.

        Raises:
            RemoteProtocolError: ``invalid_message``, with a pointer into ``value``.
        """

    def refuse_data(self, data: Data) -> ContentRefusal | None:
        """Return why data that fits the schema breaks a rule of validity; None if it does not."""

    def new_content(self, data: Data) -> Content:
        """Return the content of a Block, from data that is not refused."""

    def schema(self) -> Json:
        """Return the JSON Schema (2020-12) of its data."""
