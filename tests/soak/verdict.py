"""What is held against the store in the end, and what the gateway took for it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, Protocol

from blockwire.content import View
from tests.soak.fold import Fold
from tests.soak.producers import Producer, SentTurn
from tests.soak.script import text_of
from tests.soak.server import Usage
from tests.soak.world import CANARY, CLOCK, Report, World

CATCH_UP_S_MAX: Final = 90.0
GROWTH_SHARE_MAX: Final = 0.10
GROWTH_BYTES_MAX: Final = 10 * 1024 * 1024
CACHES_BYTES_MAX: Final = (32 + 4 * 4 + 16) * 2**20
"""Page caches of the store's connections, and what SQLite needs beside them (statements, temporary
tables)."""

SHARES: Final = (0.5, 0.99, 0.999)

MEASURE_S_MIN: Final = 40.0

Truth = dict[View, list[Any]]


class Reader(Protocol):
    """What was read, whoever read it."""

    view: View

    @property
    def kind(self) -> str: ...
    @property
    def folds(self) -> dict[str, Fold]: ...


async def compare_all(
    world: World, producers: Sequence[Producer], readers: Sequence[Reader]
) -> None:
    """Hold everybody against what is stored, one conversation after the other."""
    ends_at_s = CLOCK.monotonic_s() + CATCH_UP_S_MAX
    by_conversation: dict[str, list[tuple[Reader, Fold]]] = {}
    for reader in readers:
        for fold in reader.folds.values():
            by_conversation.setdefault(fold.conversation_id, []).append((reader, fold))
    for producer in producers:
        conversation = producer.conversation_id
        truth: Truth = {
            view: await _messages(world, conversation, view) for view in ("owner", "public")
        }
        _compare_producer(world, producer, truth)
        await _compare_readers(world, by_conversation.get(conversation, []), truth, ends_at_s)


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


async def _compare_readers(
    world: World, folds: list[tuple[Reader, Fold]], truth: Truth, ends_at_s: float
) -> None:
    """Wait until every reader has what is stored; a fault for each that does not get there."""
    late = folds
    while True:
        # Who shares a state with another shares what is to be said of it.
        said: dict[tuple[View, int], str] = {}
        for _, fold in late:
            key = fold.view, id(fold.state)
            if key not in said:
                said[key] = fold.difference(truth[fold.view])
        late = [(reader, fold) for reader, fold in late if said[fold.view, id(fold.state)]]
        if not late or CLOCK.monotonic_s() > ends_at_s:
            break
        await asyncio.sleep(0.5)
    for reader, fold in late:
        world.fault(
            f"{reader.kind} reader differs",
            f"{fold.view} {fold.conversation_id} at {fold.state.seq}: "
            f"{fold.difference(truth[fold.view])}",
        )
    clean: set[int] = set()
    for _, fold in folds:
        fold.settle()
        if fold.view == "public" and id(fold.state) not in clean:
            if fold.shows_canary:
                world.fault("private bytes", fold.conversation_id)
            else:
                clean.add(id(fold.state))
    world.counts["readers compared"] += len(folds)


def _compare_producer(world: World, producer: Producer, truth: Truth) -> None:
    """Hold what is stored against what a producer sent and was told."""
    stored = {item["id"]: item for item in truth["owner"]}
    if len(stored) != len(truth["owner"]):
        world.fault("message twice", producer.conversation_id)
    for message_id in producer.imported:
        if message_id not in stored:
            world.fault("import lost", message_id)
    for turn in producer.turns:
        _compare_turn(world, turn, stored.get(turn.turn_id))
    if CANARY in json.dumps(truth["public"]):
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
    is_whole, told = turn.is_whole, turn.told_texts
    has_end = message["status"] in {"completed", "failed"} and not codes
    if not is_whole and turn.sent == turn.count and has_end:
        # The last answer was lost with a connection. Then all of it is there, to the last letter.
        is_whole, told = True, turn.sent_texts
        world.counts["ends whose acknowledgement was lost"] += 1
    if message["status"] == "streaming" or (not is_whole and message["status"] == "completed"):
        world.fault("status", f"{turn.acknowledged} of {turn.count}: {message['status']}")
    if not is_whole and not turn.is_cancelled and not is_interrupted:
        world.fault("ended early", message)
    texts = {block["id"]: text_of(block) for block in blocks}
    for block_id, text in told.items():
        if not (texts.get(block_id) or "").startswith(text):
            world.fault("acknowledged text lost", f"{turn.turn_id} {block_id}: {message}")
    for block_id, found in texts.items():
        if found is not None and not turn.sent_texts.get(block_id, "").startswith(found):
            world.fault("text nobody sent", f"{turn.turn_id} {block_id}: {found!r}")


def check_memory(report: Report, samples: Sequence[Usage]) -> str:
    """Return how memory went after warm-up; a fault where it rose.

    What the caches of the store took meanwhile is no rise: they fill as pages are touched, and have
    a bound of their own.
    """
    if len(samples) < MEASURE_S_MIN / 2:
        return "memory: too short a run for a verdict"
    quarter = len(samples) // 4
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]
    before, after = (sum(item.rss_bytes for item in part) / quarter for part in (early, late))
    pages_before, pages = (sum(it.sqlite_bytes for it in part) / quarter for part in (early, late))
    text = (
        f"RSS {before / 2**20:.1f} MiB in the second quarter, {after / 2**20:.1f} in the last, "
        f"of which {pages_before / 2**20:.1f} and {pages / 2**20:.1f} in the store's caches"
    )
    if pages > CACHES_BYTES_MAX:
        report.fault("caches of the store beyond their bound", text)
    cached = max(pages - pages_before, 0)
    if after - before - cached > max(before * GROWTH_SHARE_MAX, GROWTH_BYTES_MAX):
        report.fault("memory grows", text)
    return f"memory: {text}, at most {max(item.rss_bytes for item in samples) / 2**20:.1f}"


def spread(counts: Counter[int]) -> str:
    """Return where the values are that were counted in ``counts``, in ms."""
    total, seen = counts.total(), 0
    shares: list[int] = []
    for value in sorted(counts):
        seen += counts[value]
        while len(shares) < len(SHARES) and seen > total * SHARES[len(shares)]:
            shares.append(value)
    parts = [f"p{part * 100:g} {value} ms" for part, value in zip(SHARES, shares, strict=False)]
    return f"{', '.join(parts)}, most {max(counts, default=0)} ms ({total} samples)"
