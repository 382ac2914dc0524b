"""The check finds every kind of damage that somebody can do to a store with SQL."""

from pathlib import Path

import anyio
import pytest

from blockwire.stores import SqliteStore, check_store
from blockwire.testing.store_contract import tell_turn
from blockwire.testing.store_script import Script, make_turn, new_conversation
from tests.stores.support import change

pytestmark = pytest.mark.anyio

# what somebody does to the file, and what the check then says
DAMAGES: list[tuple[str, set[str]]] = [
    ("UPDATE log SET last_seq = last_seq + 1 WHERE last_seq = 12", {"log_gap", "head_wrong"}),
    ("DELETE FROM log WHERE last_seq = 5", {"log_gap", "seq_wrong", "head_wrong"}),
    ("UPDATE log SET owner = CAST(replace(owner, '\"prev_seq\":4', '\"prev_seq\":3') AS BLOB)",
     {"prev_seq_wrong"}),
    ("UPDATE log SET public = CAST(replace(public, '\"prev_seq\":2', '\"prev_seq\":1') AS BLOB)",
     {"prev_seq_wrong"}),
    ("UPDATE log SET owner = CAST(replace(owner, 'conv_1', 'conv_2') AS BLOB)",
     {"conversation_wrong"}),
    ("UPDATE log SET owner = CAST(replace(owner, '\"text\":\"c\"', '\"text\":c') AS BLOB)",
     {"entry_damaged"}),
    ("UPDATE log SET owner = CAST(replace(owner, '\"text\":\"c\"', '\"text\":\"d\"') AS BLOB)",
     {"message_differs"}),
    ("UPDATE log SET owner = CAST(replace(owner, '\"block_id\":\"b1\"', '\"block_id\":\"b2\"') AS BLOB)",
     {"event_refused"}),
    ("UPDATE log SET owner = substr(owner, 1, length(owner) - 20) WHERE last_seq = 9",
     {"entry_damaged"}),
    ("UPDATE log SET public_seq = 3", {"head_wrong"}),
    ("DELETE FROM messages WHERE id = 'turn_1'",
     {"message_missing", "message_count_wrong", "turn_without_message"}),
    ("UPDATE messages SET message = replace(message, '\"role\":\"user\"', '\"role\":\"tool\"')",
     {"message_differs"}),
    ("UPDATE messages SET created_seq = 30 WHERE id = 'turn_1'", {"message_misplaced"}),
    ("INSERT INTO messages VALUES (99, 1, 'msg_9', 99, 99, 2, '{}')", {"message_count_wrong"}),
    ("UPDATE messages SET message = '[]' WHERE id = 'turn_1'", {"store_corrupt"}),
    ("UPDATE turns SET status = 'running'", {"turn_not_ended", "turn_differs"}),
    ("UPDATE turns SET status = 'failed'", {"turn_differs"}),
    ("UPDATE turns SET first_seq = first_seq + 1", {"turn_differs"}),
    ("UPDATE turns SET last_seq = last_seq + 1", {"turn_differs"}),
    ("UPDATE turns SET completed_at = 1", {"turn_differs"}),
    ("DELETE FROM turns", {"turn_missing"}),
    ("UPDATE log SET public = NULL WHERE public IS NOT NULL", {"public_differs"}),
    ("UPDATE log SET public = CAST(replace(public, '\"markdown\":\"\"', '\"markdown\":\"x\"') AS BLOB)",
     {"public_differs"}),
    ("UPDATE log SET owner = CAST(replace(owner, 'event: content.block.delta', 'event: x') AS BLOB)",
     {"type_wrong"}),
    ("DROP INDEX turns_by_key", {"schema_differs"}),
    ("ALTER TABLE turns ADD COLUMN more TEXT", {"schema_differs"}),
    ("UPDATE messages SET conversation_no = 7 WHERE id = 'turn_1'",
     {"foreign_key", "message_missing", "message_count_wrong", "turn_without_message"}),
]  # fmt: skip


async def write_one(path: Path) -> None:
    async with SqliteStore(path) as store:
        await store.create_conversation(new_conversation())
        await tell_turn(store, Script(), "a", "b", "c")
        await store.join_rows()


@pytest.mark.parametrize(("statement", "codes"), DAMAGES, ids=lambda value: str(value)[:40])
@pytest.mark.requirement("store:check:finds")
async def test_damage_is_found(tmp_path: Path, statement: str, codes: set[str]) -> None:
    path = tmp_path / "store.sqlite3"
    await write_one(path)
    assert check_store(path) == []

    change(path, statement)

    problems = check_store(path)
    assert {problem.code for problem in problems} >= codes
    assert all(problem.detail for problem in problems)
    async with SqliteStore(path) as store:
        assert await store.check() == problems


async def test_an_idempotency_key_that_is_there_twice_is_found(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path) as store:
        await store.create_conversation(new_conversation())
        script = Script()
        for turn_id in ("turn_1", "turn_2"):
            await store.append(script.start_turn(turn_id, idempotency_key=turn_id))
            await store.append(script.end_turn(turn_id, idempotency_key=turn_id))
    change(path, "DROP INDEX turns_by_key")
    change(path, "UPDATE turns SET idempotency_key = 'same'")

    codes = [problem.code for problem in check_store(path)]
    assert codes == ["schema_differs", "idempotency_key_repeated"]


async def test_a_schema_whose_version_is_gone_is_found(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    await write_one(path)

    change(path, "PRAGMA user_version = 0")

    assert [problem.code for problem in check_store(path)] == ["schema_differs"]


async def store_turns(store: SqliteStore, conversation_id: str, count: int, status: str) -> None:
    await store.create_conversation(new_conversation(conversation_id))
    script = Script(conversation_id)
    async with anyio.create_task_group() as group:
        for number in range(count):
            turn = make_turn(
                f"turn_{number}", conversation_id, status=status, idempotency_key=str(number)
            )
            group.start_soon(store.append, script.tell(turn=turn, new_turn=True))


async def test_a_broken_store_does_not_fill_the_memory_with_complaints(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path) as store:
        for index in range(6):
            await store_turns(store, f"conv_{index}", 200, "completed")

    problems = check_store(path)

    assert len(problems) == 1000
    assert {problem.code for problem in problems} == {"turn_without_message"}


async def test_many_turns_are_checked_page_by_page(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path) as store:
        await store_turns(store, "conv_1", 501, "running")

    assert check_store(path) == []
