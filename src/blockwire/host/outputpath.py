"""The way of what a program writes: to its screen, to the history, and to whoever else it is for.

Spec: docs/spec/host/index.md, "The way of the output". Everything happens in the order of the stream;
only the live rows are carried into the history not after every read, but when somebody looks, a Block
wants its place, or enough has come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import count
from typing import Final

from blockwire.host.commands import Command, CopyText, OuterSequence, RingBell, SetTitle
from blockwire.host.emulator import Emulator
from blockwire.host.liverows import LiveRows
from blockwire.host.options import HostOptions
from blockwire.host.programinput import ProgramInput
from blockwire.host.programoutput import (
    Bell,
    ClipboardWritten,
    Notified,
    ProgramEvent,
    ProgramOutput,
    ProgramReply,
    Progress,
    PromptMark,
    SavedLinesErased,
    Text,
    Title,
    WorkingDirectory,
)
from blockwire.screen import Screen
from blockwire.terminal import (
    BlockAppended,
    Diagnostic,
    Effect,
    Endpoint,
    PassThrough,
    Reply,
    Stopped,
    TerminalSession,
)
from blockwire.terminal.vocabulary import LINES, STYLED

# What an emulator is fed before its rows are carried on: a bound for what it keeps meanwhile, and
# long enough that a flood of output is not laid out line by line.
CARRY_BYTES: Final = 65_536

# What waits for a driver that does not take it; the program may ring and name itself endlessly.
COMMANDS_MAX: Final = 256


class OutputPath:
    """Where the output goes.

    Attributes:
        commands: What the program wants of the outer terminal, until it is taken.
        title: What the program calls itself.
        is_stopped: Whether terminal blocks failed, so that no more are understood.
        diagnostics: How often what was no good, by its code; there is no content in it.
    """

    def __init__(
        self, emulator: Emulator, screen: Screen, to_program: ProgramInput, options: HostOptions
    ) -> None:
        self.commands: list[Command] = []
        self.title = ""
        self.is_stopped = False
        self.diagnostics: Counter[str] = Counter()
        self.live = LiveRows(emulator, screen)
        self._emulator = emulator
        self._screen = screen
        self._to_program = to_program
        self._may_copy = options.program_clipboard
        # Ids are handles, not secrets, and belong to this one connection.
        numbers = count(1)
        session = TerminalSession(
            new_context_id=lambda: f"context_{next(numbers)}",
            limits=options.limits,
            optional_content_types=(STYLED, LINES),
        )
        self._endpoint = Endpoint(session)
        self._output = ProgramOutput(options.terminal_colours)
        self._uncarried_bytes = 0

    def receive_data(self, data: bytes) -> None:
        """Do what ``data`` wants done."""
        self._apply(self._endpoint.receive_data(data))
        self._trim()

    def end(self) -> None:
        """The program is gone: nothing changes any more, and its first screen is back."""
        self._apply(self._endpoint.end_of_stream())
        if self._emulator.modes.is_alternate:
            self._emulator.feed(b"\x1b[?1049l")
        self.carry()

    def carry(self) -> None:
        """Let the history have what the program's screen shows."""
        self._uncarried_bytes = 0
        self.live.carry()

    def carry_news(self) -> None:
        """Carry, if anything came since that was done last."""
        if self._uncarried_bytes:
            self.carry()

    def _apply(self, effects: Iterable[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, PassThrough):
                for event in self._output.receive_data(effect.data):
                    self._do(event)
            elif isinstance(effect, Reply):
                self._to_program.reply(effect.data)
            elif isinstance(effect, Diagnostic):
                self.diagnostics[effect.code] += 1
            elif isinstance(effect, Stopped):
                self.is_stopped = True
            else:
                if isinstance(effect, BlockAppended):
                    self._uncarried_bytes = 0
                    self.live.make_room()
                self._screen.apply(effect)

    def _trim(self) -> None:
        for block in self._screen.trim():
            self._endpoint.evict(block.context_id, block.block_id)

    def _do(self, event: ProgramEvent) -> None:
        match event:
            case Text(data):
                self._feed(data)
            case ProgramReply(data):
                self._to_program.reply(data)
            case SavedLinesErased():
                # What has left the screen by now is among them.
                self.carry()
                self._screen.erase_ordinary()
            case _:
                self._tell(event)

    def _feed(self, data: bytes) -> None:
        for start in range(0, len(data), CARRY_BYTES):
            piece = data[start : start + CARRY_BYTES]
            self._to_program.reply(self._emulator.feed(piece))
            self._uncarried_bytes += len(piece)
            if self._uncarried_bytes >= CARRY_BYTES:
                self.carry()

    def _tell(self, event: ProgramEvent) -> None:
        command = self._command(event)
        if command is None:
            return
        if len(self.commands) >= COMMANDS_MAX:
            del self.commands[0]
        self.commands.append(command)

    def _command(self, event: ProgramEvent) -> Command | None:
        command: Command | None = None
        match event:
            case Bell():
                command = RingBell()
            case Title(text):
                self.title = text
                command = SetTitle(text)
            case ClipboardWritten(_, data) if self._may_copy:
                command = CopyText(data.decode(errors="replace"))
            case WorkingDirectory(uri):
                command = _osc(f"7;{uri}")
            case PromptMark(payload):
                command = _osc(f"133;{payload}")
            case Progress(payload):
                command = _osc(f"9;4;{payload}")
            case Notified(text):
                command = _osc(f"9;{text}")
            case _:
                pass
        return command


def _osc(content: str) -> OuterSequence:
    return OuterSequence(b"\x1b]%b\x1b\\" % content.encode(errors="replace"))
