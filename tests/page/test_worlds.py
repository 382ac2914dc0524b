"""The ground that the tests of the page stand on works by itself."""

from __future__ import annotations

import pytest

from tests.page.worlds import World

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]


async def test_a_test_speaks_for_the_agent(world: World) -> None:
    conversation = world.conversation()
    path = f"/v1/conversations/{conversation}/turns"
    submitted = world.call(path, method="POST", body={"content": "Do they pass?"})
    turn = await world.agent.turn()
    assert turn.request["turn_id"] == submitted["id"]

    await turn.prose("They ")
    await turn.more("pass.")
    await turn.complete()
    await turn.end()

    ended = world.call(f"{path}/{submitted['id']}?wait=30")
    assert ended["status"] == "completed"
    assert ended["message"]["content"][0]["markdown"] == "They pass."
