"""An application that shows one Block, written from docs/spec/terminal alone.

It shares framing and JSON with the terminal beside it, and no code with the package. Keys are
read and mean nothing to it.
"""

import json
import os
import re
import secrets
import select
import signal
import sys
import termios
import time
import tty
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.conform.second.terminal import ANSWERS, Scanner, parse, to_frames

ANSWER_S = 2.0 if {"SSH_CONNECTION", "SSH_TTY"} & os.environ.keys() else 1.0
REQUEST_S = 10.0
DEVICE = re.compile(rb"\x1b\[\?[0-9;]*c")


class NotShownError(Exception):
    """The terminal does not show what the program wanted."""


@dataclass
class Connection:
    scanner: Scanner = field(default_factory=Scanner)
    prefix: str = field(default_factory=lambda: secrets.token_hex(12))
    requests: int = 0
    frames: int = 0
    context: str = ""
    errors: dict[str, str] = field(default_factory=dict)  # codes by operation
    device: bytes = b""  # what may hold the answer to DA1
    is_device_due: bool = False
    is_writing: bool = False
    is_over: bool = False

    def send(self, members: dict[str, Any], more: bytes = b"") -> None:
        self.frames += 1
        message = json.dumps({"version": 1, **members}, ensure_ascii=False)
        data = to_frames(message.encode(), self.frames) + more
        self.is_writing = True
        while data:
            data = data[os.write(1, data) :]
        self.is_writing = False

    def read(self, until: float) -> list[Any]:
        """The messages in what comes next; none if the time is up."""
        if not select.select([0], [], [], max(0.0, until - time.monotonic()))[0]:
            return []
        messages = []
        data = os.read(0, 65536)
        self.is_over = not data
        for what, found in self.scanner.feed(data):
            if what == "ordinary":
                self.device += found if self.is_device_due else b""
                self.is_device_due &= DEVICE.search(self.device) is None
                continue
            try:
                message, is_in_range = parse(found.decode())
            except ValueError:
                continue
            messages += [message] if is_in_range else []
        return messages

    def ask(self, kind: str, limit_s: float, *, context: str = "", more: bytes = b"") -> str:
        """The outcome of a request, or nothing; refused operations are noted on the way."""
        self.requests += 1
        request = f"{self.prefix}.{self.requests}"
        until = time.monotonic() + limit_s
        self.is_device_due |= bool(more)
        ids = {"context_id": context} if context else {}
        self.send({"kind": kind, "request_id": request, **ids, "body": {}}, more)
        while time.monotonic() < until and not self.is_over:
            for message in self.read(until):
                match message:
                    case {
                        "version": 1,
                        "kind": "protocol.error",
                        "context_id": self.context,
                        "operation_id": str(operation),
                        "body": {"code": str(code)},
                    }:
                        self.errors[operation] = code
                    case {
                        "version": 1,
                        "kind": answer,
                        "request_id": id_,
                        "body": {"outcome": str(outcome)},
                    }:
                        if (answer, id_) == (ANSWERS[kind], request):
                            self.context = message.get("context_id", self.context)
                            return outcome
            if more and not self.is_device_due:
                break
        return ""

    def need(self, kind: str, outcome: str, *, context: str = "") -> None:
        if self.ask(kind, REQUEST_S, context=context) != outcome:
            raise NotShownError(f"{kind} is not answered {outcome}")


@dataclass
class Block:
    connection: Connection
    text: str = ""
    state: str = ""
    operations: int = 0

    def do(self, kind: str, text: str, **body: Any) -> None:
        self.text = text
        self.operations += 1
        operation = f"1.{self.operations}"
        ids = {"operation_id": operation, "context_id": self.connection.context}
        if kind in {"block.append", "block.update"}:
            body["content"] = {"type": "text/plain", "data": text}
        elif kind != "block.seal":
            body["base_operation_id"] = self.state
        self.connection.send({"kind": kind, **ids, "body": {"block_id": "1", **body}})
        self.state = operation

    def append(self, text: str) -> None:
        self.do("block.append", text, lifecycle="mutable")

    def extend(self, text: str) -> None:
        self.do("block.extend", self.text + text, fragment=text)

    def replace_suffix(self, retain: int, text: str) -> None:
        kept = self.text[:retain]
        self.do("block.replace_suffix", kept + text, retain=retain, replacement=text)

    def seal(self) -> None:
        """Seals the Block when the terminal has all of its text.

        Success is silent, but answers come in the order of what they answer: once a query is
        answered that was sent after the changes, all that was refused of them is known.
        """
        self.connection.need("capability.query", "supported")
        if self.connection.errors:
            self.connection.errors.clear()
            self.do("block.update", self.text)
            self.connection.need("capability.query", "supported")
        if not self.connection.errors:
            self.do("block.seal", self.text)


def show(connection: Connection) -> bool:
    """Shows the Block, unless the terminal shows none."""
    if connection.ask("capability.query", ANSWER_S, more=b"\x1b[c") != "supported":
        return False
    connection.need("context.open", "opened")
    block = Block(connection)
    block.append("Hel")
    block.extend("lo")
    block.extend(", wrold")
    block.replace_suffix(len("Hello, "), "world")
    block.seal()
    connection.need("context.close", "closed", context=connection.context)
    if connection.errors:
        raise NotShownError(f"refused: {connection.errors}")
    return True


def is_worth_asking() -> bool:
    return (
        os.isatty(0)
        and os.isatty(1)
        and os.environ.get("TERM", "") not in {"", "dumb", "linux"}
        and os.environ.get("BLOCKWIRE_TERMINAL") != "0"
    )


def main() -> None:
    text = b"Hello, world\r\n"
    if not is_worth_asking():
        os.write(1, text)
        return
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    connection, mode = Connection(), termios.tcgetattr(0)
    try:
        tty.setraw(0, termios.TCSADRAIN)
        if not show(connection):
            os.write(1, text)
    finally:
        if connection.is_writing:
            os.write(1, b"\x18")
        until = time.monotonic() + ANSWER_S
        while connection.is_device_due and not connection.is_over and time.monotonic() < until:
            connection.read(until)
        termios.tcsetattr(0, termios.TCSAFLUSH, mode)


if __name__ == "__main__":
    main()
