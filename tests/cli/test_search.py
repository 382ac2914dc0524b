"""``blockwire search``: what is found, how it is shown, and the index made again."""

from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from blockwire.content import Message, MessageCreated
from blockwire.jsontext import Json, decode_json
from blockwire.stores import SqliteStore
from blockwire.stores.sqlite.indexer import Indexer
from blockwire.testing.store_script import Script, new_conversation
from tests.cli.conftest import Run
from tests.stores.support import change


def prose(text: str, block_id: str = "b1") -> dict[str, Json]:
    return {"id": block_id, "type": "prose", "markdown": text}


def message(message_id: str, text: str, role: str = "assistant", **members: Json) -> Message:
    return {
        "id": message_id,
        "role": role,
        "status": "completed",
        "content": [prose(text)],
        "created_at": 1_740_000_000_000,
        **members,
    }


async def fill(path: Path, *messages: Message, title: str | None = None) -> None:
    async with SqliteStore(path) as store:
        await store.create_conversation(new_conversation(title=title))
        script = Script()
        for one in messages:
            await store.append(script.tell(MessageCreated(message=one)))


@pytest.fixture
def store(home: Path) -> tuple[str, str]:
    path = home / "store.db"
    messages = [
        message("msg_1", "Where is the \x1b[31mneedle\x07?\nIn the hay.", role="user"),
        message("turn_2", "A needle, I think.", turn_id="turn_2"),
    ]
    anyio.run(lambda: fill(path, *messages, title="Hay \x1b]0;x\x07"))
    return ("--store", f"sqlite:///{path}")


def test_a_pipe_gets_a_line_a_hit(store: tuple[str, str], blockwire: Run) -> None:
    ended = blockwire("search", "needle", *store)
    first, second = ended.out.splitlines()
    assert (ended.status, ended.err) == (0, "")
    assert first.startswith("conv_1  turn_2  b1  2025-02-19")
    assert first.endswith("assistant prose  A needle, I think.")
    assert "\x1b" not in ended.out
    assert "\x07" not in ended.out
    assert second.endswith("In the hay.")


def test_a_terminal_gets_what_was_found_in_bold_and_how_to_open_it(
    store: tuple[str, str], blockwire: Run
) -> None:
    ended = blockwire("search", "needle", "--color", "always", "--width", "70", *store)
    assert "\x1b[0;1;4;33mneedle\x1b[0m" in ended.out
    assert "blockwire show conv_1 --turn turn_2" in ended.out
    assert "blockwire show conv_1\x1b" in ended.out
    assert "\x07" not in ended.out
    assert "\x1b[31m" not in ended.out
    assert "\x1b]" not in ended.out


def test_json_is_a_hit_a_line(store: tuple[str, str], blockwire: Run) -> None:
    ended = blockwire("search", "needle", "--json", "--role", "assistant", *store)
    found: list[Any] = [decode_json(line) for line in ended.out.encode().splitlines()]
    (hit,) = found
    assert (hit["message_id"], hit["turn_id"]) == ("turn_2", "turn_2")
    assert hit["snippet"]["matches"] == [{"start": 2, "end": 8}]


def test_more_and_nothing_and_nonsense_are_said(store: tuple[str, str], blockwire: Run) -> None:
    limited = blockwire("search", "needle", "--limit", "1", *store)
    nothing = blockwire("search", "--conversation", "conv_9", "needle", *store)
    nonsense = blockwire("search", "?!", *store)
    assert (len(limited.out.splitlines()), limited.err) == (
        1,
        "there is more; --limit 2 shows it\n",
    )
    assert (nothing.status, nothing.out, nothing.err) == (0, "", "nothing found\n")
    assert nonsense.status == 1
    assert "[invalid_query]" in nonsense.err


@pytest.mark.parametrize(
    "arguments", [(), ("--rebuild", "word"), ("--rebuild", "--url", "http://127.0.0.1:1")]
)
def test_wrong_usage_is_said(arguments: tuple[str, ...], blockwire: Run) -> None:
    assert blockwire("search", *arguments).status == 2


def test_an_index_is_made_again(store: tuple[str, str], home: Path, blockwire: Run) -> None:
    change(home / "store.db", "INSERT INTO search_words (search_words) VALUES ('delete-all')")
    assert blockwire("search", "needle", *store).out == ""
    assert "index_differs" in blockwire("check", *store).err
    rebuilt = blockwire("search", "--rebuild", *store)
    assert (rebuilt.status, rebuilt.out) == (0, "indexed 2 messages\n")
    assert blockwire("search", "needle", *store).out.count("\n") == 2


def test_an_index_that_is_in_use_or_nowhere_is_not_made_again(
    store: tuple[str, str], home: Path, blockwire: Run
) -> None:
    async def rebuild_beside() -> str:
        async with SqliteStore(home / "store.db"):
            return await anyio.to_thread.run_sync(
                lambda: blockwire("search", "--rebuild", *store).err
            )

    assert "[store_locked]" in anyio.run(rebuild_beside)
    assert "[invalid_store_url]" in blockwire("search", "--rebuild", "--store", "memory:").err
    assert "[store_not_found]" in blockwire("search", "--rebuild", "--store", "sqlite:///no").err


def test_a_search_while_the_index_is_made_says_so(
    store: tuple[str, str], home: Path, blockwire: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Indexer, "is_due", False)
    change(home / "store.db", "UPDATE search_state SET waiting_no = 1")
    ended = blockwire("search", "needle", *store)
    assert "the search index is being made" in ended.err


def test_more_than_a_page_is_shown(home: Path, blockwire: Run) -> None:
    path = home / "many.db"
    messages = [message(f"msg_{n}", f"needle {n}") for n in range(130)]
    anyio.run(lambda: fill(path, *messages))
    ended = blockwire("search", "needle", "--limit", "500", "--store", f"sqlite:///{path}")
    assert len(ended.out.splitlines()) == 130
