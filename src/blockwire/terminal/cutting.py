"""Content data as an application gives it: checked, measured, joined, and cut to messages.

Spec: docs/spec/terminal/application.md, "Joining" and "Bounds". Joining two fragments and
adding the result is the same as adding one after the other; a test holds it for every type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

import msgspec
from msgspec import UNSET

from blockwire.errors import LocalProtocolError, RemoteProtocolError
from blockwire.jsontext import Json
from blockwire.terminal.bounds import MESSAGE_BYTES_MAX
from blockwire.terminal.content import Data, Line, Span
from blockwire.terminal.types import CONTENT_TYPES, fits, read_fragment

__all__ = [
    "ENVELOPE_BYTES_MAX",
    "PIECE_BYTES_MAX",
    "GivenData",
    "cut_data",
    "join_data",
    "json_bytes",
    "read_piece",
    "read_whole",
]

ENVELOPE_BYTES_MAX: Final = 262_144
"""What is left free in a message for all that is not content."""

PIECE_BYTES_MAX: Final = MESSAGE_BYTES_MAX - ENVELOPE_BYTES_MAX
"""JSON bytes of content in one message; longer content is sent in several."""

GivenData: TypeAlias = str | Sequence[Span] | Sequence[Line] | Sequence[Mapping[str, Any]]
"""What a program passes: text, or spans or lines as structs or as their JSON."""

# A scalar takes six bytes at most in JSON (an escape; the longest UTF-8 has four).
_TEXT_CHARS_MAX: Final = (PIECE_BYTES_MAX - 2) // 6
# Of a span or line without its text: a piece holds a few of them whatever they are.
_FRAME_BYTES_MAX: Final = PIECE_BYTES_MAX // 8
_SPAN_CHARS_MAX: Final = PIECE_BYTES_MAX // 2 // 6
# Brackets, names of members, and an empty first line.
_PUNCTUATION_BYTES: Final = 64


def read_whole(type_name: str, value: GivenData) -> Data:
    """Return ``value`` as the content of a Block.

    Raises:
        LocalProtocolError: ``unsupported_content_type``, ``invalid_message`` (not of the schema)
            or ``invalid_content``.
    """
    content_type = CONTENT_TYPES.get(type_name)
    if content_type is None:
        raise LocalProtocolError("unsupported_content_type", f"{type_name} is not known here")
    try:
        data = content_type.read_data(_as_json(value))
    except RemoteProtocolError as error:
        raise LocalProtocolError(error.code, error.detail, pointer=error.pointer) from error
    if (code := content_type.refuse_data(data)) is not None:
        raise LocalProtocolError(code, f"no valid {type_name}")
    return data


def read_piece(type_name: str, value: GivenData) -> Data:
    """Return ``value`` as a fragment or replacement for a Block of this type; it may be empty.

    Raises:
        LocalProtocolError: ``invalid_message`` or ``invalid_content`` (of another type).
    """
    try:
        data = read_fragment(_as_json(value), is_empty_allowed=True)
    except RemoteProtocolError as error:
        raise LocalProtocolError(error.code, error.detail, pointer=error.pointer) from error
    if not fits(type_name, data):
        raise LocalProtocolError("invalid_content", f"no fragment of {type_name}")
    return data


def _as_json(value: GivenData) -> Json:
    if isinstance(value, str):
        return value
    try:
        return cast("Json", msgspec.to_builtins(list(value)))
    except TypeError as error:
        raise LocalProtocolError("invalid_message", "neither text nor spans nor lines") from error


def json_bytes(data: Data) -> int:
    """Return how many bytes ``data`` takes in a message.

    Raises:
        LocalProtocolError: ``invalid_message`` for a lone surrogate, ``content_too_long`` for a
            span or line that is too long for a message with no text in it.
    """
    try:
        size_bytes = len(msgspec.json.encode(data))
    except UnicodeEncodeError as error:
        raise LocalProtocolError("invalid_message", "a lone surrogate is no text") from error
    if size_bytes > _FRAME_BYTES_MAX and not isinstance(data, str):
        for part in data:
            bare = (
                [msgspec.structs.replace(span, text="") for span in (part,)]
                if isinstance(part, Span)
                else [part.layout, *(msgspec.structs.replace(it, text="") for it in part.spans)]
            )
            if any(len(_encoded(it)) > _FRAME_BYTES_MAX for it in bare):
                raise LocalProtocolError("content_too_long", "a style or layout is too long")
    return size_bytes


def _encoded(value: Any) -> bytes:
    return b"" if value is UNSET else msgspec.json.encode(value)


def join_data(fragments: Sequence[Data]) -> Data:
    """Return one fragment that does what ``fragments``, of one type, do one after the other."""
    if len(fragments) == 1:
        return fragments[0]
    if isinstance(fragments[0], str):
        return "".join(cast("Sequence[str]", fragments))
    items = [fragment for fragment in fragments if fragment]
    if not items or isinstance(items[0][0], Span):
        return tuple(span for fragment in items for span in cast("tuple[Span, ...]", fragment))
    return _join_lines(cast("list[tuple[Line, ...]]", items))


def _join_lines(fragments: list[tuple[Line, ...]]) -> tuple[Line, ...]:
    lines: list[Line] = [*fragments[0][:-1]]
    spans = [*fragments[0][-1].spans]
    layout = fragments[0][-1].layout
    for first, *rest in fragments[1:]:
        # It continues the last line, whose layout it may repeat, or choose if there is no text.
        spans += first.spans
        layout = layout if first.layout is UNSET else first.layout
        if rest:
            lines += [Line(spans=tuple(spans), layout=layout), *rest[:-1]]
            spans, layout = [*rest[-1].spans], rest[-1].layout
    return (*lines, Line(spans=tuple(spans), layout=layout))


def cut_data(data: Data) -> list[Data]:
    """Return ``data`` as pieces for one message each: the first whole, the others to extend it."""
    if isinstance(data, str):
        if len(data) <= _TEXT_CHARS_MAX or len(msgspec.json.encode(data)) <= PIECE_BYTES_MAX:
            return [data]
        return [*_cut_text(data, _TEXT_CHARS_MAX)]
    if not data or len(msgspec.json.encode(data)) <= PIECE_BYTES_MAX:
        return [data]
    if isinstance(data[0], Span):
        return [*_pack_spans(data)]
    return [*_pack_lines(data)]


def _cut_text(text: str, chars_max: int) -> Iterator[str]:
    for start in range(0, len(text), chars_max):
        yield text[start : start + chars_max]


def _pack_spans(spans: Iterable[Span]) -> Iterator[tuple[Span, ...]]:
    packed: list[Span] = []
    size_bytes = 0
    for span in spans:
        for text in _cut_text(span.text, _SPAN_CHARS_MAX) if span.text else [""]:
            part = Span(text=text, style=span.style)
            part_bytes = len(msgspec.json.encode(part)) + 1
            if (
                packed
                and size_bytes + part_bytes
                > PIECE_BYTES_MAX - _FRAME_BYTES_MAX - _PUNCTUATION_BYTES
            ):
                yield tuple(packed)
                packed, size_bytes = [], 0
            packed.append(part)
            size_bytes += part_bytes
    if packed:
        yield tuple(packed)


_CONTINUED: Final = Line(spans=())
"""Goes on with the line before and adds nothing."""


def _pack_lines(lines: Iterable[Line]) -> Iterator[tuple[Line, ...]]:
    packed: list[Line] = []
    size_bytes = 0
    for line in lines:
        first = True
        for spans in [*_pack_spans(line.spans)] or [()]:
            part = Line(spans=spans, layout=line.layout if first else UNSET)
            part_bytes = len(msgspec.json.encode(part)) + 1
            if packed and (
                not first or size_bytes + part_bytes > PIECE_BYTES_MAX - _PUNCTUATION_BYTES
            ):
                yield tuple(packed)
                # The first line of a fragment goes on with the last one that is there.
                packed, size_bytes = [_CONTINUED] if first else [], 0
            packed.append(part)
            size_bytes += part_bytes
            first = False
    yield tuple(packed)
