"""A conversation as every provider understands it: who said what, which calls had which results.

Spec: docs/spec/gateway/engines.md, "What a provider is told". Above are ``bodies``, one per API.

What reaches a provider is decided here once: private reasoning goes back only to where it came
from, as what it was, and never as something the assistant said; errors and notices are ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, cast

from msgspec import Struct

from blockwire.content import Block, Message, source_member, tool_source
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json, decode_json, encode_json
from blockwire.ports import EngineRequest

__all__ = ["Call", "Image", "Part", "Said", "Step", "Thought", "Transcript", "read_transcript"]

# What all providers accept as the name of a tool and as the id of a call.
_NOT_IN_NAME: Final = re.compile(r"[^a-zA-Z0-9_-]")
NAME_CHARS_MAX: Final = 64

_NO_RESULT: Final = "There is no result: the call was not run."
_CANCELLED: Final = "There is no result: the call was cancelled."


class Said(Struct, frozen=True):
    """Text that somebody said; ``data`` is what its provider keeps beside it."""

    text: str
    data: Mapping[str, Json] | None = None


class Image(Struct, frozen=True):
    """A picture, in base64."""

    media_type: str
    base64: str


class Thought(Struct, frozen=True):
    """Reasoning that goes back to the provider it came from, with its signature."""

    text: str
    data: Mapping[str, Json]


class Call(Struct, frozen=True, kw_only=True):
    """A call of a tool and what came of it.

    Attributes:
        call_id: Pairs call and result.
        name: As providers accept names.
        arguments: One JSON object, exactly as the model wrote it where that is known.
        result: Text for the model.
        is_error: Whether the result says what went wrong.
        data: What its provider keeps beside it.
    """

    call_id: str
    name: str
    arguments: str
    result: str
    is_error: bool = False
    data: Mapping[str, Json] | None = None

    @property
    def input(self) -> dict[str, Json]:
        """The arguments as an object."""
        value = decode_json(self.arguments.encode())
        return value if isinstance(value, dict) else {"input": value}


Part = Said | Image | Thought | Call


class Step(Struct, frozen=True):
    """What one side says before the other does; the calls of an assistant's step come last."""

    role: Literal["user", "assistant"]
    parts: Sequence[Part]

    @property
    def calls(self) -> list[Call]:
        """The calls at its end."""
        return [part for part in self.parts if isinstance(part, Call)]


class Transcript(Struct, frozen=True):
    """What a provider is told: instructions, then steps, oldest first."""

    system: str
    steps: Sequence[Step]


class _Reader(Struct, frozen=True, kw_only=True):
    """Where the transcript goes, and what was found out before reading.

    Attributes:
        api: Name of the provider's wire format; what another one left is not sent.
        provider: Name of the provider; None where nobody knows.
        images: Attachment id -> picture, of those that may be sent.
        results: Block id or call id -> the block that holds a result.
    """

    api: str
    provider: str | None
    images: Mapping[str, Image]
    results: Mapping[str, Block]


def read_transcript(
    request: EngineRequest,
    *,
    api: str,
    provider: str | None = None,
    images: Mapping[str, Image] | None = None,
) -> Transcript:
    """Return what ``request`` tells a provider that speaks ``api``."""
    reader = _Reader(
        api=api, provider=provider, images=images or {}, results=_find_results(request.messages)
    )
    instructions = [request.system or ""]
    steps: list[Step] = []
    answered: set[str] = set()
    for message in request.messages:
        match message["role"]:
            case "system" | "developer":
                instructions.append(_plain_text(message))
            case "assistant":
                steps += _split_steps(list(_assistant_parts(reader, message, answered)))
            case "tool":
                steps += _user_step(list(_unpaired_results(message, answered)))
            case _:
                steps += _user_step(list(_user_parts(reader, message)))
    return Transcript("\n\n".join(filter(None, instructions)), steps)


def _blocks(message: Message) -> list[Block]:
    return cast("list[Block]", message["content"])


def _text(block: Block, name: str) -> str:
    value = block.get(name)
    return value if isinstance(value, str) else ""


def _data(block: Block) -> Mapping[str, Json]:
    value = block.get("provider_data")
    return value if isinstance(value, dict) else {}


def _find_results(messages: Sequence[Message]) -> dict[str, Block]:
    """Return the blocks of role ``tool``, by their own id and by the id of the call."""
    found: dict[str, Block] = {}
    for message in messages:
        for block in _blocks(message) if message["role"] == "tool" else ():
            if block["type"] == "tool":
                for key in (block["id"], _data(block).get("call_id")):
                    if isinstance(key, str):
                        found[key] = block
    return found


def _user_step(parts: list[Part]) -> list[Step]:
    return [Step("user", parts)] if parts else []


def _user_parts(reader: _Reader, message: Message) -> Iterator[Part]:
    for block in _blocks(message):
        image = reader.images.get(_text(block, "attachment_id"))
        text = _text_of(block)
        if block["type"] == "attachment" and image is not None:
            yield image
        elif text.strip():
            yield Said(text)


def _text_of(block: Block) -> str:
    """Return what a block says to a model; nothing where it is no part of the conversation."""
    match block["type"]:
        case "prose":
            return _text(block, "markdown")
        case "code":
            return _fenced(_text(block, "text"), _text(block, "language"))
        case "speech":
            return _text(block, "text")
        case "attachment":
            return f"[attachment: {_text(block, 'name')} ({_text(block, 'media_type')})]"
        case "reasoning" | "error" | "notice" | "tool":
            return ""
        case _:
            return _text(block, "fallback_text")


def _fenced(text: str, language: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _plain_text(message: Message) -> str:
    return "\n\n".join(filter(None, map(_text_of, _blocks(message))))


def _assistant_parts(reader: _Reader, message: Message, answered: set[str]) -> Iterator[Part]:
    is_own = message.get("provider") in {None, reader.provider} or reader.provider is None
    for block in _blocks(message):
        data = _data(block)
        own_data = data if is_own and data.get("provider") == reader.api else None
        match block["type"]:
            case "reasoning":
                if own_data is not None:
                    yield Thought(_text(block, "text"), own_data)
            case "tool":
                call = _call(block, own_data, reader.results, answered)
                if call is not None:
                    yield call
            case "speech":
                # The spoken companion of what is there as prose already.
                pass
            case _:
                text = _text_of(block)
                if text.strip():
                    yield Said(text, own_data)


def _call(
    block: Block,
    data: Mapping[str, Json] | None,
    results: Mapping[str, Block],
    answered: set[str],
) -> Call | None:
    """Return the call, or None where its arguments never became whole: nobody ran it."""
    arguments = _text(block, "input_json") or encode_json(block.get("input", {})).decode()
    try:
        decode_json(arguments.encode())
    except RemoteProtocolError:
        return None
    block_id = str(block["id"])
    known_id = _data(block).get("call_id")
    key = known_id if isinstance(known_id, str) else block_id
    holder = results.get(block_id) or results.get(key)
    if holder is not None:
        answered.add(str(holder["id"]))
    text, is_error = _result(block if holder is None else holder)
    return Call(
        call_id=key if data is not None else _NOT_IN_NAME.sub("_", key)[:NAME_CHARS_MAX],
        name=_NOT_IN_NAME.sub("_", _text(block, "tool"))[:NAME_CHARS_MAX] or "unnamed",
        arguments=arguments,
        result=text,
        is_error=is_error,
        data=data,
    )


def _result(block: Block) -> tuple[str, bool]:
    """Return the result as text, and whether it is an error."""
    for name in ("output", "error"):
        if name in block or source_member(name) in block:
            return tool_source(block, name), name == "error"
    if block["status"] == "completed":
        return "Done.", False
    return (_CANCELLED if block["status"] == "cancelled" else _NO_RESULT), True


def _unpaired_results(message: Message, answered: set[str]) -> Iterator[Part]:
    """Yield what a tool said without a call that asked for it."""
    for block in _blocks(message):
        if block["type"] != "tool":
            text = _text_of(block)
            if text.strip():
                yield Said(text)
        elif block["id"] not in answered:
            yield Said(f"[result of {_text(block, 'tool')}]\n{_result(block)[0]}")


def _split_steps(parts: Sequence[Part]) -> Iterator[Step]:
    """Yield steps that end after a run of calls: a result comes before what was said next."""
    step: list[Part] = []
    for part in parts:
        if step and isinstance(step[-1], Call) and not isinstance(part, Call):
            yield Step("assistant", step)
            step = []
        step.append(part)
    if step:
        yield Step("assistant", step)
