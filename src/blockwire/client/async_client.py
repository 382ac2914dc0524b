"""The client for programs with an event loop: the calls, and the streams.

Spec: docs/spec/gateway/routes.md; docs/how-to/python-client.md. The blocking one is made of it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from types import TracebackType
from typing import Any, Final, Literal, Self, TypedDict, Unpack

from blockwire.client.answers import follow_turn, turn_state
from blockwire.client.attachments import AttachmentCalls
from blockwire.client.calls import GatewayCalls, SubmitOptions, conversation_path, new_key
from blockwire.client.failures import ClientError
from blockwire.client.line import OnQueued, wait_in_line
from blockwire.client.reader import OnConnection, OnReport, StreamReader
from blockwire.client.search import SearchCalls
from blockwire.client.shapes import Turn
from blockwire.client.stream import Received, Subscription
from blockwire.content import Block, ConversationState, StreamEvent, TurnState, View
from blockwire.errors import LocalProtocolError

__all__ = [
    "AskOptions",
    "AsyncClient",
    "FollowOptions",
    "ReadOptions",
    "StartAfter",
    "StreamOptions",
]

StartAfter = int | Literal["now"] | ConversationState
"""Where a stream begins: after a seq, with what is there now, or where a state stands."""


class ReadOptions(TypedDict, total=False):
    """How a stream is read.

    Attributes:
        view: Ask for less than the caller may see.
        give_up_s: Seconds without an event after which failures of the connection are final;
            without it, or None, the bound of the settings.
        on_connection: Called at each change of the connection.
        on_report: Called with what was lost for good; without it that is logged.
    """

    view: View | None
    give_up_s: float | None
    on_connection: OnConnection | None
    on_report: OnReport | None


class FollowOptions(ReadOptions, total=False):
    """How an answer is followed.

    Attributes:
        on_queued: Called with the turn while it waits in line, whenever its place is another.
        resubmit: Submits the same question again under the same key: a gateway that was started
            anew knows nothing of a turn that waited. :meth:`AsyncClient.ask` has its own.
    """

    on_queued: OnQueued | None
    resubmit: Callable[[], Awaitable[Turn]] | None


class StreamOptions(ReadOptions, total=False):
    """How a conversation is read.

    Attributes:
        after: 0, the default, begins with the first event; another number hands over what comes
            after it; ``now`` begins with a snapshot; a state goes on where it stands.
        until_idle: End when nothing runs.
    """

    after: StartAfter
    until_idle: bool


class AskOptions(SubmitOptions, FollowOptions, total=False):
    """How a question is to be answered, and how its answer is read."""


_FOLLOW: Final = frozenset(FollowOptions.__annotations__)


class AsyncClient(AttachmentCalls, SearchCalls, GatewayCalls):
    """Talks to one gateway.

    Calls raise :class:`~blockwire.client.ClientError`. Reads and submits are repeated for a few
    seconds when the connection breaks or the gateway asks for it; nothing else ever is. Streams
    come back by themselves and go on exactly where they were. Generators want to be closed when
    they are left early: ``async with aclosing(client.watch(...)) as states``.

    Args:
        base_url: ``http://HOST:PORT``, with a path where a proxy asks for one.
        token: Sent as ``Authorization: Bearer``.
        settings: How long to wait for what.
        timing: The clock; tests bring their own.
        random: Returns a number in [0, 1), for pauses.
        transport: Replaces the network, for tests.

    Raises:
        LocalProtocolError: ``invalid_url``, ``invalid_token``.
    """

    async def __aenter__(self) -> Self:
        """Return the client; it is closed at the end of the block."""
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Close all connections."""
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections; what still reads from one fails."""
        await self._http.aclose()

    async def events(
        self, conversation_id: str, **options: Unpack[StreamOptions]
    ) -> AsyncGenerator[tuple[ConversationState, StreamEvent], None]:
        """Yield each event with the state after it, once, across any number of connections.

        Events that concern live readers only (``turn.queued``) come with the state as it is. After
        a hole in the numbers, or an event that does not fit, one ``conversation.snapshot`` takes
        the place of what was missed.

        Args:
            conversation_id: Which one.
            options: See :class:`StreamOptions`.

        Raises:
            LocalProtocolError: ``conversation_mismatch`` for a state of another conversation.
        """
        async with aclosing(self._batches(conversation_id, options)) as batches:
            async for received in batches:
                for item in received:
                    yield item.state, item.event

    async def watch(
        self, conversation_id: str, **options: Unpack[StreamOptions]
    ) -> AsyncGenerator[ConversationState, None]:
        """Yield the newest state, whenever it is another.

        States in between are left out when several events came at once; whoever shows states loses
        nothing by it.

        Args:
            conversation_id: Which one.
            options: See :class:`StreamOptions`.
        """
        last: ConversationState | None = None
        async with aclosing(self._batches(conversation_id, options)) as batches:
            async for received in batches:
                if received[-1].state is not last:
                    last = received[-1].state
                    yield last

    async def ask(
        self,
        conversation_id: str,
        content: str | Iterable[Block],
        **options: Unpack[AskOptions],
    ) -> AsyncGenerator[TurnState, None]:
        """Submit a question and yield the newest state of its answer until that is over.

        The last one is terminal, whatever happened on the way. A turn that waits for a person is
        yielded ``suspended``; it goes on after :meth:`resume`. While it waits in line, nothing is
        yielded; a gateway that forgets it is asked again under the same key.

        Args:
            conversation_id: Where.
            content: Text, or blocks.
            options: See :class:`SubmitOptions` and :class:`FollowOptions`; ``give_up_s`` has a
                bound of its own in the settings.
        """
        following: Any = {name: value for name, value in options.items() if name in _FOLLOW}
        submitting: Any = {name: value for name, value in options.items() if name not in _FOLLOW}
        submitting["idempotency_key"] = submitting.get("idempotency_key") or new_key()
        asked = content if isinstance(content, str) else list(content)

        async def submit() -> Turn:
            return await self.submit(conversation_id, asked, **submitting)

        turn = await submit()
        following.setdefault("resubmit", submit)
        async with aclosing(self.follow(turn, **following)) as answer:
            async for state in answer:
                yield state

    async def follow(
        self, turn: Turn, **options: Unpack[FollowOptions]
    ) -> AsyncGenerator[TurnState, None]:
        """Yield the newest state of a submitted turn until it is over; see :meth:`ask`.

        Raises:
            ClientError: ``turn_handed_back`` when somebody took it out of the line.
        """
        patience_s = options.get("give_up_s")
        give_up_s = self._settings.ask_give_up_s if patience_s is None else patience_s
        view = options.get("view")

        async def read_waiting(wait_s: float) -> Turn:
            return await self._read_turn(turn.conversation_id, turn.id, view=view, wait_s=wait_s)

        turn = await wait_in_line(
            turn,
            read_waiting,
            timing=self._timing,
            on_queued=options.get("on_queued"),
            resubmit=options.get("resubmit"),
            give_up_s=give_up_s,
        )
        if turn.status == "cancelled" and not turn.durable:
            raise ClientError("turn_handed_back", "the turn was taken out of the line", status=404)

        async def read() -> Turn:
            return await self.read_turn(turn.conversation_id, turn.id, view=view)

        if turn.is_over:
            yield turn_state(await read())
            return
        watching: StreamOptions = {
            "after": "now",
            "view": view,
            "give_up_s": give_up_s,
            "on_connection": options.get("on_connection"),
            "on_report": options.get("on_report"),
        }
        batches = self._batches(turn.conversation_id, watching)
        async with aclosing(follow_turn(turn, batches, read)) as answer:
            async for state in answer:
                yield state

    def _batches(
        self, conversation_id: str, options: StreamOptions
    ) -> AsyncGenerator[list[Received], None]:
        after = options.get("after", 0)
        if isinstance(after, ConversationState) and after.conversation_id != conversation_id:
            detail = "the state to go on from is that of another conversation"
            raise LocalProtocolError("conversation_mismatch", detail)
        patience_s = options.get("give_up_s")
        subscription = Subscription(
            conversation_id,
            base_url=self.base_url,
            settings=self._settings,
            random=self._http.random,
            state=after if isinstance(after, ConversationState) else None,
            with_snapshot=after == "now",
            after=after if isinstance(after, int) else 0,
            until_idle=options.get("until_idle", False),
            view=options.get("view"),
            give_up_s=self._settings.stream_give_up_s if patience_s is None else patience_s,
        )
        reader = StreamReader(
            self._http,
            f"{conversation_path(conversation_id)}/events",
            subscription,
            on_connection=options.get("on_connection"),
            on_report=options.get("on_report"),
        )
        return reader.batches()
