"""What is held against the store in the end, and what the gateway took for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol

from blockwire.content import View
from tests.soak.fold import Fold
from tests.soak.producers import Producer, SentTurn
from tests.soak.script import text_of, texts_of
from tests.soak.server import Usage
from tests.soak.world import CANARY, CLOCK, World

CATCH_UP_S_MAX: Final = 90.0
GROWTH_SHARE_MAX: Final = 0.10
GROWTH_BYTES_MAX: Final = 10 * 1024 * 1024
CACHES_BYTES: Final = (32 * 2**20, *[4 * 2**20] * 4)
"""Page caches of the store's connections: they fill as it grows, up to here."""

MEASURE_S_MIN: Final = 40.0

Truth = dict[tuple[str, View], list[Any]]


class Reader(Protocol):
    """What was read, whoever read it."""

    view: View

    @property
    def kind(self) -> str: ...
    @property
    def folds(self) -> dict[str, Fold]: ...


async def load_truth(world: World, conversations: Iterable[str]) -> Truth:
    """Return the stored messages of each conversation in each view."""
    truth: Truth = {}
    views: tuple[View, ...] = ("owner", "public")
    for conversation in conversations:
        for view in views:
            truth[conversation, view] = await _messages(world, conversation, view)
    return truth


async def _messages(world: World, conversation: str, view: View) -> list[Any]:
    messages: list[Any] = []
    after = "0"
    while True:
        path = f"/v1/conversations/{conversation}/messages?after={after}&limit=200&view={view}"
        page = await world.ask("GET", path)
        if page.status != 200:
            world.fault("messages not readable", page)
            return messages
        messages += page.value["items"]
        after = page.value["next_cursor"]
        if after is None:
            return messages


async def compare_readers(world: World, readers: Sequence[Reader], truth: Truth) -> None:
    """Wait until every reader has what is stored; a fault for each that does not get there."""
    late = [(reader, fold) for reader in readers for fold in reader.folds.values()]
    ends_at_s = CLOCK.monotonic_s() + CATCH_UP_S_MAX
    while late and CLOCK.monotonic_s() < ends_at_s:
        late = [
            (reader, fold)
            for reader, fold in late
            if fold.difference(truth[fold.conversation_id, fold.view])
        ]
        if late:
            await asyncio.sleep(0.5)
    for reader, fold in late:
        differs = fold.difference(truth[fold.conversation_id, fold.view])
        world.fault(
            f"{reader.kind} reader differs",
            f"{fold.view} {fold.conversation_id} at {fold.state.seq}: {differs}",
        )
    for reader in readers:
        for fold in reader.folds.values():
            fold.settle()
            if reader.view == "public" and fold.shows_canary:
                world.fault("private bytes", fold.conversation_id)


def compare_producers(world: World, producers: Sequence[Producer], truth: Truth) -> None:
    """Hold what is stored against what producers sent and were told."""
    for producer in producers:
        stored = {item["id"]: item for item in truth[producer.conversation_id, "owner"]}
        if len(stored) != len(truth[producer.conversation_id, "owner"]):
            world.fault("message twice", producer.conversation_id)
        for message_id in producer.imported:
            if message_id not in stored:
                world.fault("import lost", message_id)
        for turn in producer.turns:
            _compare_turn(world, turn, stored.get(turn.turn_id))
        if CANARY in json.dumps(truth[producer.conversation_id, "public"]):
            world.fault("private bytes", "GET messages")


def _compare_turn(world: World, turn: SentTurn, message: dict[str, Any] | None) -> None:
    if message is None:
        world.fault("turn lost", turn.turn_id)
        return
    blocks = message["content"]
    codes = [block["code"] for block in blocks if block["type"] == "error"]
    is_interrupted = "turn_interrupted" in codes
    if codes.count("turn_interrupted") > 1 or (is_interrupted and message["status"] != "failed"):
        world.fault("interrupted badly", message)
    is_whole = turn.acknowledged == len(turn.events)
    if message["status"] == "streaming" or (not is_whole and message["status"] == "completed"):
        world.fault("status", f"{turn.acknowledged} of {len(turn.events)}: {message['status']}")
    if not is_whole and not turn.is_cancelled and not is_interrupted:
        world.fault("ended early", message)
    texts = {block["id"]: text_of(block) for block in blocks}
    told, sent = texts_of(turn.events[: turn.acknowledged]), texts_of(turn.events)
    for block_id, text in told.items():
        if not (texts.get(block_id) or "").startswith(text):
            world.fault("acknowledged text lost", f"{turn.turn_id} {block_id}: {message}")
    for block_id, found in texts.items():
        if found is not None and not sent.get(block_id, "").startswith(found):
            world.fault("text nobody sent", f"{turn.turn_id} {block_id}: {found!r}")


def check_memory(world: World, samples: Sequence[Usage]) -> str:
    """Return how memory went after warm-up; a fault where it rose."""
    if len(samples) < MEASURE_S_MIN / 2:
        return "memory: too short a run for a verdict"
    quarter = len(samples) // 4
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]
    before, after = (sum(item.rss_bytes for item in part) / quarter for part in (early, late))
    text = f"RSS {before / 2**20:.1f} MiB in the second quarter, {after / 2**20:.1f} in the last"
    cached = _cached_bytes(late[0].store_bytes) - _cached_bytes(early[0].store_bytes)
    text += f", of which pages of the store are at most {cached / 2**20:.1f}"
    if after - before - cached > max(before * GROWTH_SHARE_MAX, GROWTH_BYTES_MAX):
        world.fault("memory grows", text)
    return f"memory: {text}, at most {max(item.rss_bytes for item in samples) / 2**20:.1f}"


def _cached_bytes(store_bytes: int) -> int:
    """Return how many bytes of a store of this size its connections keep in memory at most."""
    return sum(min(bound, store_bytes) for bound in CACHES_BYTES)


def share(values: Sequence[int], part: float) -> int:
    """Return the value below which that part of ``values`` is; 0 of none."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)] if ordered else 0
