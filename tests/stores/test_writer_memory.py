"""What the writer of a store keeps in memory does not grow with the turns that are over."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import pytest

from blockwire.stores import SqliteStore
from blockwire.testing.store_script import Script, new_conversation

pytestmark = pytest.mark.anyio

WARM_UP_TURNS = 50
TURNS = 200
BYTES_A_TURN_MAX = 150
"""A turn that is kept takes twice as much and more; a few numbers may move."""


async def test_turns_that_are_over_are_not_kept(tmp_path: Path) -> None:
    appends = []
    for number in range(WARM_UP_TURNS + TURNS):
        # A conversation each would be kept; these are the turns of one.
        script = Script()
        turn_id = f"turn_{number}"
        appends.append([script.start_turn(turn_id), script.end_turn(turn_id)])
    async with SqliteStore(tmp_path / "store.sqlite3", synchronous="NORMAL") as store:
        await store.create_conversation(new_conversation())
        before_bytes = 0
        tracemalloc.start()
        try:
            for number, (begin, end) in enumerate(appends):
                if number == WARM_UP_TURNS:
                    gc.collect()
                    before_bytes, _most = tracemalloc.get_traced_memory()
                await store.append(begin)
                await store.append(end)
            gc.collect()
            after_bytes, _most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert (after_bytes - before_bytes) / TURNS < BYTES_A_TURN_MAX
