"""The terminal side of terminal blocks, written from docs/spec/terminal alone.

It shares no code with the package, offers `text/plain` only, and shows nothing: on a tty it reads
what an application writes and answers it.
"""

import base64
import errno
import json
import math
import os
import re
import termios
import tty
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Check = Callable[[Any], bool]
Members = dict[str, Check]
Answer = dict[str, Any]

# Framing

INTRODUCER = b"\x1b]9002"
ENDS = re.compile(rb"[\x1b\x07\x18\x1a]")
HEADER = re.compile(rb"9002;1;([1-9][0-9]{0,9});(0|[1-9][0-9]{0,2});([01]);(.*)", re.DOTALL)
FRAGMENT_BYTES = 3072
CONTENT_BYTES_MAX = 4120
MESSAGE_BYTES_MAX = 1_048_576


def to_frames(message: bytes, frame_id: int) -> bytes:
    starts = range(0, len(message), FRAGMENT_BYTES)
    return b"".join(
        b"\x1b]9002;1;%d;%d;%d;%b\x1b\\"
        % (
            frame_id,
            index,
            index + 1 < len(starts),
            base64.b64encode(message[start:][:FRAGMENT_BYTES]),
        )
        for index, start in enumerate(starts)
    )


@dataclass
class Scanner:
    """Tells messages from ordinary bytes; `found` has both, in their order."""

    found: list[tuple[str, bytes]] = field(default_factory=list)
    held: bytes = b""  # a beginning of INTRODUCER
    frame: bytearray | None = None  # what has come between ESC ] and the end
    is_escaped: bool = False  # the last byte of the frame was ESC
    assembly: bytearray = field(default_factory=bytearray)
    due: tuple[int, int] | None = None  # id and index of the frame that goes on

    def feed(self, data: bytes) -> Iterator[tuple[str, bytes]]:
        at = 0
        while at < len(data):
            at = self.outside(data, at) if self.frame is None else self.inside(self.frame, data, at)
        found, self.found = self.found, []
        return iter(found)

    def outside(self, data: bytes, at: int) -> int:
        if not self.held:
            escape = data.find(b"\x1b", at)
            end = len(data) if escape < 0 else escape
            self.ordinary(data[at:end])
            self.held = data[end : end + 1]
            return end + 1
        byte = data[at : at + 1]
        if self.held == INTRODUCER and byte in b";\x1b\x07\x18\x1a":
            self.held, self.frame = b"", bytearray(b"9002")
            return at
        if byte == b"\x1b":
            self.ordinary(self.held)
            self.held = byte
        elif INTRODUCER.startswith(self.held + byte):
            self.held += byte
        else:
            self.ordinary(self.held + byte)
            self.held = b""
        return at + 1

    def inside(self, frame: bytearray, data: bytes, at: int) -> int:
        if self.is_escaped:
            self.is_escaped, self.frame = False, None
            if data[at] == ord("\\"):
                self.add(frame)
                return at + 1
            self.due, self.held = None, b"\x1b"
            return at
        match = ENDS.search(data, at)
        end = match.start() if match else len(data)
        frame += data[at : min(end, at + CONTENT_BYTES_MAX + 1 - len(frame))]
        if match and match[0] == b"\x1b":
            self.is_escaped = True
        elif match:
            self.due = self.frame = None
        return end + 1

    def ordinary(self, data: bytes) -> None:
        if data:
            self.due = None
            self.found.append(("ordinary", data))

    def add(self, frame: bytearray) -> None:
        due, self.due = self.due, None
        match = HEADER.fullmatch(frame)
        if not match or len(frame) > CONTENT_BYTES_MAX:
            return
        frame_id, index, is_more = int(match[1]), int(match[2]), match[3] == b"1"
        try:
            fragment = base64.b64decode(match[4], validate=True)
        except ValueError:
            return
        size = len(fragment)
        if frame_id > 2**31 - 1 or index > 341 or base64.b64encode(fragment) != match[4]:
            return
        if not (size == FRAGMENT_BYTES or (not is_more and 1 <= size < FRAGMENT_BYTES)):
            return
        if index == 0:
            self.assembly = bytearray()
        elif due != (frame_id, index):
            return
        self.assembly += fragment
        if len(self.assembly) > MESSAGE_BYTES_MAX:
            return
        if is_more:
            self.due = (frame_id, index + 1)
        else:
            self.found.append(("message", bytes(self.assembly)))


# JSON

VAST = object()  # stands where a number was that is out of range
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


def leaves(value: Any) -> Iterator[Any]:
    """All names and scalars of a value."""
    rest = [value]
    while rest:
        match rest.pop():
            case dict() as members:
                yield from members
                rest += members.values()
            case list() as elements:
                rest += elements
            case scalar:
                yield scalar


def parse(text: str) -> tuple[Any, bool]:
    """A value of strict JSON, and whether all of its numbers are in range; ValueError otherwise."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(members := dict(pairs)) < len(pairs):
            raise ValueError("a name comes twice")
        return members

    def refuse(word: str) -> None:
        raise ValueError(word)

    depth = 0
    for token in TOKEN.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > 64:
            raise ValueError("too deep")
    value = json.loads(  # noqa: TID251 (the package's own reader is what this must not use)
        text,
        object_pairs_hook=unique,
        parse_constant=refuse,
        parse_int=lambda digits: VAST if len(digits.lstrip("-")) > 4300 else int(digits),
        parse_float=lambda digits: x if math.isfinite(x := float(digits)) else VAST,
    )
    is_in_range = True
    for leaf in leaves(value):
        if isinstance(leaf, str):
            leaf.encode()  # lone surrogates raise a ValueError
        is_in_range &= leaf is not VAST
    return value, is_in_range


# Messages


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_id(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def is_integer(low: int, high: int) -> Check:
    return lambda value: type(value) is int and low <= value <= high


def is_one_of(*words: str) -> Check:
    return lambda value: isinstance(value, str) and value in words


def is_list(of: Check, *, unique: bool = False) -> Check:
    return lambda value: (
        isinstance(value, list)
        and all(map(of, value))
        and not (unique and len(set(value)) < len(value))
    )


def is_object(required: Members, **optional: Check) -> Check:
    members = required | optional
    return lambda value: (
        isinstance(value, dict)
        and required.keys() <= value.keys() <= members.keys()
        and all(members[name](member) for name, member in value.items())
    )


PALETTE = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
COLOURS = (*PALETTE, *(f"bright_{name}" for name in PALETTE))
ATTRIBUTES = ("bold", "dim", "italic", "underline", "strikethrough", "inverse")


def is_colour(value: Any) -> bool:
    return is_text(value) and (value in COLOURS or bool(re.fullmatch("#[0-9a-f]{6}", value)))


is_style = is_object(
    {},
    foreground=is_colour,
    background=is_colour,
    attributes=is_list(is_one_of(*ATTRIBUTES), unique=True),
    link=is_text,
)
is_spans = is_list(is_object({"text": is_text}, style=is_style))
is_layout = is_object(
    {},
    wrap=is_one_of("word", "character", "none"),
    align=is_one_of("left", "center", "right"),
    first_prefix=is_spans,
    rest_prefix=is_spans,
    fill=is_style,
)
is_lines = is_list(is_object({"spans": is_spans}, layout=is_layout))


def is_replacement(value: Any) -> bool:
    return is_text(value) or is_spans(value) or is_lines(value)


def is_fragment(value: Any) -> bool:
    return is_replacement(value) and len(value) > 0


def is_content(value: Any) -> bool:
    is_typed = is_object({"type": is_id, "data": lambda _: True})
    return is_typed(value) and (value["type"] != "text/plain" or is_text(value["data"]))


is_version = is_integer(1, 2**31 - 1)
is_empty = is_object({})
is_lifecycle = is_one_of("mutable", "sealed")
REQUEST, OPERATION = ("request_id",), ("operation_id", "context_id")
BASED: Members = {"block_id": is_id, "base_operation_id": is_id}
SUFFIX: Members = {"retain": is_integer(0, 2**53 - 1), "replacement": is_replacement}
KINDS: dict[str, tuple[tuple[str, ...], Check]] = {  # the ids that a kind requires, and its body
    "capability.query": (REQUEST, is_empty),
    "context.open": (REQUEST, is_empty),
    "context.close": ((*REQUEST, "context_id"), is_empty),
    "block.append": (
        OPERATION,
        is_object({"block_id": is_id, "lifecycle": is_lifecycle, "content": is_content}),
    ),
    "block.update": (OPERATION, is_object({"block_id": is_id, "content": is_content})),
    "block.extend": (OPERATION, is_object({**BASED, "fragment": is_fragment})),
    "block.replace_suffix": (OPERATION, is_object({**BASED, **SUFFIX})),
    "block.seal": (OPERATION, is_object({"block_id": is_id})),
}
ANSWERS = {
    "capability.query": "capability.response",
    "context.open": "context.open.response",
    "context.close": "context.close.response",
}


# The session


@dataclass(frozen=True)
class Limits:
    id_chars_max: int = 1024
    requests_max: int = 131_072
    request_id_chars_max: int = 33_554_432
    contexts_open_max: int = 256
    operation_ids_max: int = 1_048_576
    context_id_chars_max: int = 67_108_864
    connection_operation_ids_max: int = 4_194_304
    connection_id_chars_max: int = 134_217_728
    blocks_max: int = 262_144
    connection_blocks_max: int = 1_048_576
    block_bytes_max: int = 16_777_216
    context_bytes_max: int = 268_435_456
    connection_bytes_max: int = 536_870_912


class Refused(Exception):  # noqa: N818 (it is an answer, no error of ours)
    """Its argument is the code."""


def demand(code: str, *conditions: bool) -> None:
    if not all(conditions):
        raise Refused(code)


@dataclass
class Block:
    is_sealed: bool = False
    state: str = ""
    utf8: bytearray = field(default_factory=bytearray)
    length: int = 0  # in scalars

    def bytes_from(self, start: int) -> int:
        count, left = 0, self.length - start
        while left > 0:
            count += 1
            left -= self.utf8[-count] & 0xC0 != 0x80
        return count

    def replace_suffix(self, retain: int, text: str) -> None:
        while self.length > retain:
            self.length -= self.utf8.pop() & 0xC0 != 0x80
        self.utf8 += text.encode()
        self.length += len(text)


@dataclass
class Context:
    is_open: bool = True
    is_full: bool = False
    operations: set[str] = field(default_factory=set)
    blocks: dict[str, Block] = field(default_factory=dict)
    id_chars: int = 0
    size: int = 0


@dataclass
class Session:
    limits: Limits = field(default_factory=Limits)
    requests: dict[str, tuple[Any, Answer]] = field(default_factory=dict)  # and answers
    request_id_chars: int = 0
    contexts: dict[str, Context] = field(default_factory=dict)
    contexts_open: int = 0
    operations: int = 0
    id_chars: int = 0
    blocks: int = 0
    size: int = 0

    def receive(self, payload: bytes) -> bytes | None:
        """The answer to one message, if it gets one."""
        try:
            message, is_in_range = parse(payload.decode())
        except ValueError:
            return None
        answer = self.answer(message, is_in_range=is_in_range)
        written = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
        return written if answer and len(written) <= MESSAGE_BYTES_MAX else None

    def answer(self, message: Any, *, is_in_range: bool) -> Answer | None:
        if not isinstance(message, dict) or not is_version(message.get("version")):
            return None
        kind: str = message["kind"] if is_text(message.get("kind")) else ""
        ids, is_body = KINDS.get(kind, ((), is_empty))
        if not ids or not all(is_id(message.get(name)) for name in ids):
            return None
        members = {"version": is_version, "kind": is_text, "body": is_body}
        is_valid = is_in_range and is_object(members | dict.fromkeys(ids, is_id))(message)
        answer = {"version": message["version"], "kind": ANSWERS.get(kind, "protocol.error")}
        answer |= {name: message[name] for name in ids}
        if message["version"] != 1:
            is_asked = is_valid and kind == "capability.query"
            return answer | {"body": {"outcome": "unsupported"}} if is_asked else None
        if kind in ANSWERS:
            return self.request(message, answer, is_valid=is_valid)
        try:
            self.operate(message, is_valid=is_valid)
        except Refused as refused:
            return answer | {"body": {"code": refused.args[0]}}
        return None

    def request(self, message: Any, answer: Answer, *, is_valid: bool) -> Answer:
        key = message["request_id"]
        stored = self.requests.get(key)
        has_room = (
            len(key) <= self.limits.id_chars_max
            and len(self.requests) < self.limits.requests_max
            and self.request_id_chars < self.limits.request_id_chars_max
        )
        try:
            demand("invalid_message", is_valid)
            if stored and stored[0] == message:
                return stored[1]
            demand("request_id_conflict", stored is None)
            demand("resource_exhausted", has_room)
            answer |= self.do(message)
        except Refused as refused:
            answer["body"] = {"outcome": "error", "error": {"code": refused.args[0]}}
        if stored is None and has_room:
            self.requests[key] = (message if is_valid else None, answer)
            self.request_id_chars += len(key)
            if is_valid:
                self.request_id_chars += len(message.get("context_id", ""))
        return answer

    def do(self, message: Any) -> Answer:
        if message["kind"] == "capability.query":
            return {"body": {"outcome": "supported", "optional_content_types": []}}
        if message["kind"] == "context.open":
            demand("resource_exhausted", self.contexts_open < self.limits.contexts_open_max)
            self.contexts_open += 1
            name = f"context-{len(self.contexts) + 1}"
            self.contexts[name] = Context()
            return {"context_id": name, "body": {"outcome": "opened"}}
        context = self.contexts.get(message["context_id"])
        if context is None:
            raise Refused("context_not_open")
        if context.is_open:
            self.contexts_open -= 1
            self.operations -= len(context.operations)
            context.is_open = False
            context.operations.clear()
            self.id_chars -= context.id_chars
            self.id_chars += sum(len(key) + len(it.state) for key, it in context.blocks.items())
            for block in context.blocks.values():
                block.is_sealed = True
        return {"body": {"outcome": "closed"}}

    def operate(self, message: Any, *, is_valid: bool) -> None:
        context = self.contexts.get(message["context_id"])
        if context is None or not context.is_open:
            raise Refused("context_not_open" if is_valid else "invalid_message")
        operation, limits = message["operation_id"], self.limits
        is_new = operation not in context.operations
        is_short = len(operation) <= limits.id_chars_max
        has_room = is_short and not (
            context.is_full
            or len(context.operations) >= limits.operation_ids_max
            or self.operations >= limits.connection_operation_ids_max
            or context.id_chars >= limits.context_id_chars_max
            or self.id_chars >= limits.connection_id_chars_max
        )
        context.is_full |= is_short and is_new and not has_room
        if has_room and is_new:
            context.operations.add(operation)
            context.id_chars += len(operation)
            self.id_chars += len(operation)
            self.operations += 1
        demand("invalid_message", is_valid)
        demand("resource_exhausted", has_room)
        demand("operation_id_reused", is_new)
        self.change(context, message["kind"], operation, message["body"])

    def change(self, context: Context, kind: str, operation: str, body: Any) -> None:
        key, is_append = body["block_id"], kind == "block.append"
        block = context.blocks.get(key)
        if is_append:
            demand("block_id_reused", block is None)
            block = Block()
        if block is None:
            raise Refused("block_not_found")
        demand("block_sealed", not block.is_sealed)
        if kind == "block.seal":
            block.is_sealed = True
            return
        if "content" in body:
            demand("unsupported_content_type", body["content"]["type"] == "text/plain")
            retain, text, removed = 0, body["content"]["data"], len(block.utf8)
        else:
            demand("content_state_mismatch", body["base_operation_id"] == block.state)
            text = body["fragment"] if kind == "block.extend" else body["replacement"]
            demand("invalid_content", is_text(text))
            retain = body.get("retain", block.length)
            demand("invalid_content_boundary", kind == "block.extend" or retain < block.length)
            removed = block.bytes_from(retain)
        growth = len(text.encode()) - removed
        demand("resource_exhausted", growth <= 0 or self.has_room_for(context, block, growth))
        if is_append:
            demand("resource_exhausted", self.has_room_for_block(context, key))
            context.blocks[key] = block
            context.id_chars += len(key)
            self.id_chars += len(key)
            self.blocks += 1
        before = len(block.utf8)
        block.replace_suffix(retain, text)
        block.state = operation
        block.is_sealed = body.get("lifecycle") == "sealed"
        context.size += len(block.utf8) - before
        self.size += len(block.utf8) - before

    def has_room_for(self, context: Context, block: Block, growth: int) -> bool:
        return (
            len(block.utf8) + growth <= self.limits.block_bytes_max
            and context.size + growth <= self.limits.context_bytes_max
            and self.size + growth <= self.limits.connection_bytes_max
        )

    def has_room_for_block(self, context: Context, key: str) -> bool:
        return (
            len(key) <= self.limits.id_chars_max
            and len(context.blocks) < self.limits.blocks_max
            and self.blocks < self.limits.connection_blocks_max
        )


# The tty


class Terminal:
    """Bytes in, bytes out: frames get their answers, and `ESC [ c` gets one too."""

    def __init__(self) -> None:
        self.scanner = Scanner()
        self.session = Session()
        self.tail = b""  # what may become a question for the terminal's attributes
        self.frame_id = 0

    def receive(self, data: bytes) -> Iterator[bytes]:
        for what, found in self.scanner.feed(data):
            if what == "ordinary":
                self.tail += found
                yield b"\x1b[?62c" * len(re.findall(rb"\x1b\[0?c", self.tail))
                unfinished = re.search(rb"\x1b(\[0?)?\Z", self.tail)
                self.tail = unfinished[0] if unfinished else b""
            elif answer := self.session.receive(found):
                self.frame_id = self.frame_id % (2**31 - 1) + 1
                yield to_frames(answer, self.frame_id)


def main() -> None:
    terminal = Terminal()
    mode = termios.tcgetattr(0)
    tty.setraw(0, termios.TCSANOW)  # what has been written before now is not thrown away
    try:
        while data := os.read(0, 65536):
            for answer in terminal.receive(data):
                written = 0
                while written < len(answer):
                    written += os.write(1, answer[written:])
        termios.tcsetattr(0, termios.TCSANOW, mode)
    except OSError as error:
        if error.errno != errno.EIO:  # which is how the other end of a pty goes away
            raise


if __name__ == "__main__":
    main()
