"""Files that came inside of a message, in base64: taken out, so that they become attachments.

Spec: docs/spec/gateway/attachments.md, "Inline content".

Two places are looked at. An ``attachment`` block without an id may carry its content as ``data`` or
as a ``data:`` URL. And the ``output`` of a tool may hold pictures and files in the shapes of the
known APIs, at any depth. Everything else that looks like base64 is text of somebody.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Mapping
from typing import Final, cast
from urllib.parse import unquote_to_bytes

from msgspec import Struct

from blockwire.content.convert import RECORD_SOURCE, source_member
from blockwire.content.filetypes import sniff_type
from blockwire.content.naming import FILE_NAME_DEFAULT, safe_file_name
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json, pointer

__all__ = ["INLINE_MAX", "InlineFile", "extract_inline"]

INLINE_MAX: Final = 100
"""Files that one message may carry."""

_DATA_URL: Final = re.compile(
    r"data:(?P<type>[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+)?(?P<parameters>(?:;[^,;]*)*),",
)
_CARRIERS: Final = ("data", "url")


class InlineFile(Struct, frozen=True, kw_only=True):
    """A file that was taken out of a message.

    Attributes:
        attachment_id: What the message names it now.
        name: For people.
        media_type: Sniffed.
        data: Its content.
    """

    attachment_id: str
    name: str
    media_type: str
    data: bytes


class _Found(Struct, frozen=True):
    """Content in one of the known shapes."""

    data: bytes
    claimed_type: str | None
    name: str | None = None


def extract_inline(
    content: Json, new_id: Callable[[], str], *, place: str = "/content"
) -> tuple[Json, list[InlineFile]]:
    """Return ``content`` with ids instead of inline files, and those files.

    Args:
        content: Of a message, not checked yet; what is no array of blocks comes back as it is.
        new_id: Makes ids of attachments.
        place: JSON Pointer of ``content``.

    Raises:
        RemoteProtocolError: ``invalid_member`` for the content of an ``attachment`` block that is
            neither base64 nor a ``data:`` URL; ``limit_exceeded`` beyond :data:`INLINE_MAX`.
    """
    if not isinstance(content, list):
        return content, []
    extractor = _Extractor(new_id)
    blocks = [
        extractor.read_block(block, place + pointer([index])) if isinstance(block, dict) else block
        for index, block in enumerate(content)
    ]
    return (blocks, extractor.files) if extractor.files else (content, [])


class _Extractor:
    def __init__(self, new_id: Callable[[], str]) -> None:
        self._new_id = new_id
        self.files: list[InlineFile] = []

    def read_block(self, block: dict[str, Json], place: str) -> Json:
        match block.get("type"):
            case "attachment" if "attachment_id" not in block:
                return self._read_attachment(block, place)
            case "tool" if "output" in block:
                return self._read_tool(block)
            case _:
                return block

    def _read_attachment(self, block: dict[str, Json], place: str) -> Json:
        carrier = next((name for name in _CARRIERS if isinstance(block.get(name), str)), None)
        if carrier is None:
            return block
        text = cast("str", block[carrier])
        found = _data_url(text)
        if found is None and carrier == "data":
            data = _base64(text)
            found = None if data is None else _Found(data, None)
        if found is None:
            raise RemoteProtocolError(
                "invalid_member", "expected base64 or a data: URL", pointer=f"{place}/{carrier}"
            )
        claimed, name = block.get("media_type"), block.get("name")
        file = self._take(
            _Found(
                found.data,
                claimed if isinstance(claimed, str) else found.claimed_type,
                name if isinstance(name, str) else None,
            )
        )
        return {**_without(block, *_CARRIERS), **_names(file)}

    def _read_tool(self, block: dict[str, Json]) -> Json:
        first = len(self.files)
        output = self._walk(block["output"])
        taken: list[Json] = [file.attachment_id for file in self.files[first:]]
        if not taken:
            return block
        known = block.get("attachments")
        named = known if isinstance(known, list) else []
        rest = _without(block, source_member("output"))
        return {**rest, "output": output, "attachments": [*named, *taken]}

    def _walk(self, value: Json) -> Json:
        if isinstance(value, list):
            items = [self._walk(item) for item in value]
            return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
        if not isinstance(value, dict):
            return value
        found = _find(value)
        if found is not None:
            return {"type": "attachment", **_names(self._take(found))}
        members = {name: self._walk(member) for name, member in value.items()}
        return members if any(members[name] is not value[name] for name in value) else value

    def _take(self, found: _Found) -> InlineFile:
        if len(self.files) >= INLINE_MAX:
            raise RemoteProtocolError(
                "limit_exceeded", f"a message carries at most {INLINE_MAX} files"
            )
        file = InlineFile(
            attachment_id=self._new_id(),
            name=FILE_NAME_DEFAULT if found.name is None else safe_file_name(found.name),
            media_type=sniff_type(found.data, found.claimed_type),
            data=found.data,
        )
        self.files.append(file)
        return file


def _without(block: Mapping[str, Json], *names: str) -> dict[str, Json]:
    # Source texts hold the same content once more.
    return {key: value for key, value in block.items() if key not in {*names, RECORD_SOURCE}}


def _names(file: InlineFile) -> dict[str, Json]:
    return {
        "attachment_id": file.attachment_id,
        "name": file.name,
        "media_type": file.media_type,
    }


def _find(part: Mapping[str, Json]) -> _Found | None:
    """Return the content of a part in one of the known shapes, or None."""
    match part:
        case {"type": "image_url", "image_url": {"url": str(url)}} | {
            "type": "input_image",
            "image_url": str(url),
        }:
            return _data_url(url)
        case {"type": "input_file", "file_data": str(url), **rest}:
            return _named(_data_url(url), rest.get("filename"))
        case {
            "type": "image" | "document",
            "source": {"type": "base64", "media_type": str(claimed), "data": str(text)},
        }:
            return _claimed(text, claimed)
        case (
            {"type": "image" | "audio", "data": str(text), "mime_type": str(claimed)}
            | {"type": "image" | "audio", "data": str(text), "mimeType": str(claimed)}
            | {"inline_data": {"mime_type": str(claimed), "data": str(text)}}
            | {"inlineData": {"mimeType": str(claimed), "data": str(text)}}
        ):
            return _claimed(text, claimed)
        case {"type": "resource", "resource": {"blob": str(text), **rest}}:
            claimed_type = rest.get("mime_type", rest.get("mimeType"))
            claimed = claimed_type if isinstance(claimed_type, str) else ""
            return _named(_claimed(text, claimed), rest.get("uri"))
        case _:
            return None


def _named(found: _Found | None, name: object) -> _Found | None:
    """Return the content with a name that came beside it."""
    if found is None or not isinstance(name, str):
        return found
    return _Found(found.data, found.claimed_type, name)


def _claimed(text: str, claimed: str) -> _Found | None:
    data = _base64(text)
    return None if data is None else _Found(data, claimed)


def _base64(text: str) -> bytes | None:
    """Return what ``text`` encodes, in either alphabet, with or without padding; None for nothing."""
    plain = text.translate(_ALPHABETS)
    try:
        return binascii.a2b_base64(plain + "=" * (-len(plain) % 4), strict_mode=True)
    except ValueError:
        return None


# Line breaks are dropped; the alphabet for URLs is read as the other one.
_ALPHABETS: Final = {ord("-"): "+", ord("_"): "/", ord("\r"): None, ord("\n"): None}


def _data_url(text: str) -> _Found | None:
    match = _DATA_URL.match(text)
    if match is None:
        return None
    body = text[match.end() :]
    if not match["parameters"].lower().endswith(";base64"):
        return _Found(unquote_to_bytes(body), match["type"])
    data = _base64(unquote_to_bytes(body).decode("latin-1") if "%" in body else body)
    return None if data is None else _Found(data, match["type"])
