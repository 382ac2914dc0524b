"""Values of foreign histories, read without trust.

Spec: docs/spec/gateway/exports.md, "Histories of other programs".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Final

from blockwire.archives.report import HistoryError, Report
from blockwire.content import tool_value
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import SAFE_INTEGER_MAX, Json, decode_json, encode_json
from blockwire.providers.members import is_shallow

__all__ = ["decode_item", "iso_ms", "rest_of", "seconds_ms", "tool_members", "whole_ms"]

DEPTH_MAX: Final = 200
"""Levels of a foreign record; what is deeper than a block may be is kept as text."""

_LONE_HIGH: Final = re.compile(
    rb"(?<!\\)((?:\\\\)*)\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|[c-fC-F][0-9a-fA-F]{2})"
)
_PAIR: Final = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_MS_PER_S: Final = 1000


def decode_item(data: bytes, report: Report, place: str) -> Json:
    """Return the value of one JSON text; half characters in it become U+FFFD, and are reported.

    Raises:
        HistoryError: The codes of :func:`~blockwire.jsontext.decode_json`.
    """
    try:
        return _decoded(data, report, place)
    except RemoteProtocolError as error:
        raise HistoryError(error.code, error.detail) from None


def _decoded(data: bytes, report: Report, place: str) -> Json:
    try:
        return decode_json(data, depth_max=DEPTH_MAX)
    except RemoteProtocolError as error:
        if error.code != "invalid_unicode":
            raise
    report.add("repaired", "half characters", place)
    return decode_json(_mended(data), depth_max=DEPTH_MAX)


def _mended(data: bytes) -> bytes:
    """Return the text with lone surrogates and bytes that are no UTF-8 replaced."""
    pieces: list[bytes] = []
    end = 0
    for pair in _PAIR.finditer(data):
        pieces += (_LONE_HIGH.sub(rb"\1\\ufffd", data[end : pair.start()]), pair.group())
        end = pair.end()
    pieces.append(_LONE_HIGH.sub(rb"\1\\ufffd", data[end:]))
    return b"".join(pieces).decode(errors="replace").encode()


def seconds_ms(value: Json) -> int | None:
    """Return Unix milliseconds of Unix seconds, whole or not; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not isfinite(value):
        return None
    return _bounded(round(value * _MS_PER_S)) if abs(value) < SAFE_INTEGER_MAX else None


def whole_ms(value: Json) -> int | None:
    """Return Unix milliseconds; None for anything else."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return _bounded(value) if type(value) is int else None


def iso_ms(value: Json) -> int | None:
    """Return Unix milliseconds of an ISO 8601 time; one without a zone is UTC. None for others."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        moment = moment.replace(tzinfo=moment.tzinfo or UTC)
        return _bounded(round(moment.timestamp() * _MS_PER_S))
    except (ValueError, OverflowError):
        return None


def _bounded(ms: int) -> int | None:
    return ms if 0 <= ms <= SAFE_INTEGER_MAX else None


def rest_of(record: Mapping[str, Json], *known: str) -> dict[str, Json]:
    """Return what a record says besides ``known``, where it says anything."""
    return {
        name: value
        for name, value in record.items()
        if name not in known and value not in (None, "", [], {})
    }


def tool_members(value: Json, name: str) -> dict[str, Json]:
    """Return the members with which a tool block holds a value, whatever its keys and depth."""
    if isinstance(value, str):
        return {name: value}
    text = encode_json(value)
    return tool_value(text, name) if is_shallow(value) else {name: text.decode()}
