"""The client in TypeScript reads a real gateway through a network that breaks and a gateway that dies."""

from __future__ import annotations

import json  # what the program in Node reads and writes
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.programs import Gateway, Network, call, decoded, environment
from tests.web.agreement import WEB
from tests.web.test_reducers_agree import require

READERS: Final = ("direct", "first tab", "second tab")


class Reader:
    """``web/core/test/live.ts`` in Node: a feed with a stream of its own, and two tabs that share one."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def tell(self, **order: Any) -> Any:
        """Tell it what to do and return its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "it ended early"
        return decoded(line)


@contextmanager
def reading(folder: Path, url: str) -> Iterator[Reader]:
    """Run the program until the end of the block."""
    bundle = folder / "live.mjs"
    subprocess.run(
        ["node", "core/build/bundle.mjs", "core/test/live.ts", str(bundle)], cwd=WEB, check=True
    )
    with subprocess.Popen(
        ["node", str(bundle), url], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            yield Reader(process)
        finally:
            process.kill()


def post(url: str, conversation: str, turn: str, first: int, *events: dict[str, Any]) -> int:
    """Post events as the turn's producer and return the number of the last one."""
    lines = [{"producer_seq": first + at, "turn_id": turn, **e} for at, e in enumerate(events)]
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    path = f"/v1/conversations/{conversation}/turns/{turn}/events"
    seq: int = call(url, path, method="POST", body=body)[-1]["seq"]
    return seq


def begun(text: str) -> dict[str, Any]:
    block = {"id": "b1", "type": "prose", "markdown": text}
    return {"type": "content.block.started", "block": block}


def more(text: str) -> dict[str, Any]:
    return {"type": "content.block.delta", "block_id": "b1", "field": "markdown", "text": text}


def assert_equal_to_rest(url: str, conversation: str, answer: Any) -> None:
    """Each reader has what a page of messages shows, members in their order, and never went back."""
    page = call(url, f"/v1/conversations/{conversation}/messages?limit=200")
    head = call(url, f"/v1/conversations/{conversation}")["head_seq"]
    assert [*answer["feeds"]] == [*READERS]
    for name in READERS:
        feed = answer["feeds"][name]
        assert json.dumps(feed["messages"]) == json.dumps(page["items"]), name
        assert (feed["seq"], feed["status"], feed["falls"]) == (head, "live", 0), name
    assert answer["streams"] == 1


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_cut_network_and_a_killed_gateway_lose_and_double_nothing(tmp_path: Path) -> None:
    require("node")
    store = f"sqlite:///{tmp_path / 'store.db'}"
    env = environment(tmp_path)
    with (
        Gateway(env, "--store", store, "--engine", "external") as gateway,
        Network(gateway.port) as network,
        reading(tmp_path, network.url) as reader,
    ):
        url = gateway.url
        conversation = call(url, "/v1/conversations", method="POST", body={})["id"]
        reader.tell(do="open", conversation=conversation)
        question = {"do": "submit", "conversation": conversation, "engine": "external"}

        turn = reader.tell(**question, content="Count.", key="key_1")["id"]
        # The same key is the same turn, also when it is asked again.
        assert reader.tell(**question, content="Count.", key="key_1")["id"] == turn
        seq = post(url, conversation, turn, 1, begun("zero"), *(more(f" {n}") for n in range(50)))
        assert_equal_to_rest(url, conversation, reader.tell(do="await", seq=seq))

        network.cut()
        seq = post(url, conversation, turn, 52, *(more(f" é {n} \U0001f642") for n in range(50)))
        network.mend()
        seq = post(url, conversation, turn, 102, more(" and on"))
        assert_equal_to_rest(url, conversation, reader.tell(do="await", seq=seq))
        assert network.cut_count

        gateway.kill()
        gateway.restart()
        # The turn was left running: it ends as interrupted, with what was kept.
        head = call(url, f"/v1/conversations/{conversation}")["head_seq"]
        assert head > seq
        answer = reader.tell(do="await", seq=head)
        assert_equal_to_rest(url, conversation, answer)
        assert answer["feeds"]["direct"]["messages"][-1]["status"] == "failed"

        turn = reader.tell(**question, content="Again.", key="key_2")["id"]
        seq = post(url, conversation, turn, 1, begun("one"), more(" two"))
        network.cut()
        network.mend()
        end = {"type": "turn.completed", "status": "completed"}
        seq = post(url, conversation, turn, 3, more(" three"), end)
        assert_equal_to_rest(url, conversation, reader.tell(do="await", seq=seq))
