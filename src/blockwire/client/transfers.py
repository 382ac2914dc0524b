"""Exports and imports: conversations as files, down and up, piece by piece.

Spec: docs/spec/gateway/exports.md.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable
from http import HTTPStatus
from typing import Final, Literal
from urllib.parse import quote

import httpx
import msgspec
from msgspec import Struct

from blockwire.client.failures import PROTOCOL_HEADER, ClientError, check_protocol, refusal
from blockwire.client.http import ANSWER_BYTES_MAX, REFUSAL_BYTES_MAX, Http
from blockwire.content import View
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import decode_json

__all__ = ["ExportFormat", "ImportResult", "ImportedConversation", "TransferCalls"]

ExportFormat = Literal["markdown", "html", "text", "json", "jsonl"]

_NDJSON: Final = "application/x-ndjson"


class ImportedConversation(Struct, frozen=True, kw_only=True):
    """A conversation that came out of an archive.

    Attributes:
        id: Its id here.
        source_id: Its id in the archive.
        message_count: Its messages.
        attachment_count: Its attachments.
        turns_dropped: Turns that the archive tells of; their messages are kept.
        attachments_renamed: Attachments whose ids were taken here.
        attachments_missing: Attachments that messages name and the archive lacks.
    """

    id: str
    source_id: str
    message_count: int
    attachment_count: int
    turns_dropped: int = 0
    attachments_renamed: int = 0
    attachments_missing: int = 0


class ImportResult(Struct, frozen=True, kw_only=True):
    """What an import led to.

    Attributes:
        conversations: In the order of the archive.
        ignored_lines: How many lines of each unknown type were passed over.
        is_new: False when the same key had made them before.
    """

    conversations: list[ImportedConversation]
    ignored_lines: dict[str, int] = {}
    is_new: bool = True


class TransferCalls:
    """The part of :class:`~blockwire.client.AsyncClient` that exports and imports."""

    _http: Http

    async def export(
        self,
        conversation_id: str,
        export_format: ExportFormat = "jsonl",
        *,
        view: View | None = None,
    ) -> AsyncGenerator[bytes, None]:
        """Yield a conversation as a file, as it is committed now.

        When it raises, what came before is no whole file.

        Args:
            conversation_id: Which one.
            export_format: ``jsonl`` is the archive, which can be imported.
            view: Ask for less than the caller may see.
        """
        http = self._http
        query = {"format": export_format, **({} if view is None else {"view": view})}
        path = f"/v1/conversations/{quote(conversation_id, safe='')}/export"
        request = http.build("GET", path, query=query, headers={}, read_s=http.settings.call_s)
        response = await http.send(request)
        try:
            await self._check(response)
            chunks = http.chunks(response)
            try:
                async for chunk in chunks:
                    yield chunk
            finally:
                await chunks.aclose()
        finally:
            await response.aclose()

    async def import_archive(
        self,
        archive: AsyncIterable[bytes] | Iterable[bytes],
        *,
        idempotency_key: str | None = None,
    ) -> ImportResult:
        """Make the conversations of an archive, all of them or none.

        Args:
            archive: Its bytes, in pieces of any size.
            idempotency_key: The same key and conversations are imported once, so the call may be
                repeated; it never repeats itself.
        """
        http = self._http
        headers = {"accept": "application/json", "content-type": _NDJSON}
        if idempotency_key is not None:
            headers["idempotency-key"] = idempotency_key
        request = http.build(
            "POST", "/v1/import", query={}, headers=headers, content=_each(archive)
        )
        response = await http.send(request)
        try:
            await self._check(response)
            body = await http.read(response, ANSWER_BYTES_MAX)
        finally:
            await response.aclose()
        try:
            result = msgspec.convert(decode_json(body), ImportResult)
        except (RemoteProtocolError, msgspec.ValidationError) as error:
            detail = f"{http.base_url} answered an import with something else"
            raise ClientError("invalid_answer", detail) from error
        is_new = response.status_code == HTTPStatus.CREATED
        return msgspec.structs.replace(result, is_new=is_new)

    async def _check(self, response: httpx.Response) -> None:
        http = self._http
        check_protocol(response.headers.get(PROTOCOL_HEADER), http.base_url)
        if not response.is_success:
            raise refusal(
                response.status_code,
                response.headers,
                await http.read(response, REFUSAL_BYTES_MAX),
                base_url=http.base_url,
                now_ms=http.timing.now_ms(),
            )


async def _each(archive: AsyncIterable[bytes] | Iterable[bytes]) -> AsyncIterator[bytes]:
    if isinstance(archive, AsyncIterable):
        async for piece in archive:
            yield piece
    else:
        for piece in archive:
            yield piece
