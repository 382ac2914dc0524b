"""SIGKILL at any moment: what was acknowledged is there, what is there is whole."""

from pathlib import Path

import pytest

from blockwire.stores import SqliteStore, check_store
from blockwire.testing.store_contract import numbers_of, read_all
from tests.stores.support import assert_killed, run_script

pytestmark = pytest.mark.anyio

# Appends pairs of events and prints the last number of each that was acknowledged.
WORK = """
    import asyncio, os, signal, sys
    from blockwire.stores import SqliteStore
    from blockwire.testing.store_contract import plain_append
    from blockwire.testing.store_script import Script, new_conversation
    import msgspec

    class Kill:
        def __init__(self, point, times):
            self.point, self.times = point, times
        def reach(self, point):
            if point == self.point:
                self.times -= 1
                if self.times == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

    async def main(path, point, times):
        store = SqliteStore(path, faults=Kill(point, int(times)))
        await store.open()
        await store.create_conversation(new_conversation())
        script = Script()
        await store.append(script.start_turn())
        await store.append(script.start_block())

        async def produce():
            while True:
                appended = await store.append(script.write("a", "b"))
                print(appended.entries[-1].seq, flush=True)

        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(produce())

    asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize(
    "point", ["encode.before", "encode.after", "commit.before", "commit.after"]
)
@pytest.mark.parametrize("times", [5, 150])
@pytest.mark.requirement("store:durable:killed")
async def test_a_killed_writer_loses_nothing_that_it_acknowledged(
    tmp_path: Path, point: str, times: int
) -> None:
    path = tmp_path / "store.sqlite3"

    ended = run_script(WORK, path, point, times)

    assert_killed(ended)
    acknowledged = [int(line) for line in ended.stdout.split()]
    assert check_store(path) == []
    async with SqliteStore(path) as store:
        numbers = numbers_of(await read_all(store))
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) >= max(acknowledged, default=3)
        # The question, the start of the turn and of its block; then only whole appends.
        assert len(numbers) < 3 or (len(numbers) - 3) % 2 == 0
        assert await store.check() == []
        assert [turn.id for turn in await store.list_unfinished_turns()] in (["turn_1"], [])
