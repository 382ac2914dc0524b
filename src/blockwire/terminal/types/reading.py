"""JSON values to texts, spans and lines by their schemas, with the place of what does not fit.

Spec: docs/spec/terminal/content-types.md, "Two kinds of refusals". What a schema can say is said
by the types of :mod:`blockwire.terminal.content`; here stands what those cannot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json, pointer
from blockwire.terminal.content import Attribute, Data, Line, Span
from blockwire.terminal.faults import schema_fault

_T = TypeVar("_T")


def read_text(value: Json) -> str:
    """Return ``value`` if it is a Text; raises as :func:`read_spans`."""
    if isinstance(value, str):
        return value
    raise _refusal("text is a string", [])


def read_spans(value: Json) -> tuple[Span, ...]:
    """Return ``value`` as a SpanList.

    Raises:
        RemoteProtocolError: ``invalid_message``, with the JSON Pointer of what does not fit.
    """
    spans = _read_items(value, tuple[Span, ...])
    for index, span in enumerate(spans):
        if span.style:
            _check_span(span, [index])
    return spans


def read_lines(value: Json) -> tuple[Line, ...]:
    """Return ``value`` as a LineList; raises as :func:`read_spans`."""
    lines = _read_items(value, tuple[Line, ...])
    for index, line in enumerate(lines):
        for place, span in _styled_spans_of(line):
            _check_span(span, [index, *place])
        if line.layout and line.layout.fill and line.layout.fill.attributes:
            _check_attributes(line.layout.fill.attributes, [index, "layout", "fill"])
    return lines


def read_fragment(value: Json, *, is_empty_allowed: bool) -> Data:
    """Return what an extend or a replace_suffix carries: text, spans or lines.

    Args:
        value: JSON.
        is_empty_allowed: Whether no scalar and no element will do; of ``[]`` nobody can say
            whether it means spans or lines, so it comes back as ``()``.

    Raises:
        RemoteProtocolError: ``invalid_message``, with a pointer into ``value``.
    """
    if not value and isinstance(value, str | list) and not is_empty_allowed:
        raise _refusal("a fragment is not empty", [])
    if isinstance(value, str):
        return value
    # The first element says what the rest have to be.
    if isinstance(value, list) and value and isinstance(value[0], dict) and "spans" in value[0]:
        return read_lines(value)
    return read_spans(value)


def _read_items(value: Json, list_type: type[_T]) -> _T:
    try:
        return msgspec.convert(value, list_type)
    except msgspec.ValidationError as error:
        sentence, place = schema_fault(error)
        raise RemoteProtocolError("invalid_message", sentence, pointer=place) from None


def _styled_spans_of(line: Line) -> Iterator[tuple[list[str | int], Span]]:
    for index, span in enumerate(line.spans):
        if span.style:
            yield ["spans", index], span
    if line.layout:
        for name in ("first_prefix", "rest_prefix"):
            for index, span in enumerate(getattr(line.layout, name) or ()):
                yield ["layout", name, index], span


def _check_span(span: Span, tokens: list[str | int]) -> None:
    if span.style and span.style.attributes:
        _check_attributes(span.style.attributes, [*tokens, "style"])


def _check_attributes(attributes: tuple[Attribute, ...], tokens: list[str | int]) -> None:
    if len(set(attributes)) < len(attributes):
        raise _refusal("an attribute is named twice", [*tokens, "attributes"])


def _refusal(sentence: str, tokens: Sequence[str | int]) -> RemoteProtocolError:
    return RemoteProtocolError("invalid_message", sentence, pointer=pointer(tokens))
