"""Does what the chat wants done at the gateway and in files, and tells it how that went.

Spec: docs/spec/chat/index.md, "Intents". No decision about the chat is here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol

import anyio

from blockwire.client import AsyncClient, ClientError, Conversation
from blockwire.errors import BlockwireError, LocalProtocolError
from blockwire.tui.chat import Chat
from blockwire.tui.intents import (
    Answerable,
    AnswerRequest,
    Attach,
    Cancel,
    CheckTurn,
    Copy,
    Export,
    Fork,
    Intent,
    ListConversations,
    ListPaths,
    OpenConversation,
    Search,
    Submit,
)

__all__ = ["ChatPlace", "Errands"]

PATHS_MAX: Final = 200
"""Offered for one beginning."""

_SUFFIXES: Final[Mapping[str, str]] = MappingProxyType(
    {"markdown": "md", "html": "html", "text": "txt", "json": "json", "jsonl": "jsonl"}
)


class ChatPlace(Protocol):
    """Where errands are run from."""

    @property
    def client(self) -> AsyncClient:
        """Of the gateway where it is now."""

    def follow(self, conversation_id: str, *, is_new: bool) -> None:
        """Follow the stream of a conversation from now on, and no other."""

    def stop_following(self) -> None:
        """Follow nothing until further notice."""

    def copy(self, text: str) -> bool:
        """Put text on the clipboard, as far as anybody can tell."""

    def now_s(self) -> float:
        """Return the time of the chat."""


class Errands:
    """Runs the intents that have an answer.

    Args:
        chat: Gets the answers.
        place: See there.
    """

    def __init__(self, chat: Chat, place: ChatPlace) -> None:
        self._chat = chat
        self._place = place
        self._creating = anyio.Lock()
        self._created_ids: set[str] = set()
        self._errands: Mapping[type[Any], Callable[[Any], Awaitable[list[Intent] | None]]] = {
            Submit: self._submit,
            Cancel: self._cancel,
            CheckTurn: self._check,
            AnswerRequest: self._answer,
            OpenConversation: self._open,
            Fork: self._fork,
            ListConversations: self._list,
            ListPaths: self._list_paths,
            Attach: self._attach,
            Copy: self._copy,
            Export: self._export,
            Search: self._search,
        }

    async def run(self, intent: Answerable) -> list[Intent]:
        """Do it, and return what the chat wants next."""
        try:
            return await self._errands[type(intent)](intent) or []
        except BlockwireError as error:
            return self._chat.failed(intent, error, now_s=self._place.now_s())
        except OSError as error:
            detail = f"{error.filename or 'the file'}: {error.strerror}"
            told = LocalProtocolError("file_unreadable", detail)
            return self._chat.failed(intent, told, now_s=self._place.now_s())

    # conversations ------------------------------------------------------------------------
    async def _conversation_id(self, named: str | None) -> tuple[str, list[Intent]]:
        """Return the conversation that is named, or a new one."""
        if named is not None:
            return named, []
        async with self._creating:
            # A file on its way may have made one just now.
            if self._chat.conversation_id is not None:
                return self._chat.conversation_id, []
            conversation = await self._place.client.create_conversation()
            self._created_ids.add(conversation.id)
            return conversation.id, self._opened(conversation, is_new=True)

    def _opened(self, conversation: Conversation, *, is_new: bool = False) -> list[Intent]:
        self._place.follow(conversation.id, is_new=is_new)
        return self._chat.opened(conversation, now_s=self._place.now_s())

    async def _open(self, intent: OpenConversation) -> list[Intent]:
        client = self._place.client
        if intent.conversation_id is not None:
            return self._opened(await client.read_conversation(intent.conversation_id))
        async with aclosing(client.list_conversations()) as conversations:
            async for conversation in conversations:
                return self._opened(conversation)
        raise LocalProtocolError("conversation_not_found", "there is no conversation yet")

    async def _fork(self, intent: Fork) -> list[Intent]:
        return self._opened(await self._place.client.fork(intent.conversation_id))

    async def _list(self, intent: ListConversations) -> None:
        found: list[Conversation] = []
        async with aclosing(self._place.client.list_conversations()) as conversations:
            async for conversation in conversations:
                found.append(conversation)
                if len(found) == intent.limit:
                    break
        self._chat.listed(found)

    async def _search(self, intent: Search) -> None:
        self._chat.found(intent, await self._place.client.search_page(intent.query))

    # turns --------------------------------------------------------------------------------
    async def _submit(self, intent: Submit) -> list[Intent]:
        conversation_id, opened = await self._conversation_id(intent.conversation_id)
        content = intent.content if isinstance(intent.content, str) else list(intent.content)
        try:
            turn = await self._place.client.submit(
                conversation_id,
                content,
                idempotency_key=intent.key,
                engine=intent.engine,
                model=intent.model,
            )
        except ClientError as error:
            if error.status is not None and not error.retryable:
                await self._drop_blank(conversation_id)
            raise
        return [*opened, *self._chat.submitted(intent, turn, now_s=self._place.now_s())]

    async def _drop_blank(self, conversation_id: str) -> None:
        """Delete a conversation that was made for a question which the gateway has refused."""
        is_shown = self._chat.conversation_id == conversation_id
        if not (is_shown and conversation_id in self._created_ids and self._chat.is_blank):
            return
        self._place.stop_following()
        self._chat.dropped(conversation_id)
        with suppress(ClientError):
            await self._place.client.delete_conversation(conversation_id)

    async def _cancel(self, intent: Cancel) -> list[Intent]:
        turn = await self._place.client.cancel(intent.conversation_id, intent.turn_id)
        return self._chat.cancelled(intent, turn, now_s=self._place.now_s())

    async def _check(self, intent: CheckTurn) -> list[Intent]:
        turn = await self._place.client.read_turn(intent.conversation_id, intent.turn_id)
        return self._chat.checked(intent, turn, now_s=self._place.now_s())

    async def _answer(self, intent: AnswerRequest) -> list[Intent]:
        await self._place.client.resume(
            intent.conversation_id, intent.turn_id, intent.request_id, intent.answer
        )
        return self._chat.answered(intent, now_s=self._place.now_s())

    # files --------------------------------------------------------------------------------
    async def _attach(self, intent: Attach) -> list[Intent]:
        path = await anyio.Path(intent.path).expanduser()
        if not await path.is_file():
            raise LocalProtocolError("file_unreadable", f"{intent.path} is no file")
        conversation_id, opened = await self._conversation_id(intent.conversation_id)
        row = await self._place.client.upload(conversation_id, Path(path))
        self._chat.attached(intent, row.block)
        return opened

    async def _list_paths(self, intent: ListPaths) -> None:
        folder, _slash, beginning = intent.prefix.rpartition("/")
        root = await anyio.Path(f"{folder}{_slash}" or ".").expanduser()
        names: list[str] = []
        async for entry in root.iterdir():
            name = entry.name
            is_hidden = name.startswith(".") and not beginning.startswith(".")
            if is_hidden or not name.startswith(beginning) or not name.isprintable():
                continue
            names.append(f"{folder}{_slash}{name}{'/' if await entry.is_dir() else ''}")
        self._chat.listed_paths(intent, sorted(names)[:PATHS_MAX])

    async def _export(self, intent: Export) -> None:
        given = intent.path or f"{intent.conversation_id}.{_SUFFIXES[intent.format]}"
        path = await anyio.Path(given).expanduser()
        pieces = self._place.client.export(intent.conversation_id, intent.format)
        try:
            # What is there already is somebody's.
            async with aclosing(pieces), await anyio.open_file(path, "xb") as file:
                try:
                    async for piece in pieces:
                        await file.write(piece)
                except BaseException:
                    with anyio.CancelScope(shield=True):
                        await path.unlink()
                    raise
        except FileExistsError:
            raise LocalProtocolError("file_exists", f"{path} is there already") from None
        except OSError as error:
            detail = f"{path} cannot be written: {error.strerror}"
            raise LocalProtocolError("file_unwritable", detail) from None
        self._chat.told(intent, f"written to {path}")

    async def _copy(self, intent: Copy) -> None:
        if not self._place.copy(intent.text):
            raise LocalProtocolError("clipboard_full", "it is too long for the clipboard")
        self._chat.told(intent, f"copied {intent.what}")
