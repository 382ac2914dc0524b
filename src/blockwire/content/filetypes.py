"""What kind of file some bytes are, by looking at them.

Spec: docs/spec/gateway/attachments.md, "Types". A claim (a Content-Type, a file's suffix) may only
make a finding more precise, and only to a type that no browser runs.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = [
    "BINARY_TYPE",
    "INLINE_TYPES",
    "TEXT_TYPE",
    "FileSniffer",
    "refine_type",
    "sniff_type",
]

BINARY_TYPE: Final = "application/octet-stream"
"""What nothing is known of."""

TEXT_TYPE: Final = "text/plain"
"""UTF-8 without control characters that text does not have."""

INLINE_TYPES: Final = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
"""Raster images, which browsers may show in place: nothing in them runs."""

# Bytes that decide by themselves, at the start of a file unless an offset is given.
_SIGNATURES: Final[tuple[tuple[int, bytes, str], ...]] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (0, b"II*\x00", "image/tiff"),
    (0, b"MM\x00*", "image/tiff"),
    (0, b"\x00\x00\x01\x00", "image/vnd.microsoft.icon"),
    (0, b"8BPS\x00\x01", "image/vnd.adobe.photoshop"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"%!PS", "application/postscript"),
    (0, b"{\\rtf", "application/rtf"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"PK\x05\x06", "application/zip"),
    (0, b"\x1f\x8b\x08", "application/gzip"),
    (0, b"\xfd7zXZ\x00", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (257, b"ustar", "application/x-tar"),
    (0, b"OggS\x00", "application/ogg"),
    (0, b"fLaC\x00", "audio/flac"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"\xff\xf3", "audio/mpeg"),
    (0, b"\xff\xf2", "audio/mpeg"),
    (0, b"FORM", "audio/aiff"),
    (0, b"MThd\x00\x00\x00\x06", "audio/midi"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
    (0, b"\x00\x01\x00\x00\x00", "font/ttf"),
    (0, b"OTTO\x00", "font/otf"),
    (0, b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (0, b"\x00asm", "application/wasm"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (0, b"PAR1", "application/vnd.apache.parquet"),
)

# Containers: what stands behind their first word says what they hold.
_RIFF: Final[Mapping[bytes, str]] = MappingProxyType(
    {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/vnd.avi"}
)
_BRANDS: Final[Mapping[bytes, str]] = MappingProxyType(
    {
        b"avif": "image/avif",
        b"avis": "image/avif",
        b"heic": "image/heic",
        b"heix": "image/heic",
        b"mif1": "image/heif",
        b"qt  ": "video/quicktime",
        b"M4A ": "audio/mp4",
        b"M4B ": "audio/mp4",
    }
)
_PATTERNS: Final[tuple[tuple[re.Pattern[bytes], str], ...]] = (
    (
        re.compile(rb"BM.{4}\x00{4}.{4}[\x0c\x28\x6c\x7c]\x00{3}", re.DOTALL),
        "image/bmp",
    ),
    (re.compile(rb"BZh[1-9]1AY&SY"), "application/x-bzip2"),
    (re.compile(rb"ID3[\x02-\x04]"), "audio/mpeg"),
    (re.compile(rb"\x1a\x45\xdf\xa3.{0,60}webm", re.DOTALL), "video/webm"),
    (re.compile(rb"\x1a\x45\xdf\xa3"), "video/matroska"),
)

# As much of a file as the signatures look at.
_HEAD_BYTES: Final = 512

# C0 controls that are no part of text, and DEL; escape colours a log, backspace underlines.
_CONTROLS: Final = re.compile("[\x00-\x07\x0b\x0e-\x1a\x1c-\x1f\x7f]")

# What a claim may make of a finding: types that browsers show as text, or not at all.
_REFINEMENTS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        TEXT_TYPE: frozenset(
            {
                "application/json",
                "application/jsonl",
                "application/toml",
                "application/x-ndjson",
                "application/yaml",
                "text/csv",
                "text/markdown",
                "text/tab-separated-values",
                "text/x-diff",
                "text/x-python",
            }
        ),
        "application/zip": frozenset(
            {
                "application/epub+zip",
                "application/vnd.oasis.opendocument.presentation",
                "application/vnd.oasis.opendocument.spreadsheet",
                "application/vnd.oasis.opendocument.text",
                "application/vnd.openxmlformats-officedocument.presentationml.presentation",
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            }
        ),
        "application/x-ole-storage": frozenset(
            {"application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"}
        ),
        "application/ogg": frozenset({"audio/ogg", "video/ogg"}),
    }
)


class FileSniffer:
    """Looks at a file as it passes, in pieces of any size."""

    def __init__(self) -> None:
        self._head = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._is_text = True

    def feed(self, data: bytes) -> None:
        """Look at the next bytes."""
        if len(self._head) < _HEAD_BYTES:
            self._head += data[: _HEAD_BYTES - len(self._head)]
        if self._is_text:
            self._is_text = self._reads_as_text(data, is_end=False)

    def finish(self, claimed: str | None = None) -> str:
        """Return the media type of all that was fed.

        Args:
            claimed: What the sender says it is, in any spelling; parameters are ignored.
        """
        found = _signed_type(self._head)
        if found is None:
            is_text = self._is_text and self._reads_as_text(b"", is_end=True)
            found = TEXT_TYPE if is_text else BINARY_TYPE
        return refine_type(found, claimed)

    def _reads_as_text(self, data: bytes, *, is_end: bool) -> bool:
        try:
            text = self._decoder.decode(data, is_end)
        except UnicodeDecodeError:
            return False
        return _CONTROLS.search(text) is None


def sniff_type(data: bytes, claimed: str | None = None) -> str:
    """Return the media type of a whole file."""
    sniffer = FileSniffer()
    sniffer.feed(data)
    return sniffer.finish(claimed)


def refine_type(found: str, claimed: str | None) -> str:
    """Return ``claimed`` where it only says more precisely what was found, else ``found``."""
    if claimed is None:
        return found
    name = claimed.partition(";")[0].strip().lower()
    return name if name in _REFINEMENTS.get(found, ()) else found


def _signed_type(head: bytes) -> str | None:
    for offset, signature, media_type in _SIGNATURES:
        if head.startswith(signature, offset):
            return media_type
    if head.startswith(b"RIFF"):
        return _RIFF.get(head[8:12])
    if head[4:8] == b"ftyp":
        return _BRANDS.get(head[8:12], "video/mp4")
    patterns = ((pattern, media_type) for pattern, media_type in _PATTERNS if pattern.match(head))
    return next((media_type for _, media_type in patterns), None)
