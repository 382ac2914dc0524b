"""The chat on a real terminal and a real gateway: tasks, clock and bytes.

Spec: docs/spec/chat/drawing.md, "The driver". What is shown is decided below it.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, Final, Literal

import anyio
import anyio.abc

from blockwire.client import AsyncClient, ClientError, ConnectionChange
from blockwire.content import ConversationState
from blockwire.errors import BlockwireError
from blockwire.tty import InputEvent, InputParser, Reply, Terminal
from blockwire.tty.clipboard import clipboard_tool, copy_text
from blockwire.tui.chat import Chat
from blockwire.tui.chrome import SPINNER_S, spinner
from blockwire.tui.driveroptions import ChatOptions, Gateway, Step
from blockwire.tui.errands import Errands
from blockwire.tui.intents import (
    Answerable,
    Intent,
    NewConversation,
    Notify,
    Quit,
    RememberInput,
    Repaint,
    Submit,
    Suspend,
)
from blockwire.tui.views import ConversationView
from blockwire.tui.window import ANSWER_S, ChatWindow

__all__ = ["ChatDriver"]

PAINT_S: Final = 1 / 60
"""Between two paints; twice that over ssh."""

PROMPT_ROWS_MIN: Final = 6
"""The prompt may take so many rows of any window, and half of a larger one."""

ESCAPE_S: Final = 0.05
"""An ESC after which nothing came for so long is the Escape key."""

STOP_S: Final = 0.2
"""How long a stop may take to come."""

CANCEL_S: Final = 5.0
"""How long a turn of our own gateway may take to end when the chat is left."""


class ChatDriver:
    """Drives one chat until it is left; used once.

    Args:
        terminal: Negotiated; keys come as bytes.
        gateway: Where conversations are.
        chat: What is driven.
        view: Shows it.
        options: See there.
    """

    def __init__(
        self,
        terminal: Terminal,
        gateway: Gateway,
        chat: Chat,
        view: ConversationView,
        options: ChatOptions,
    ) -> None:
        self._terminal = terminal
        self._gateway = gateway
        self._chat = chat
        self._view = view
        self._options = options
        self._loop = asyncio.get_running_loop()
        self._errands = Errands(chat, self)
        self._parser = InputParser()
        self._dirty = anyio.Event()
        self._woken = anyio.Event()
        self._state: ConversationState | None = None
        self._is_state_shown = self._is_first_state = True
        self._tasks: anyio.abc.TaskGroup | None = None
        self._stream: anyio.CancelScope | None = None
        self._failure: BlockwireError | None = None
        self._is_painting = True
        self._window = ChatWindow(terminal, view, self._parser, options, self._touch)

    # a place for errands ------------------------------------------------------------------
    @property
    def client(self) -> AsyncClient:
        """Of the gateway where it is now."""
        return self._gateway.client

    def now_s(self) -> float:
        """Return the time of the event loop."""
        return self._loop.time()

    def copy(self, text: str) -> bool:
        """Put ``text`` on the clipboard: by the terminal, and by a tool of the desktop at hand."""
        env = self._options.environment
        sequence = copy_text(text, env)
        self._terminal.write(sequence)
        return bool(sequence) or clipboard_tool(env) is not None

    def follow(self, conversation_id: str, *, is_new: bool) -> None:
        """Follow the stream of a conversation from now on, and no other."""
        assert self._tasks is not None, "it runs"
        self.stop_following()
        self._stream = anyio.CancelScope()
        # Of a new one every event is new; of another its snapshot is enough.
        self._tasks.start_soon(self._follow, conversation_id, 0 if is_new else "now", self._stream)

    def fail(self, error: BlockwireError) -> None:
        """End with ``error``: the terminal has lost what was shown."""
        self._failure = error
        self._quit()

    # its life -----------------------------------------------------------------------------
    async def run(self, intents: Iterable[Intent] = ()) -> None:
        """Run until the person leaves.

        Args:
            intents: What is wanted from the beginning.

        Raises:
            BlockwireError: The terminal has lost what was shown.
            OSError: The terminal is gone.
        """
        self._window.take_size()
        self._loop.add_signal_handler(signal.SIGWINCH, self._touch)
        try:
            async with anyio.create_task_group() as self._tasks:
                self._tasks.start_soon(self._read_keys)
                self._tasks.start_soon(self._paint_changes)
                self._tasks.start_soon(self._keep_time)
                self._do(intents)
        finally:
            self._loop.remove_signal_handler(signal.SIGWINCH)
            self._window.close()
            self._show()
            self._window.clear_up()
            self._terminal.write(self._view.leave())
        await self._take_last_answers()
        await self._end_turns()
        if self._failure is not None:
            raise self._failure

    async def _take_last_answers(self) -> None:
        """Leave nothing that was asked for to whoever reads next."""
        with anyio.move_on_after(ANSWER_S):
            while self._window.is_answer_missing and (data := await self._terminal.read()):
                for event in self._parser.receive_data(data):
                    if isinstance(event, Reply):
                        self._window.receive(event)

    def _quit(self) -> None:
        if self._tasks is not None:
            self._tasks.cancel_scope.cancel()

    async def _end_turns(self) -> None:
        """End what runs in a gateway of our own, which would be cut otherwise."""
        conversation_id = self._chat.conversation_id
        if not self._gateway.is_own or conversation_id is None:
            return
        # Those that wait first, or each end would let the next one begin.
        placed = [question.turn_id for question in reversed(self._chat.talk.outbox.placed)]
        running = [] if self._state is None else list(self._state.running)
        with anyio.move_on_after(CANCEL_S):
            for turn_id in dict.fromkeys([*placed, *running]):
                assert turn_id is not None, "a question that is placed has a turn"
                with suppress(ClientError):
                    await self.client.cancel(conversation_id, turn_id)

    def resumed(self) -> None:
        """Go on after a stop: somebody else has written meanwhile."""
        self._view.forget()
        self._touch()

    # intents ------------------------------------------------------------------------------
    def _do(self, intents: Iterable[Intent]) -> None:
        for intent in intents:
            match intent:
                case Quit():
                    self._quit()
                case Suspend():
                    self._start(self._suspend)
                case Repaint():
                    self._withdraw()
                case NewConversation():
                    self.stop_following()
                case RememberInput(text=text):
                    self._options.remember(text)
                case Notify():
                    if self._options.rings:
                        self._terminal.write(b"\x07")
                case _:
                    self._start(self._run_errand, intent)
        self._touch()

    def _start(self, task: Callable[..., Coroutine[Any, Any, None]], *arguments: object) -> None:
        assert self._tasks is not None, "it runs"
        self._tasks.start_soon(task, *arguments)

    async def _run_errand(self, intent: Answerable) -> None:
        # A question on its way begins a turn that only its answer names, and that is to be ended.
        is_kept = isinstance(intent, Submit) and self._gateway.is_own
        with anyio.CancelScope(shield=is_kept):
            intents = await self._errands.run(intent)
        self._do(intents)

    def _withdraw(self) -> None:
        self._window.clear_up()
        self._terminal.write(self._view.withdraw())

    async def _suspend(self) -> None:
        self._is_painting = False
        self._withdraw()
        await self._terminal.flush()
        os.kill(os.getpid(), signal.SIGTSTP)
        # The loop hears of it, and stops; whoever gets here was continued, or cannot be stopped.
        await anyio.sleep(STOP_S)
        self._is_painting = True
        self._touch()

    # the stream ---------------------------------------------------------------------------
    def stop_following(self) -> None:
        """Follow nothing until further notice; what was shown stays."""
        if self._stream is not None:
            self._stream.cancel()
            self._stream = None
        if self._state is not None:
            self._show()
            self._view.change_conversation()
            self._state = None
            self._is_first_state = True

    async def _follow(
        self,
        conversation_id: str,
        start: Literal[0, "now"],
        scope: anyio.CancelScope,
    ) -> None:
        latest: ConversationState | None = None

        def open_stream(client: AsyncClient, give_up_s: float | None) -> AsyncGenerator[Step, None]:
            return client.events(
                conversation_id,
                after=start if latest is None else latest,
                give_up_s=give_up_s,
                on_connection=on_connection,
            )

        def on_connection(change: ConnectionChange) -> None:
            self._do(self._chat.connection_changed(change, now_s=self.now_s()))

        with scope:
            try:
                async for latest, event in self._gateway.read(open_stream, on_connection):
                    intents = self._chat.receive(latest, event, now_s=self.now_s())
                    self._state, self._is_state_shown = latest, False
                    self._do(intents)
            except BlockwireError as error:
                self.stop_following()
                self._do(self._chat.stream_ended(error, now_s=self.now_s()))

    # keys ---------------------------------------------------------------------------------
    async def _read_keys(self) -> None:
        while True:
            data = None
            events: list[InputEvent] = []
            with anyio.move_on_after(ESCAPE_S if self._parser.is_holding else None):
                data = await self._terminal.read()
            if data is None:
                events = self._parser.flush(is_reply_outstanding=self._window.is_answer_missing)
                if not events:
                    # An answer is on its way; its rest comes, or its time is over.
                    data = await self._terminal.read()
            if data == b"":
                self._quit()
                return
            if data is not None:
                events = self._parser.receive_data(data)
            for event in events:
                if isinstance(event, Reply):
                    self._window.receive(event)
                else:
                    self._do(self._chat.press(event, now_s=self.now_s()))

    # time ---------------------------------------------------------------------------------
    def _touch(self) -> None:
        """Something may look otherwise now."""
        self._dirty.set()
        self._woken.set()

    async def _keep_time(self) -> None:
        while True:
            self._woken = anyio.Event()
            wake_at_s = self._chat.wake_at_s
            if self._chat.is_active and self._options.is_animated:
                tick_s = self.now_s() + SPINNER_S
                wake_at_s = tick_s if wake_at_s is None else min(wake_at_s, tick_s)
            with anyio.move_on_after(
                None if wake_at_s is None else max(wake_at_s - self.now_s(), 0.0)
            ) as scope:
                await self._woken.wait()
            if scope.cancelled_caught:
                self._do(self._chat.tick(now_s=self.now_s()))
                await anyio.sleep(PAINT_S)

    # painting -----------------------------------------------------------------------------
    async def _paint_changes(self) -> None:
        pause_s = PAINT_S * (2 if self._options.is_remote else 1)
        while True:
            # A terminal that takes nothing gets fewer pictures, of what is true by then.
            try:
                await self._terminal.flush()
            except OSError:
                # It is gone, and nobody sees anything any more.
                self._quit()
                return
            self._dirty = anyio.Event()
            self._window.take_size()
            if self._view.is_located and self._is_painting:
                await self._window.ask_width()
            if self._view.is_located and self._is_painting:
                self._paint()
                if self._view.has_more:
                    continue
            await anyio.sleep(pause_s)
            await self._dirty.wait()

    def _show(self) -> None:
        """Hand over what is new, in order."""
        if self._is_first_state:
            # What is said of a conversation as a whole stands before it.
            self._tell()
        if self._state is not None and not self._is_state_shown:
            self._is_state_shown, self._is_first_state = True, False
            self._view.show(self._state, with_reasoning=self._chat.with_reasoning)
        self._tell()

    def _tell(self) -> None:
        for notice in self._chat.take_notices():
            self._view.tell(notice)

    def _paint(self) -> None:
        self._show()
        now_s = self.now_s()
        prompt = self._chat.prompt(
            columns=self._window.look.columns, rows_max=self._prompt_rows_max, now_s=now_s
        )
        mark = spinner(now_s) if self._options.is_animated and self._chat.is_active else ""
        if data := self._view.paint(prompt, mark=mark):
            self._terminal.write(data + self._window.question_behind())

    @property
    def _prompt_rows_max(self) -> int:
        return max(min(self._window.rows - 1, max(self._window.rows // 2, PROMPT_ROWS_MIN)), 1)
