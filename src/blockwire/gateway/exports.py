"""Exports: a conversation at one committed moment, written piece by piece.

Spec: docs/spec/gateway/exports.md. Above is the route; below are ``archives`` and ``render``.

Whatever its length, an export holds one page of messages and the running answers in memory. Who
may see what is decided here as for every other road, by ``visible_message``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

import anyio.to_thread

from blockwire import __version__
from blockwire.archives import ARCHIVE_MEDIA_TYPE, ATTACHMENT_DATA_BYTES, ArchiveWriter
from blockwire.content import Message, View, visible_message
from blockwire.content.naming import safe_file_name
from blockwire.errors import StoreError
from blockwire.gateway.conversations import ConversationMethods
from blockwire.gateway.shapes import shared_row, shared_shape, turn_shape
from blockwire.gateway.turns.conversation import Conversation, conversation_not_found
from blockwire.jsontext import Json, encode_json
from blockwire.ports import AttachmentRow, ConversationRow, MessageRow, Store

if TYPE_CHECKING:
    from blockwire.render.documents import Document, DocumentFormat

__all__ = ["EXPORT_FORMATS", "Export", "ExportFormat", "ExportMethods", "file_name"]

ExportFormat = Literal["markdown", "html", "text", "json", "jsonl"]
EXPORT_FORMATS: Final[tuple[ExportFormat, ...]] = get_args(ExportFormat)

PAGE_MESSAGES: Final = 200
PAGE_BYTES: Final = 1_048_576
"""JSON of the messages that are read from the store at a time; one always is."""

PIECE_BYTES: Final = 65_536
"""Of one piece, at least, but for the last; a long message is cut into such."""

_TITLE_CHARS_MAX: Final = 80

# Media type and ending of a file's name.
_KINDS: Final[dict[ExportFormat, tuple[str, str]]] = {
    "markdown": ("text/markdown; charset=utf-8", "md"),
    "html": ("text/html; charset=utf-8", "html"),
    "text": ("text/plain; charset=utf-8", "txt"),
    "json": ("application/json", "json"),
    "jsonl": (ARCHIVE_MEDIA_TYPE, "jsonl"),
}

# What some file system takes for more than a character of a name; the rest is `safe_file_name`'s.
_UNSAFE: Final = re.compile(r'[<>:"/\\|?*]+')


class Export(NamedTuple):
    """An export that is about to be written.

    Attributes:
        media_type: Of the whole.
        file_name: A safe name for the file.
        etag: Weak entity tag: another one when anything of it changes.
        pieces: The bytes; close it. When they end with an error, what came before is no whole.
    """

    media_type: str
    file_name: str
    etag: str
    pieces: AsyncGenerator[bytes, None]


class Moment(NamedTuple):
    """A conversation as it was committed at one number.

    Attributes:
        row: What is known of it.
        shape: As routes answer with it.
        seq: The number.
        running: Messages that were not finished, each at its place, in order.
    """

    row: ConversationRow
    shape: dict[str, Json]
    seq: int
    running: tuple[MessageRow, ...]


class ExportMethods(ConversationMethods):
    """The part of :class:`~blockwire.gateway.service.GatewayService` that exports."""

    @asynccontextmanager
    async def exporting(
        self,
        conversation_id: str,
        export_format: ExportFormat,
        *,
        view: View,
        tenant: str | None,
        is_shared: bool = False,
    ) -> AsyncIterator[Export]:
        """Give out an export of the conversation as it is committed now.

        Args:
            conversation_id: Which conversation.
            export_format: In what form.
            view: For whom.
            tenant: Whose conversation it must be.
            is_shared: It is for whoever has a share link.

        Raises:
            RemoteProtocolError: ``conversation_not_found``, also from the pieces when it is
                deleted while they are read.
        """
        async with self._registry.using(conversation_id, tenant) as conversation:
            row = await self.store.load_conversation(conversation_id)
            if row is None or conversation.is_gone:
                raise conversation_not_found()
            # Nothing is awaited here: number, running answers and shape are of one moment.
            shape = self._shape(row, view)
            if is_shared:
                row, shape = shared_row(row), shared_shape(shape)
            moment = Moment(row, shape, conversation.head_seq, running_rows(conversation))
            media_type, ending = _KINDS[export_format]
            source = _Source(self.store, conversation, moment, view)
            async with aclosing(
                _even(self._pieces(source, export_format)),
            ) as pieces:
                yield Export(
                    media_type,
                    file_name(row.title or row.auto_title, row.id, ending),
                    _etag(moment, export_format, view),
                    pieces,
                )

    def _pieces(self, source: _Source, export_format: ExportFormat) -> AsyncGenerator[bytes, None]:
        match export_format:
            case "json":
                return _json_pieces(source)
            case "jsonl":
                return _archive_pieces(source, self._clock.now_ms())
            case _:
                return _document_pieces(source, export_format)


def running_rows(conversation: Conversation) -> tuple[MessageRow, ...]:
    """Return the messages that are not finished, as committed, in conversation order."""
    committed = conversation.committed
    rows = [
        MessageRow(turn.message, conversation.turns[turn_id].row.first_seq, committed.seq)
        for turn_id, turn in committed.running.items()
    ]
    return tuple(sorted(rows, key=lambda row: row.created_seq))


def _etag(moment: Moment, export_format: ExportFormat, view: View) -> str:
    # What is exported follows from these; an archive also says when it was made. The shape holds
    # the system prompt where the view has it: a tag made of it would let others try guesses.
    known: list[Json] = [moment.shape, moment.seq, export_format, view]
    digest = hashlib.blake2b(encode_json([*known, __version__]), digest_size=16)
    return f'W/"{digest.hexdigest()}"'


def file_name(title: str | None, conversation_id: str, ending: str) -> str:
    """Return a name for a file: that of the conversation as far as one may have it, else its id.

    Args:
        title: Any text.
        conversation_id: Any id.
        ending: Without its dot.
    """
    for text in (title or "", conversation_id):
        stem = _UNSAFE.sub("-", text)[:_TITLE_CHARS_MAX].strip("-. ")
        name = safe_file_name(f"{stem}.{ending}")
        # Of a stem that nobody sees nothing is left, and the dot is not its own.
        if stem and name.endswith(f".{ending}"):
            return name
    return f"conversation.{ending}"


class _Source:
    """What one view gets of a conversation at one moment.

    Attributes:
        moment: Which.
        view: For whom.
    """

    def __init__(
        self, store: Store, conversation: Conversation, moment: Moment, view: View
    ) -> None:
        self.moment = moment
        self.view = view
        self.store = store
        self._conversation = conversation

    @property
    def id(self) -> str:
        return self.moment.row.id

    def check_there(self) -> None:
        """Check that what was read was all: of a deleted conversation a store has nothing."""
        if self._conversation.is_gone:
            raise conversation_not_found()

    async def messages(self, *, with_running: bool) -> AsyncGenerator[Message, None]:
        """Yield the messages that the view gets, in conversation order."""
        async with aclosing(self._rows(with_running=with_running)) as rows:
            async for row in rows:
                shown = visible_message(self.view, row.message)
                if shown is not None:
                    yield shown

    async def _rows(self, *, with_running: bool) -> AsyncGenerator[MessageRow, None]:
        running = list(self.moment.running) if with_running else []
        after = 0
        while rows := await self.store.list_messages(
            self.id,
            before_seq=None,
            after_seq=after,
            up_to_seq=self.moment.seq,
            limit=PAGE_MESSAGES,
            bytes_max=PAGE_BYTES,
        ):
            for row in rows:
                while running and running[0].created_seq < row.created_seq:
                    yield running.pop(0)
                yield row
            after = rows[-1].created_seq
        self.check_there()
        for row in running:
            yield row


async def _even(pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Yield the same bytes in pieces of :data:`PIECE_BYTES` to twice that, but for the last."""
    held: list[bytes] = []
    size_bytes = 0
    async with aclosing(pieces):
        async for piece in pieces:
            held.append(piece)
            size_bytes += len(piece)
            if size_bytes < PIECE_BYTES:
                continue
            whole = b"".join(held) if len(held) > 1 else piece
            start = 0
            while size_bytes - start >= 2 * PIECE_BYTES:
                yield whole[start : start + PIECE_BYTES]
                start += PIECE_BYTES
            yield whole[start:] if start else whole
            held, size_bytes = [], 0
    if held:
        yield b"".join(held)


async def _document_pieces(
    source: _Source, document_format: DocumentFormat
) -> AsyncGenerator[bytes, None]:
    row = source.moment.row
    # Parsers of Markdown and HTML: a gateway starts without, and then reads them beside its work.
    await anyio.to_thread.run_sync(import_module, "blockwire.render.documents")
    from blockwire.render.documents import open_document  # noqa: PLC0415

    document = open_document(
        document_format, title=row.title or row.auto_title, created_at=row.created_at
    )
    yield document.head().encode()
    held: list[Message] = []
    size_bytes = 0
    async with aclosing(source.messages(with_running=True)) as messages:
        async for message in messages:
            held.append(message)
            size_bytes += len(encode_json(message))
            if size_bytes >= PIECE_BYTES:
                yield await _rendered(document, held)
                held, size_bytes = [], 0
    yield await _rendered(document, held)
    yield document.tail().encode()


async def _rendered(document: Document, messages: list[Message]) -> bytes:
    """Return messages as a part of the document; a page takes its time, and nobody else's."""

    def render() -> bytes:
        return "".join(map(document.message, messages)).encode()

    return await anyio.to_thread.run_sync(render, abandon_on_cancel=True)


async def _json_pieces(source: _Source) -> AsyncGenerator[bytes, None]:
    head = encode_json({"conversation": source.moment.shape, "seq": source.moment.seq})
    yield head[:-1] + b',"messages":['
    comma = b""
    async with aclosing(source.messages(with_running=True)) as messages:
        async for message in messages:
            yield comma + encode_json(message)
            comma = b","
    yield b"]}\n"


async def _archive_pieces(source: _Source, now_ms: int) -> AsyncGenerator[bytes, None]:
    writer = ArchiveWriter()
    yield writer.start(created_at=now_ms, generator=f"blockwire {__version__}", view=source.view)
    yield writer.start_conversation(_archived(source))
    for attachment in await _attachments(source):
        yield writer.start_attachment(
            {
                name: getattr(attachment, name)
                for name in ("id", "name", "media_type", "size_bytes", "sha256", "created_at")
            }
        )
        async with aclosing(_content(source.store, attachment)) as content:
            async for data in content:
                yield writer.add_data(data)
    async with aclosing(source.messages(with_running=False)) as messages:
        async for message in messages:
            yield writer.add_message(message)
    async with aclosing(_turns(source)) as turns:
        async for turn in turns:
            yield writer.add_turn(turn)
    source.check_there()
    yield writer.end_conversation()
    yield writer.end()


def _archived(source: _Source) -> dict[str, Json]:
    moment = source.moment
    row = moment.row
    members: dict[str, Json | None] = {
        "id": row.id,
        "title": row.title,
        "tags": list(row.tags),
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        # Like a message of role system: the owner's.
        "system": row.system if source.view == "owner" else None,
        "metadata": row.metadata,
        "seq": moment.seq,
        "unfinished_turn_ids": [str(row.message["id"]) for row in moment.running] or None,
    }
    return {name: value for name, value in members.items() if value is not None}


async def _attachments(source: _Source) -> list[AttachmentRow]:
    """Return the attachments that the view gets, oldest first."""
    rows = await source.store.list_attachments(source.id)
    if source.view == "owner":
        return list(rows)
    load = source.store.load_attachment
    return [
        row
        for row in rows
        if await load(row.id, view=source.view, conversation_id=source.id) is not None
    ]


async def _content(store: Store, attachment: AttachmentRow) -> AsyncGenerator[bytes, None]:
    """Yield the bytes of an attachment, all pieces but the last of full size; at least one."""
    offset = 0
    while True:
        data = await store.read_attachment(
            attachment.id, offset=offset, bytes_max=ATTACHMENT_DATA_BYTES
        )
        yield data
        offset += len(data)
        if offset >= attachment.size_bytes:
            return
        if not data:
            raise StoreError("store_corrupt", "an attachment is shorter than it should be")


async def _turns(source: _Source) -> AsyncGenerator[dict[str, Json], None]:
    """Yield the turns that were over, newest first."""
    running = {row.message["id"] for row in source.moment.running}
    cursor: str | None = None
    while True:
        page = await source.store.list_turns(source.id, cursor=cursor, limit=PAGE_MESSAGES)
        for row in page.items:
            if row.id not in running and row.last_seq <= source.moment.seq:
                yield turn_shape(row, view=source.view)
        cursor = page.next_cursor
        if cursor is None:
            return
