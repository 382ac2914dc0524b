"""Files: up into a conversation, and down, piece by piece.

Spec: docs/spec/gateway/attachments.md.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import quote

import anyio
import anyio.to_thread
import msgspec
from msgspec import Struct

from blockwire.client.failures import ClientError
from blockwire.client.http import ANSWER_BYTES_MAX
from blockwire.client.transfers import TransferCalls
from blockwire.content import Block, View
from blockwire.content.naming import safe_file_name
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import decode_json

__all__ = ["Attachment", "AttachmentCalls", "FileSource"]

FileSource = str | Path | bytes | AsyncIterable[bytes] | Iterable[bytes]
"""A file to upload: its path, its content, or pieces of that."""

_READ_BYTES: Final = 262_144
_BINARY: Final = "application/octet-stream"


class Attachment(Struct, frozen=True, kw_only=True):
    """What the gateway knows of a file.

    Attributes:
        id: What messages name.
        name: For people.
        media_type: Found by looking at the content.
        size_bytes: Of the content.
        sha256: Of the content, hexadecimal.
        created_at: Unix milliseconds.
    """

    id: str
    name: str
    media_type: str
    size_bytes: int
    sha256: str
    created_at: int

    @property
    def block(self) -> Block:
        """The block that names it, for the content of a question or message."""
        return {
            "type": "attachment",
            "attachment_id": self.id,
            "name": self.name,
            "media_type": self.media_type,
        }


class AttachmentCalls(TransferCalls):
    """The part of :class:`~blockwire.client.AsyncClient` that uploads and downloads files."""

    async def upload(
        self,
        conversation_id: str,
        source: FileSource,
        *,
        name: str | None = None,
        media_type: str | None = None,
    ) -> Attachment:
        """Upload a file; a message that names it keeps it.

        The call never repeats itself. What was uploaded and is named by no message goes after a
        day.

        Args:
            conversation_id: Where it is uploaded.
            source: The file.
            name: How it is called; else as its path says.
            media_type: What it is; the gateway looks, and takes this for a hint.

        Raises:
            ClientError: ``attachment_too_large``, ``quota_exceeded``, ...
            OSError: The file cannot be read.
        """
        http = self._http
        headers = {"accept": "application/json", "content-type": media_type or _BINARY}
        if isinstance(source, str | Path):
            path = anyio.Path(source)
            name = path.name if name is None else name
            headers["content-length"] = str((await path.stat()).st_size)
            content: bytes | AsyncIterable[bytes] = _read_file(path)
        else:
            content = source if isinstance(source, bytes) else _each(source)
        request = http.build(
            "POST",
            f"/v1/conversations/{quote(conversation_id, safe='')}/attachments",
            query={} if name is None else {"name": safe_file_name(name)},
            headers=headers,
            content=content,
            read_s=http.settings.call_s,
        )
        response = await http.send(request)
        try:
            await self._check(response)
            body = await http.read(response, ANSWER_BYTES_MAX)
        finally:
            await response.aclose()
        try:
            return msgspec.convert(decode_json(body), Attachment)
        except (RemoteProtocolError, msgspec.ValidationError) as error:
            detail = f"{http.base_url} answered an upload with something else"
            raise ClientError("invalid_answer", detail) from error

    async def download(
        self, attachment_id: str, *, view: View | None = None, start: int = 0
    ) -> AsyncGenerator[bytes, None]:
        """Yield the content of a file.

        When the connection breaks it goes on where it was, for as long as the file is the same.

        Args:
            attachment_id: Which one.
            view: Ask for less than the caller may see.
            start: The first byte.

        Raises:
            ClientError: ``attachment_not_found``, ...; ``invalid_answer`` where a whole file is
                not what its hash says.
        """
        place = _Place(start)
        failure_count = 0
        while True:
            before = place.offset
            try:
                async for data in self._download_once(attachment_id, view, place):
                    yield data
            except ClientError as error:
                failure_count = 1 if place.offset > before else failure_count + 1
                if not await self._http.pauses_after(error, failure_count):
                    raise
            else:
                break
        if start == 0 and place.is_other_than_its_hash:
            detail = f"{self._http.base_url} sent a file that is not what its hash says"
            raise ClientError("invalid_answer", detail)

    async def _download_once(
        self, attachment_id: str, view: View | None, place: _Place
    ) -> AsyncGenerator[bytes, None]:
        http = self._http
        headers = {"accept": "*/*"}
        if place.offset:
            headers["range"] = f"bytes={place.offset}-"
            if place.etag is not None:
                headers["if-range"] = place.etag
        path = f"/v1/attachments/{quote(attachment_id, safe='')}"
        query = {} if view is None else {"view": view}
        request = http.build("GET", path, query=query, headers=headers, read_s=http.settings.call_s)
        response = await http.send(request)
        try:
            await self._check(response)
            if place.offset and response.status_code != HTTPStatus.PARTIAL_CONTENT:
                # The gateway forgot it, or something between does not do parts.
                detail = f"{http.base_url} did not answer with the part that was asked for"
                raise ClientError("invalid_answer", detail)
            place.etag = response.headers.get("etag")
            chunks = http.chunks(response)
            try:
                async for data in chunks:
                    place.pass_by(data)
                    yield data
            finally:
                await chunks.aclose()
        finally:
            await response.aclose()

    async def download_file(
        self, attachment_id: str, path: str | Path, *, view: View | None = None
    ) -> int:
        """Write the content of a file to ``path``, which it replaces when it is whole.

        Returns its size in bytes.

        Raises:
            ClientError: As of :meth:`download`.
            OSError: It cannot be written.
        """
        target = Path(path)
        descriptor, part = await anyio.to_thread.run_sync(_make_part, target)
        size_bytes = 0
        try:
            with os.fdopen(descriptor, "wb") as file:
                async for data in self.download(attachment_id, view=view):
                    await anyio.to_thread.run_sync(file.write, data)
                    size_bytes += len(data)
            await anyio.Path(part).replace(target)
        except BaseException:
            _drop(part)
            raise
        return size_bytes


class _Place:
    """How far a download has come, and what it was told at its beginning."""

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.etag: str | None = None
        self._hash = hashlib.sha256()

    def pass_by(self, data: bytes) -> None:
        self.offset += len(data)
        self._hash.update(data)

    @property
    def is_other_than_its_hash(self) -> bool:
        return self.etag is not None and self.etag != f'"{self._hash.hexdigest()}"'


def _drop(part: str) -> None:
    with suppress(OSError):
        Path(part).unlink()


def _make_part(target: Path) -> tuple[int, str]:
    return tempfile.mkstemp(prefix=f".{target.name[:64]}.", suffix=".part", dir=target.parent)


async def _read_file(path: anyio.Path) -> AsyncIterator[bytes]:
    async with await anyio.open_file(path, "rb") as file:
        while data := await file.read(_READ_BYTES):
            yield data


async def _each(pieces: AsyncIterable[bytes] | Iterable[bytes]) -> AsyncIterator[bytes]:
    if isinstance(pieces, AsyncIterable):
        async for piece in pieces:
            yield piece
    else:
        for piece in pieces:
            yield piece
