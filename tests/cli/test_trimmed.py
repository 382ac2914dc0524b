"""Commands on a conversation whose log has been trimmed: they show the newest, and say nothing wrong."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from blockwire.ports import RetentionLimits
from blockwire.stores import SqliteStore
from blockwire.testing.store_contract import merge_all, tell_turn, trim_all
from blockwire.testing.store_script import T0, Script, new_conversation
from tests.cli.conftest import Run

pytestmark = pytest.mark.timeout(60)

DAY_MS = 86_400_000


async def make(path: Path) -> int:
    async with SqliteStore(path, synchronous="NORMAL") as store:
        await store.create_conversation(new_conversation())
        script = Script()
        for day in range(3):
            script.ts = T0 + day * DAY_MS
            await tell_turn(store, script, f"day {day}", ".", turn_id=f"turn_{day}")
        await merge_all(store)
        await trim_all(store, RetentionLimits(events_before=T0 + 2 * DAY_MS))
        return await store.log_start("conv_1")


@pytest.fixture
def trimmed(tmp_path: Path) -> tuple[str, int]:
    path = tmp_path / "store.db"
    start = asyncio.run(make(path))
    assert start > 0
    return f"sqlite:///{path}", start


def test_watch_shows_every_message_once(blockwire: Run, trimmed: tuple[str, int]) -> None:
    ended = blockwire("watch", "conv_1", "--until-idle", "--store", trimmed[0])

    assert ended.status == 0, ended.err
    assert [ended.out.count(f"day {day}.") for day in range(3)] == [1, 1, 1]


@pytest.mark.parametrize("after", [0, 3])
def test_watch_in_json_begins_with_a_snapshot(
    blockwire: Run, trimmed: tuple[str, int], after: int
) -> None:
    ended = blockwire(
        "watch", "conv_1", "--until-idle", "--json", "--after", str(after), "--store", trimmed[0]
    )

    assert ended.status == 0, ended.err
    events = [msgspec.json.decode(line) for line in ended.out.splitlines()]
    assert [event["type"] for event in events] == ["conversation.snapshot"]
    assert len(events[0]["messages"]) == 6


def test_show_and_check_know_everything(blockwire: Run, trimmed: tuple[str, int]) -> None:
    shown = blockwire("show", "conv_1", "--store", trimmed[0])
    checked = blockwire("check", "--store", trimmed[0])

    assert [shown.out.count(f"day {day}.") for day in range(3)] == [1, 1, 1]
    assert (checked.status, checked.out) == (0, "ok\n")
