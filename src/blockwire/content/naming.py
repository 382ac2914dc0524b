"""Which attachments a block or an event names, and names of files that people can be shown.

Spec: docs/spec/gateway/attachments.md, "Holding" and "Names".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final

from blockwire.content.events import (
    BlockCompleted,
    BlockStarted,
    BlockUpdated,
    MessageCreated,
    StreamEvent,
)
from blockwire.content.vocabulary import NAME_CHARS_MAX
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json

__all__ = ["NAMED_MAX", "event_attachments", "named_attachments", "safe_file_name"]

NAMED_MAX: Final = 1000
"""Attachments that one event may name."""

FILE_NAME_DEFAULT: Final = "attachment"

# Bytes of a file's name on most file systems, less what a download adds ("name (2).txt").
_FILE_NAME_BYTES: Final = 240
_SUFFIX_CHARS_MAX: Final = 16

# What acts or hides: controls, format characters (bidi among them), private use, surrogates.
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
_BLANKS: Final = re.compile(r"\s+")


def named_attachments(block: Mapping[str, Json]) -> Iterator[str]:
    """Yield the ids that a block names, of whatever type: ``attachment_id``, ``attachments``."""
    one = block.get("attachment_id")
    if isinstance(one, str):
        yield one
    several = block.get("attachments")
    if isinstance(several, list):
        yield from (name for name in several if isinstance(name, str))


def event_attachments(event: StreamEvent) -> frozenset[str]:
    """Return the ids that ``event`` names.

    Raises:
        RemoteProtocolError: ``limit_exceeded`` beyond :data:`NAMED_MAX`.
    """
    names = frozenset(name for block in _blocks(event) for name in named_attachments(block))
    if len(names) > NAMED_MAX:
        raise RemoteProtocolError(
            "limit_exceeded", f"at most {NAMED_MAX} attachments are named at once"
        )
    return names


def _blocks(event: StreamEvent) -> Iterator[Mapping[str, Json]]:
    match event:
        case MessageCreated(message=message):
            content = message["content"]
            if isinstance(content, list):
                yield from (block for block in content if isinstance(block, dict))
        case BlockStarted(block=block):
            yield block
        case BlockCompleted(block=final) if final is not None:
            yield final
        case BlockUpdated(set=changes):
            yield changes
        case _:
            pass


def safe_file_name(name: str) -> str:
    """Return ``name`` as the name of a file in whatever folder: no path, nothing that hides.

    What stands before the last slash or backslash is dropped, controls and invisible characters are
    dropped, blanks become single spaces. A long name keeps its beginning and its suffix.
    """
    name = re.split(r"[/\\]", name)[-1]
    # Line breaks are blanks before they are controls.
    name = _BLANKS.sub(" ", name)
    name = "".join(char for char in name if unicodedata.category(char) not in _INVISIBLE)
    name = _BLANKS.sub(" ", name)
    # A leading dot hides a file, a trailing one is dropped by some systems, with what it means.
    name = unicodedata.normalize("NFC", name).strip(". ")
    return _shortened(name) or FILE_NAME_DEFAULT


def _shortened(name: str) -> str:
    if len(name) <= NAME_CHARS_MAX and len(name.encode()) <= _FILE_NAME_BYTES:
        return name
    stem, dot, suffix = name.rpartition(".")
    if not stem or len(suffix) > _SUFFIX_CHARS_MAX:
        stem, dot, suffix = name, "", ""
    room_bytes = _FILE_NAME_BYTES - len((dot + suffix).encode())
    stem = stem[:NAME_CHARS_MAX].encode()[:room_bytes].decode("utf-8", "ignore")
    return stem.rstrip(". ") + dot + suffix
