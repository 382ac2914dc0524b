"""The client for programs without an event loop: the async one, in a thread of its own.

Spec: docs/how-to/python-client.md.

One implementation serves both. Every call waits in the caller's thread for a task in the loop's
thread, and whatever ends the waiting (Ctrl-C above all) cancels the task.
"""

from __future__ import annotations

import random
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Mapping,
)
from concurrent.futures import CancelledError as Cancelled
from contextlib import ExitStack, suppress
from functools import partial
from types import TracebackType
from typing import Generic, Self, TypeVar, Unpack

import anyio
import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal

from blockwire.client.async_client import (
    AskOptions,
    AsyncClient,
    FollowOptions,
    StreamOptions,
)
from blockwire.client.blocking_access import BlockingAccessCalls
from blockwire.client.blocking_attachments import BlockingAttachmentCalls
from blockwire.client.blocking_search import BlockingSearchCalls
from blockwire.client.calls import DEFAULT_URL, ConversationChanges, Order, SubmitOptions
from blockwire.client.failures import client_closed
from blockwire.client.settings import ClientSettings
from blockwire.client.shapes import Acknowledgement, Capabilities, Conversation, Turn
from blockwire.client.timing import Timing
from blockwire.client.upload import Event
from blockwire.content import Block, ConversationState, Message, StreamEvent, TurnState, View
from blockwire.jsontext import Json

__all__ = ["Client"]

_T = TypeVar("_T")


class _Waited(Generic[_T]):
    """Work in the loop's thread that somebody waits for, and may give up at any moment."""

    def __init__(self, work: Callable[[], Awaitable[_T]]) -> None:
        self._work = work
        self._scope: anyio.CancelScope | None = None
        self._is_given_up = False
        self._is_done = False

    async def run(self) -> _T:
        """Do it. Nobody is there for the result of what was given up."""
        try:
            with anyio.CancelScope() as self._scope:
                if not self._is_given_up:
                    return await self._work()
            raise Cancelled
        finally:
            self._is_done = True

    def give_up(self, portal: BlockingPortal) -> None:
        """Cancel it, whether it has begun or is still to begin."""
        if not self._is_done:
            # There is nothing to cancel in a loop that has ended.
            with suppress(RuntimeError):
                portal.start_task_soon(self._cancel)

    def _cancel(self) -> None:
        self._is_given_up = True
        if self._scope is not None:
            self._scope.cancel()


class Client(BlockingAccessCalls, BlockingAttachmentCalls, BlockingSearchCalls):
    """Talks to one gateway and waits for it; the surface is that of :class:`AsyncClient`.

    Close it, or use it as a context manager. It may be shared by threads. Callbacks are called in
    the thread of its event loop. Generators want to be closed when they are left early:
    ``with closing(client.watch(...)) as states``.

    Args:
        base_url: Like all others, that of :class:`AsyncClient`.
        token: For the gateway.
        settings: How long to wait for what.
        timing: The clock.
        random: For pauses.
        transport: Replaces the network.
    """

    def __init__(  # noqa: PLR0913 - the same as the async one's
        self,
        base_url: str = DEFAULT_URL,
        *,
        token: str | None = None,
        settings: ClientSettings | None = None,
        timing: Timing | None = None,
        random: Callable[[], float] = random.random,  # noqa: S311 - spreads pauses, hides nothing
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._client = AsyncClient(
            base_url,
            token=token,
            settings=settings,
            timing=timing,
            random=random,
            transport=transport,
        )
        self._is_closed = False
        self._exit = ExitStack()
        self._portal = self._exit.enter_context(start_blocking_portal())
        self._exit.callback(lambda: self._run(self._client.aclose))

    @property
    def base_url(self) -> str:
        """The gateway's URL, without a slash at its end."""
        return self._client.base_url

    def __enter__(self) -> Self:
        """Return the client; it is closed at the end of the block."""
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Close all connections."""
        self.close()

    def close(self) -> None:
        """Close all connections and end the loop's thread. Harmless when repeated."""
        self._exit.close()
        self._is_closed = True

    # the gateway --------------------------------------------------------------------------
    def health(self) -> bool:
        """See :meth:`AsyncClient.health`."""
        return self._run(self._client.health)

    def capabilities(self) -> Capabilities:
        """See :meth:`AsyncClient.capabilities`."""
        return self._run(self._client.capabilities)

    # conversations ------------------------------------------------------------------------
    def create_conversation(self, **members: Unpack[ConversationChanges]) -> Conversation:
        """See :meth:`AsyncClient.create_conversation`."""
        return self._run(lambda: self._client.create_conversation(**members))

    def list_conversations(self) -> Generator[Conversation, None, None]:
        """See :meth:`AsyncClient.list_conversations`."""
        return self._iterate(self._client.list_conversations())

    def read_conversation(self, conversation_id: str) -> Conversation:
        """See :meth:`AsyncClient.read_conversation`."""
        return self._run(lambda: self._client.read_conversation(conversation_id))

    def update_conversation(
        self, conversation_id: str, **changes: Unpack[ConversationChanges]
    ) -> Conversation:
        """See :meth:`AsyncClient.update_conversation`."""
        return self._run(lambda: self._client.update_conversation(conversation_id, **changes))

    def delete_conversation(self, conversation_id: str) -> None:
        """See :meth:`AsyncClient.delete_conversation`."""
        self._run(lambda: self._client.delete_conversation(conversation_id))

    def fork(
        self, conversation_id: str, *, turn_id: str | None = None, title: str | None = None
    ) -> Conversation:
        """See :meth:`AsyncClient.fork`."""
        return self._run(lambda: self._client.fork(conversation_id, turn_id=turn_id, title=title))

    # turns --------------------------------------------------------------------------------
    def submit(
        self,
        conversation_id: str,
        content: str | Iterable[Block],
        **options: Unpack[SubmitOptions],
    ) -> Turn:
        """See :meth:`AsyncClient.submit`."""
        return self._run(lambda: self._client.submit(conversation_id, content, **options))

    def retry(self, conversation_id: str, turn_id: str, **options: Unpack[SubmitOptions]) -> Turn:
        """See :meth:`AsyncClient.retry`."""
        return self._run(lambda: self._client.retry(conversation_id, turn_id, **options))

    def list_turns(self, conversation_id: str) -> Generator[Turn, None, None]:
        """See :meth:`AsyncClient.list_turns`."""
        return self._iterate(self._client.list_turns(conversation_id))

    def read_turn(self, conversation_id: str, turn_id: str, *, view: View | None = None) -> Turn:
        """See :meth:`AsyncClient.read_turn`."""
        return self._run(lambda: self._client.read_turn(conversation_id, turn_id, view=view))

    def wait_turn(
        self,
        conversation_id: str,
        turn_id: str,
        *,
        wait_s: float | None = None,
        view: View | None = None,
    ) -> Turn:
        """See :meth:`AsyncClient.wait_turn`."""
        return self._run(
            lambda: self._client.wait_turn(conversation_id, turn_id, wait_s=wait_s, view=view)
        )

    def cancel(self, conversation_id: str, turn_id: str) -> Turn:
        """See :meth:`AsyncClient.cancel`."""
        return self._run(lambda: self._client.cancel(conversation_id, turn_id))

    def resume(self, conversation_id: str, turn_id: str, request_id: str, answer: Json) -> Turn:
        """See :meth:`AsyncClient.resume`."""
        return self._run(lambda: self._client.resume(conversation_id, turn_id, request_id, answer))

    def post_events(  # noqa: PLR0913 - whose events, from where on
        self,
        conversation_id: str,
        turn_id: str,
        events: Iterable[Event],
        *,
        epoch: int | None = None,
        producer_seq: int = 0,
        on_acknowledged: Callable[[Acknowledgement], None] | None = None,
    ) -> Acknowledgement:
        """See :meth:`AsyncClient.post_events`; ``events`` are taken in the caller's thread."""
        # Without a buffer: an event is taken when the one before it is on its way.
        sender, receiver = anyio.create_memory_object_stream[Event]()

        async def post() -> Acknowledgement:
            async with receiver:
                return await self._client.post_events(
                    conversation_id,
                    turn_id,
                    receiver,
                    epoch=epoch,
                    producer_seq=producer_seq,
                    on_acknowledged=on_acknowledged,
                )

        waited = _Waited(post)
        try:
            posted = self._portal.start_task_soon(waited.run)
            try:
                for event in events:
                    self._run(partial(sender.send, event))
            except anyio.BrokenResourceError:
                # The upload has failed; its result says why.
                pass
            finally:
                self._portal.call(sender.close)
            return posted.result()
        except BaseException:
            waited.give_up(self._portal)
            raise

    # messages -----------------------------------------------------------------------------
    def list_messages(
        self,
        conversation_id: str,
        *,
        order: Order = "oldest_first",
        cursor: str | None = None,
        view: View | None = None,
    ) -> Generator[Message, None, None]:
        """See :meth:`AsyncClient.list_messages`."""
        return self._iterate(
            self._client.list_messages(conversation_id, order=order, cursor=cursor, view=view)
        )

    def append_message(self, conversation_id: str, message: Mapping[str, Json]) -> Message:
        """See :meth:`AsyncClient.append_message`."""
        return self._run(lambda: self._client.append_message(conversation_id, message))

    # streams ------------------------------------------------------------------------------
    def events(
        self, conversation_id: str, **options: Unpack[StreamOptions]
    ) -> Generator[tuple[ConversationState, StreamEvent], None, None]:
        """See :meth:`AsyncClient.events`."""
        return self._iterate(self._client.events(conversation_id, **options))

    def watch(
        self, conversation_id: str, **options: Unpack[StreamOptions]
    ) -> Generator[ConversationState, None, None]:
        """See :meth:`AsyncClient.watch`."""
        return self._iterate(self._client.watch(conversation_id, **options))

    def ask(
        self,
        conversation_id: str,
        content: str | Iterable[Block],
        **options: Unpack[AskOptions],
    ) -> Generator[TurnState, None, None]:
        """See :meth:`AsyncClient.ask`."""
        return self._iterate(self._client.ask(conversation_id, content, **options))

    def follow(
        self, turn: Turn, **options: Unpack[FollowOptions]
    ) -> Generator[TurnState, None, None]:
        """See :meth:`AsyncClient.follow`."""
        return self._iterate(self._client.follow(turn, **options))

    # below --------------------------------------------------------------------------------
    def _run(self, work: Callable[[], Awaitable[_T]]) -> _T:
        """Return what ``work`` returns in the loop's thread; cancel it when the wait is broken."""
        if self._is_closed:
            raise client_closed()
        waited = _Waited(work)
        try:
            return self._portal.start_task_soon(waited.run).result()
        except BaseException:
            # A Ctrl-C may come between the start of the task and the wait, when no future is at hand.
            waited.give_up(self._portal)
            raise

    def _iterate(self, items: AsyncGenerator[_T, None]) -> Generator[_T, None, None]:
        # A step that was given up may still be ending when its generator is to be closed.
        lock = anyio.Lock()

        async def step() -> tuple[_T] | None:
            async with lock:
                try:
                    return (await anext(items),)
                except StopAsyncIteration:
                    return None

        async def close() -> None:
            async with lock:
                await items.aclose()

        try:
            while (item := self._run(step)) is not None:
                yield item[0]
        finally:
            self._run(close)
