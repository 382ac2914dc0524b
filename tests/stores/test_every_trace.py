"""Delete means gone, for every kind of thing that a conversation brings into a store."""

import gc
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from blockwire.content import MessageCreated
from blockwire.jsontext import Json
from blockwire.ports import ShareRow, Store
from blockwire.ports.imports import Imported
from blockwire.stores import MemoryStore, SqliteStore
from blockwire.testing.store_contract import tell_turn
from blockwire.testing.store_contract.attachments import put_attachment
from blockwire.testing.store_contract.search import make_message, prose, store_message
from blockwire.testing.store_script import T0, Script, make_question, new_conversation

pytestmark = pytest.mark.anyio

# Letters that nothing else here has in this order; a number for each place follows.
_STEM: Final = "zqxvkj"


class Canaries:
    """Gives a word for each place, and remembers which."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def __call__(self) -> str:
        self.words.append(f"{_STEM}{len(self.words):02}a")
        return self.words[-1]


async def leave_traces(store: Store, canary: Canaries) -> str:
    """Make a conversation that leaves its own word everywhere, and return its id."""
    conversation_id = canary()
    await store.create_hidden_conversation(
        new_conversation(
            conversation_id,
            title=canary(),
            tags=(canary(), canary()),
            system=canary(),
            metadata={canary(): canary()},
        )
    )
    await store.complete_import(
        [Imported(conversation_id, {"source_id": canary()})],
        tenant=None,
        key=canary(),
        body_hash=canary(),
    )
    script = Script(conversation_id)
    await put_attachment(
        store,
        canary(),
        canary().encode() * 1000,
        conversation_id=conversation_id,
        name=canary(),
        media_type=f"text/{canary()}",
    )
    await put_attachment(store, "att_named", b"shared", conversation_id=conversation_id)
    question = make_question(canary(), f"ask {canary()}? {canary()}") | {"author": canary()}
    named: dict[str, Json] = {"id": "a1", "type": "attachment", "attachment_id": "att_named"}
    named |= {"name": canary(), "media_type": "text/plain"}
    question["content"] = [*_blocks(question), named]
    change = script.tell(MessageCreated(message=question))
    await store.append(
        msgspec.structs.replace(
            change, auto_title=canary(), totals={canary(): 1}, attachments=[("att_named", True)]
        )
    )
    await store.append(
        msgspec.structs.replace(
            script.start_turn(
                canary(),
                idempotency_key=canary(),
                body_hash=canary(),
                model=canary(),
                provider=canary(),
                options={"stop": canary()},
                request={"prompt": canary()},
            )
        )
    )
    await tell_turn(
        store, script, *(f"{canary()} {number}" for number in range(2)), turn_id="turn_9"
    )
    tool: dict[str, Json] = {
        "id": canary(),
        "type": "tool",
        "tool": canary(),
        "status": "completed",
    }
    tool |= {"input": {canary(): 1}, "output": canary()}
    thought: dict[str, Json] = {"id": "r1", "type": "reasoning", "text": canary()}
    message = make_message(
        "msg_9",
        tool,
        thought,
        prose(
            "b1",
            "x",
        )
        | {"provider_data": {"s": canary()}},
    )
    await store_message(store, message, conversation_id)
    share = ShareRow(
        id=canary(), conversation_id=conversation_id, secret_hash=canary(), created_at=T0
    )
    await store.create_share(share, count_max=5)
    return conversation_id


def _blocks(message: dict[str, Json]) -> list[Json]:
    content = message["content"]
    assert isinstance(content, list)
    return content


async def keep_another(store: Store) -> None:
    await store.create_conversation(new_conversation("conv_kept", title="kept"))
    await store_message(store, make_message("msg_1", prose("b1", "kept words")), "conv_kept")


def left_in_files(folder: Path, words: list[str]) -> set[str]:
    files = [path.read_bytes().lower() for path in folder.iterdir()]
    return {word for word in words if any(word.encode() in data for data in files)}


def left_in_memory(store: Store, words: list[str]) -> set[str]:
    """Return the words that can be reached from ``store``."""
    seen: set[int] = set()
    texts: list[str] = []
    waiting: list[Any] = [store]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, type):
            continue
        seen.add(id(thing))
        if isinstance(thing, str):
            texts.append(thing)
        elif isinstance(thing, bytes | bytearray):
            texts.append(bytes(thing).decode("latin-1"))
        elif isinstance(thing, msgspec.Struct):
            waiting += [getattr(thing, name) for name in thing.__struct_fields__]
        elif isinstance(thing, dict):
            waiting += [*thing, *thing.values()]
        elif isinstance(thing, list | tuple | set) or type(thing).__module__.startswith(
            "blockwire.stores"
        ):
            waiting += gc.get_referents(thing)
    return {word for word in words if any(word in text for text in texts)}


async def until_gone(store: Store, left: Callable[[], set[str]]) -> None:
    """Let the store do what nobody waits for; a word that stays is the test's timeout."""
    while left():
        await store.ping()


@pytest.mark.requirement("store:delete:gone")
@pytest.mark.parametrize("has_been_tidied", [False, True])
async def test_no_trace_is_left_in_any_file(tmp_path: Path, has_been_tidied: bool) -> None:
    canary = Canaries()
    async with SqliteStore(tmp_path / "store.sqlite3") as store:
        await keep_another(store)
        conversation_id = await leave_traces(store, canary)
        if has_been_tidied:
            await store.join_rows()
            await repeat(store.merge_step)
            await repeat(store.vacuum_step)
        assert left_in_files(tmp_path, canary.words) == set(canary.words)

        assert await store.delete_conversation(conversation_id)

        await until_gone(store, lambda: left_in_files(tmp_path, canary.words))
        assert await store.check() == []
    assert left_in_files(tmp_path, [_STEM]) == set()


async def repeat(step: Callable[[], Awaitable[bool]]) -> None:
    while await step():
        pass


@pytest.mark.requirement("store:delete:gone")
async def test_no_trace_is_left_in_memory() -> None:
    canary = Canaries()
    store = MemoryStore()
    await store.open()
    await keep_another(store)
    conversation_id = await leave_traces(store, canary)
    assert left_in_memory(store, canary.words) == set(canary.words)

    assert await store.delete_conversation(conversation_id)

    assert left_in_memory(store, canary.words) == set()
    assert left_in_memory(store, ["kept words"]), "the test looks in the right place"
