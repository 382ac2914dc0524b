"""Delete means gone: from rows, free pages and the WAL."""

from pathlib import Path

import pytest

from blockwire.content import MessageCreated
from blockwire.stores import SqliteStore
from blockwire.testing.store_contract import numbers_of, plain_append, read_all, tell_turn
from blockwire.testing.store_script import Script, make_question, new_conversation

pytestmark = pytest.mark.anyio

SECRET = "xyzzy-the-secret-word"


def files_with(folder: Path, text: str) -> list[str]:
    return [path.name for path in folder.iterdir() if text.encode() in path.read_bytes()]


@pytest.mark.requirement("store:delete:gone")
async def test_nothing_of_a_deleted_conversation_is_left_in_any_file(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "store.sqlite3") as store:
        for name in ("conv_1", "conv_2"):
            await store.create_conversation(
                new_conversation(name, title=SECRET if name == "conv_1" else "other", system="s")
            )
        script = Script()
        long_text = (SECRET + " ") * 2000
        await store.append(script.tell(MessageCreated(message=make_question("msg_1", long_text))))
        await tell_turn(store, script, *[f"{SECRET} {index}" for index in range(200)])
        # Deletes rows on its way; their text must not stay behind in free pages either.
        await store.join_rows()
        await store.append(plain_append("kept", "conv_2"))
        assert files_with(tmp_path, SECRET)

        assert await store.delete_conversation("conv_1")

        assert files_with(tmp_path, SECRET) == []
        assert numbers_of(await read_all(store, conversation_id="conv_2")) == [1]
        await store.append(plain_append("more", "conv_2"))
    assert files_with(tmp_path, SECRET) == []


async def test_a_reader_that_is_in_the_way_only_delays_it(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "store.sqlite3") as store:
        await store.create_conversation(new_conversation())
        await store.append(plain_append(SECRET))
        readers = store._readers
        assert readers is not None
        connection = await readers.run(lambda connection: connection)
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM log").fetchone()

        assert await store.delete_conversation("conv_1")
        assert files_with(tmp_path, SECRET)
        connection.execute("ROLLBACK")
        await store.ping()

        assert files_with(tmp_path, SECRET) == []
