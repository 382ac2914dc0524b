"""Everything that is one question and one answer: conversations, turns, messages, uploads.

Spec: docs/spec/gateway/routes.md.
"""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from http import HTTPStatus
from typing import Any, Final, Literal, TypedDict, Unpack, cast
from urllib.parse import quote

import httpx
from ulid import ULID

from blockwire.client.access import AccessCalls
from blockwire.client.failures import ClientError
from blockwire.client.http import Http
from blockwire.client.settings import ClientSettings
from blockwire.client.shapes import (
    Acknowledgement,
    Capabilities,
    Conversation,
    Turn,
    read_shape,
)
from blockwire.client.timing import SystemTiming, Timing, sleep
from blockwire.client.upload import Events, Upload
from blockwire.content import Block, Message, View
from blockwire.jsontext import Json

__all__ = [
    "DEFAULT_URL",
    "ConversationChanges",
    "GatewayCalls",
    "Order",
    "SubmitOptions",
    "conversation_path",
    "new_key",
    "turn_path",
]

DEFAULT_URL: Final = "http://127.0.0.1:7890"
"""Where `blockwire serve` listens by default (docs/spec/gateway/persistence.md)."""

POLL_PAUSE_S: Final = 1.0
"""Between two reads of a turn for which the gateway does not wait itself."""

Order = Literal["oldest_first", "newest_first"]


class SubmitOptions(TypedDict, total=False):
    """How a question is to be answered; None is the same as nothing.

    Attributes:
        engine: What is to answer; without it the gateway's default.
        model: Which model; without it the engine's default.
        options: For the engine.
        idempotency_key: The same key and question attach to the same turn. Without one a fresh
            one is made, under which the call repeats itself.
    """

    engine: str | None
    model: str | None
    options: Mapping[str, Json] | None
    idempotency_key: str | None


class ConversationChanges(TypedDict, total=False):
    """What an update replaces; None takes a member back, and what is not named stays.

    Attributes:
        title: Its title.
        tags: Its tags, all of them.
        system: System prompt of its turns.
        metadata: What its owner keeps with it, all of it.
    """

    title: str | None
    tags: list[str] | None
    system: str | None
    metadata: dict[str, Json] | None


def new_key() -> str:
    """Return a fresh idempotency key: no counter that begins anew could ever repeat one."""
    return f"key_{ULID()}"


class GatewayCalls(AccessCalls):
    """The calls of :class:`~blockwire.client.AsyncClient`, which adds the streams."""

    def __init__(  # noqa: PLR0913 - where, as whom, how patiently
        self,
        base_url: str = DEFAULT_URL,
        *,
        token: str | None = None,
        settings: ClientSettings | None = None,
        timing: Timing | None = None,
        random: Callable[[], float] = random.random,  # noqa: S311 - spreads pauses, hides nothing
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._settings = settings if settings is not None else ClientSettings()
        self._timing: Timing = timing if timing is not None else SystemTiming()
        self._http = Http(
            base_url,
            token=token,
            settings=self._settings,
            timing=self._timing,
            random=random,
            transport=transport,
        )

    @property
    def base_url(self) -> str:
        """The gateway's URL, without a slash at its end."""
        return self._http.base_url

    # the gateway --------------------------------------------------------------------------
    async def health(self) -> bool:
        """Return True when the gateway is alive. Asks once, without repetition."""
        await self._http.call("GET", "/healthz", is_repeatable=False)
        return True

    async def capabilities(self) -> Capabilities:
        """Return versions, engines and bounds of the gateway."""
        answer = await self._http.call("GET", "/v1/capabilities")
        return read_shape(Capabilities, answer.value)

    # conversations ------------------------------------------------------------------------
    async def create_conversation(self, **members: Unpack[ConversationChanges]) -> Conversation:
        """Return a new conversation; all of its members may be missing."""
        body = {name: value for name, value in members.items() if value is not None}
        answer = await self._http.call("POST", "/v1/conversations", body=cast("Json", body))
        return read_shape(Conversation, answer.value)

    async def list_conversations(self) -> AsyncGenerator[Conversation, None]:
        """Yield all conversations, newest first."""
        async with aclosing(self._items("/v1/conversations")) as items:
            async for item in items:
                yield read_shape(Conversation, item)

    async def read_conversation(self, conversation_id: str) -> Conversation:
        """Return a conversation."""
        answer = await self._http.call("GET", conversation_path(conversation_id))
        return read_shape(Conversation, answer.value)

    async def update_conversation(
        self, conversation_id: str, **changes: Unpack[ConversationChanges]
    ) -> Conversation:
        """Return the conversation after ``changes``; see :class:`ConversationChanges`."""
        path = conversation_path(conversation_id)
        answer = await self._http.call("PATCH", path, body=cast("Json", changes))
        return read_shape(Conversation, answer.value)

    async def delete_conversation(self, conversation_id: str) -> None:
        """Delete a conversation: nothing of it is left."""
        await self._http.call("DELETE", conversation_path(conversation_id))

    async def fork(
        self, conversation_id: str, *, turn_id: str | None = None, title: str | None = None
    ) -> Conversation:
        """Return a new conversation with the messages of this one.

        Args:
            conversation_id: Which.
            turn_id: Up to and with this turn; None takes all that is over.
            title: Of the new one; None takes that of the other.
        """
        named = {"turn_id": turn_id, "title": title}
        body: dict[str, Json] = {name: text for name, text in named.items() if text is not None}
        answer = await self._http.call(
            "POST", f"{conversation_path(conversation_id)}/fork", body=body
        )
        return read_shape(Conversation, answer.value)

    # turns --------------------------------------------------------------------------------
    async def submit(
        self,
        conversation_id: str,
        content: str | Iterable[Block],
        **options: Unpack[SubmitOptions],
    ) -> Turn:
        """Submit a question and return its turn, which has only begun, or waits in line.

        Args:
            conversation_id: Where.
            content: Text, or blocks.
            options: See :class:`SubmitOptions`.
        """
        path = f"{conversation_path(conversation_id)}/turns"
        return await self._submit(path, {"content": _content(content)}, options)

    async def retry(
        self, conversation_id: str, turn_id: str, **options: Unpack[SubmitOptions]
    ) -> Turn:
        """Ask the question of a turn that is over once more, and return the new turn.

        What ``options`` do not say (see :class:`SubmitOptions`) stays as it was.
        """
        return await self._submit(f"{turn_path(conversation_id, turn_id)}/retry", {}, options)

    async def _submit(self, path: str, body: Mapping[str, Json], options: SubmitOptions) -> Turn:
        members: dict[str, Any] = dict(options)
        key = members.pop("idempotency_key", None) or new_key()
        more = {name: value for name, value in members.items() if value is not None}
        answer = await self._http.call(
            "POST",
            path,
            body={**body, **more},
            headers={"idempotency-key": key},
            is_repeatable=True,
        )
        epoch = answer.headers.get("blockwire-epoch", "")
        return read_shape(
            Turn,
            answer.value,
            is_new=answer.status == HTTPStatus.ACCEPTED,
            epoch=int(epoch) if epoch.isascii() and epoch.isdecimal() else None,
        )

    async def list_turns(self, conversation_id: str) -> AsyncGenerator[Turn, None]:
        """Yield all turns without their messages, newest first."""
        async with aclosing(self._items(f"{conversation_path(conversation_id)}/turns")) as items:
            async for item in items:
                yield read_shape(Turn, item)

    async def read_turn(
        self, conversation_id: str, turn_id: str, *, view: View | None = None
    ) -> Turn:
        """Return a turn with its message as it stands."""
        return await self._read_turn(conversation_id, turn_id, view=view, wait_s=0.0)

    async def wait_turn(
        self,
        conversation_id: str,
        turn_id: str,
        *,
        wait_s: float | None = None,
        view: View | None = None,
    ) -> Turn:
        """Return a turn once it is over, or waits for a person.

        Args:
            conversation_id: Where.
            turn_id: Which one.
            wait_s: Return the turn as it stands after so many seconds; None waits for ever.
            view: Ask for less than the caller may see.
        """
        timing = self._timing
        end_s = None if wait_s is None else timing.monotonic_s() + wait_s
        while True:
            asked_s = timing.monotonic_s()
            left_s = self._settings.wait_s if end_s is None else max(end_s - asked_s, 0.0)
            turn = await self._read_turn(
                conversation_id, turn_id, view=view, wait_s=min(left_s, self._settings.wait_s)
            )
            if turn.is_over or turn.status == "suspended" or not left_s:
                return turn
            if timing.monotonic_s() - asked_s < POLL_PAUSE_S:
                await sleep(timing, min(POLL_PAUSE_S, left_s))

    async def cancel(self, conversation_id: str, turn_id: str) -> Turn:
        """End a turn and return it; one that waits in line is handed back."""
        answer = await self._http.call("POST", f"{turn_path(conversation_id, turn_id)}/cancel")
        return read_shape(Turn, answer.value)

    async def resume(
        self, conversation_id: str, turn_id: str, request_id: str, answer: Json
    ) -> Turn:
        """Answer the request of a suspended turn and return the turn, which goes on."""
        answered = await self._http.call(
            "POST",
            f"{turn_path(conversation_id, turn_id)}/resume",
            body={"request_id": request_id, "answer": answer},
        )
        return read_shape(Turn, answered.value)

    async def post_events(  # noqa: PLR0913 - whose events, from where on
        self,
        conversation_id: str,
        turn_id: str,
        events: Events,
        *,
        epoch: int | None = None,
        producer_seq: int = 0,
        on_acknowledged: Callable[[Acknowledgement], None] | None = None,
    ) -> Acknowledgement:
        """Post the events of a turn that runs here and not in the gateway, each exactly once.

        Args:
            conversation_id: Where.
            turn_id: Which turn; its engine is ``external``.
            events: Without numbers, in order; taken as fast as the gateway commits them.
            epoch: ``Turn.epoch`` of the submit: it shuts out a producer that was replaced.
            producer_seq: The last line that was acknowledged to an earlier call; ``events`` begin
                with the one after it.
            on_acknowledged: Called when more is committed.

        Returns:
            The last acknowledgement.
        """
        upload = Upload(
            self._http,
            f"{turn_path(conversation_id, turn_id)}/events",
            epoch=epoch,
            producer_seq=producer_seq,
            on_acknowledged=on_acknowledged,
        )
        return await upload.run(events)

    # messages -----------------------------------------------------------------------------
    async def list_messages(
        self,
        conversation_id: str,
        *,
        order: Order = "oldest_first",
        cursor: str | None = None,
        view: View | None = None,
    ) -> AsyncGenerator[Message, None]:
        """Yield messages.

        Args:
            conversation_id: Where.
            order: From which end.
            cursor: Go on behind it: ``more_before`` of a state, ``next_cursor`` of a page.
            view: Ask for less than the caller may see.
        """
        is_forward = order == "oldest_first"
        name, first = ("after", cursor or "0") if is_forward else ("before", cursor)
        path = f"{conversation_path(conversation_id)}/messages"
        pages = self._items(path, name, first, view=view, is_reversed=not is_forward)
        async with aclosing(pages) as items:
            async for item in items:
                yield _object(item)

    async def append_message(self, conversation_id: str, message: Mapping[str, Json]) -> Message:
        """Append a complete message from elsewhere and return it as it is kept."""
        path = f"{conversation_path(conversation_id)}/messages"
        answer = await self._http.call("POST", path, body=dict(message))
        return _object(answer.value)

    async def _read_turn(
        self, conversation_id: str, turn_id: str, *, view: View | None, wait_s: float
    ) -> Turn:
        answer = await self._http.call(
            "GET",
            turn_path(conversation_id, turn_id),
            query={"view": view, "wait": f"{wait_s:.3f}" if wait_s else None},
            wait_s=wait_s,
        )
        return read_shape(Turn, answer.value)

    async def _items(
        self,
        path: str,
        cursor_name: str = "cursor",
        cursor: str | None = None,
        *,
        view: View | None = None,
        is_reversed: bool = False,
    ) -> AsyncGenerator[Json, None]:
        """Yield the items of all pages of a list, or those of each page the other way round."""
        limit = str(self._settings.page_items)
        while True:
            answer = await self._http.call(
                "GET", path, query={cursor_name: cursor, "limit": limit, "view": view}
            )
            page = _object(answer.value)
            items, following = page.get("items"), page.get("next_cursor")
            # A cursor that leads to itself would be followed for ever.
            if not isinstance(items, list) or (following is not None and following == cursor):
                raise ClientError("invalid_answer", "a page without items, or without an end")
            for item in reversed(items) if is_reversed else items:
                yield item
            if not isinstance(following, str):
                return
            cursor = following


def _object(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise ClientError("invalid_answer", "the gateway answered with no object")
    return value


def _content(content: str | Iterable[Block]) -> Json:
    return content if isinstance(content, str) else [dict(block) for block in content]


def conversation_path(conversation_id: str) -> str:
    """Return the path of a conversation."""
    return f"/v1/conversations/{quote(conversation_id, safe='')}"


def turn_path(conversation_id: str, turn_id: str) -> str:
    """Return the path of a turn."""
    return f"{conversation_path(conversation_id)}/turns/{quote(turn_id, safe='')}"
