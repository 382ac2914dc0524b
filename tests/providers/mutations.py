"""Damage that networks, proxies and other people's servers do to a stream; all of it repeatable.

``mutate`` returns a damaged body, ``judge`` says what is wrong with what a decoder made of one.
"""

import json
import random
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from blockwire.providers import ProviderApi
from tests.providers.compare import Decoded, decode

FAMILIES: Final[dict[str, tuple[ProviderApi, ...]]] = {
    "openai-chat": ("openai-chat",),
    "openai-responses": ("openai-responses",),
    "anthropic": ("anthropic",),
    "gemini": ("gemini",),
    "ollama": ("ollama-chat", "ollama-generate"),
}


class Seed(NamedTuple):
    """A healthy body to start from."""

    api: ProviderApi
    body: bytes


def events_of(body: bytes) -> list[bytes]:
    """Return the events of an event stream, or the lines, each with its end."""
    if body.startswith(b"{"):
        return body.splitlines(keepends=True)
    unix = body.replace(b"\r\n", b"\n")
    return [event + b"\n\n" for event in unix.split(b"\n\n") if event]


def _drop(chance: random.Random, events: list[bytes]) -> None:
    del events[chance.randrange(len(events))]


def _duplicate(chance: random.Random, events: list[bytes]) -> None:
    events.insert(chance.randrange(len(events) + 1), chance.choice(events))


def _swap(chance: random.Random, events: list[bytes]) -> None:
    a, b = chance.randrange(len(events)), chance.randrange(len(events))
    events[a], events[b] = events[b], events[a]


def _shuffle_some(chance: random.Random, events: list[bytes]) -> None:
    a = chance.randrange(len(events))
    window = events[a : a + chance.randint(2, 8)]
    chance.shuffle(window)
    events[a : a + len(window)] = window


def _replay(chance: random.Random, events: list[bytes]) -> None:
    events.extend(events[chance.randrange(len(events)) :])


def _keep_end(chance: random.Random, events: list[bytes]) -> None:
    del events[: chance.randrange(len(events))]


def _truncate(chance: random.Random, events: list[bytes]) -> None:
    del events[chance.randint(1, len(events)) :]


def _split_event(chance: random.Random, events: list[bytes]) -> None:
    position = chance.randrange(len(events))
    cut = chance.randint(0, len(events[position]))
    events[position : position + 1] = [events[position][:cut], b"\n\n", events[position][cut:]]


_INSERTS: Final = (
    b": keep alive\n\n",
    b"data:\n\n",
    b"data: null\n\n",
    b"data: [DONE]\n\n",
    b"data: {}\n\n",
    b'data: [{"error": null}]\n\n',
    b'data: {"error": {"message": "x", "code": 529}}\n\n',
    b"event: error\ndata: {\n\n",
    b'data: {"type": "future_event", "index": 0, "delta": {"type": "future_delta"}}\n\n',
    b"\xff\xfe\x00\n",
    b"{}\n",
    b'{"done": true}\n',
    b"<html>502 Bad Gateway</html>\n",
)


def _insert(chance: random.Random, events: list[bytes]) -> None:
    events.insert(chance.randrange(len(events) + 1), chance.choice(_INSERTS))


_EVENT_DAMAGE: Final[tuple[Callable[[random.Random, list[bytes]], None], ...]] = (
    _drop,
    _duplicate,
    _swap,
    _shuffle_some,
    _replay,
    _keep_end,
    _truncate,
    _split_event,
    _insert,
)

_VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    -1,
    0,
    1,
    7,
    2**63,
    1.5,
    "",
    "x",
    "\x00\x1b[2J",
    "\u202e" + "n" * 400,
    [],
    {},
    [None],
    [{}],
    {"type": "future"},
)


def _alter_value(chance: random.Random, value: Any) -> None:
    """Change one member somewhere inside: another value, another name, or gone."""
    while True:
        if isinstance(value, dict) and value:
            name = chance.choice(list(value))
            if isinstance(value[name], dict | list) and value[name] and chance.random() < 0.8:
                value = value[name]
                continue
            action = chance.random()
            member = value.pop(name)
            if action < 0.2:
                value[name + "_x"] = member
            elif action < 0.8:
                value[name] = chance.choice(_VALUES)
            return
        if isinstance(value, list) and value:
            value = value[chance.randrange(len(value))]
            continue
        return


def _alter(chance: random.Random, events: list[bytes]) -> None:
    """Change one member of one event: unknown types, wrong indexes, values of another kind."""
    position = chance.randrange(len(events))
    head, brace, text = events[position].partition(b"{")
    try:
        value = json.JSONDecoder().decode((brace + text).decode().strip())
    except ValueError:
        return
    _alter_value(chance, value)
    end = b"\n\n" if events[position].endswith(b"\n\n") else b"\n"
    events[position] = head + json.dumps(value).encode() + end


def mutate(chance: random.Random, seed: Seed, others: Sequence[Seed]) -> bytes:
    """Return the body of ``seed`` with one to four kinds of damage."""
    events = events_of(seed.body)
    for _ in range(chance.randint(1, 4)):
        if not events:
            break
        damage = chance.choice((*_EVENT_DAMAGE, _alter, _alter, _alter))
        damage(chance, events)
    if chance.random() < 0.1:
        events += events_of(chance.choice(others).body)
    body = bytearray(b"".join(events))
    if body and chance.random() < 0.2:
        for _ in range(chance.randint(1, 6)):
            body[chance.randrange(len(body))] ^= 1 << chance.randrange(8)
    if chance.random() < 0.15:
        del body[chance.randint(0, len(body)) :]
    return bytes(body)


def calls_of(decoded: Decoded) -> list[Any]:
    """Return name and input of the calls that may be run."""
    return [
        (block["tool"], block.get("input"), block.get("input_json"))
        for block in decoded.of_type("tool")
        if block["status"] == "pending"
    ]


def judge(decoded: Decoded) -> list[str]:
    """Return what is wrong with the result of any stream, however damaged.

    That every event passes the reducer, and that one terminal event ends it, ``decode`` demands.
    """
    found: list[str] = []
    ended = decoded.ended
    is_handing_out = ended.status == "completed" and ended.finish_reason == "tool_calls"
    if bool(calls_of(decoded)) != is_handing_out:
        found.append("a call waits without finish_reason tool_calls, or none with it")
    for block in decoded.of_type("tool"):
        if block["status"] == "running":
            found.append("a call runs for ever")
        is_free_text = block.get("provider_data", {}).get("item_type") == "custom_tool_call"
        kind = str if is_free_text else dict
        if block["status"] == "pending" and not isinstance(block.get("input"), kind):
            found.append("a call that may be run has no whole input")
        if block["status"] == "failed" and "error" not in block and "error_json" not in block:
            found.append("a failed call does not say why")
    errors = decoded.of_type("error")
    if len(errors) != (ended.status == "failed"):
        found.append(f"{len(errors)} error blocks after {ended.status}")
    closing = [*errors, *decoded.of_type("notice")]
    if ended.finish_reason not in {"stop", "tool_calls"} and not closing:
        found.append(f"{ended.finish_reason} looks like success")
    if not all(block["markdown"] for block in decoded.of_type("prose")):
        found.append("an empty prose block")
    return found


def judge_cut(whole: Decoded, cut: Decoded) -> list[str]:
    """Return what is wrong with the result of a stream that ended too early.

    Its text is a beginning of the whole text, and a call may be run only if it is one of the
    whole answer's, with the same input, and the provider had said that the answer is done.
    """
    found = judge(cut)
    for kind, name in (("prose", "markdown"), ("reasoning", "text")):
        all_of, some_of = (
            "".join(block[name] for block in decoded.of_type(kind)) for decoded in (whole, cut)
        )
        if not all_of.startswith(some_of):
            found.append(f"{kind} is not a beginning of the whole")
    if cut.ended.status == "completed" and cut.ended.finish_reason in {"stop", "tool_calls"}:
        if calls_of(cut) != calls_of(whole):
            found.append("other calls than those of the whole answer")
        if whole.ended.finish_reason != cut.ended.finish_reason:
            found.append("a cut answer looks whole")
    return found


def attack(seeds: Sequence[Seed], *, count: int, seed: int) -> int:
    """Decode ``count`` damaged bodies; raise with the body where a decoder misbehaves."""
    chance = random.Random(seed)
    for number in range(count):
        chosen = chance.choice(seeds)
        body = mutate(chance, chosen, seeds)
        pieces = [body]
        if number % 4 == 0:
            size = chance.choice((1, 3, 64))
            pieces = [body[i : i + size] for i in range(0, len(body), size)]
        try:
            found = judge(decode(chosen.api, pieces))
        except Exception as error:
            raise AssertionError(f"{chosen.api} raised {error!r} for {body!r}") from error
        if found:
            raise AssertionError(f"{chosen.api}: {found} for {body!r}")
    return count
