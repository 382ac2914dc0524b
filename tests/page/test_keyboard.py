"""Reading with keys alone, and with a screen reader."""

from __future__ import annotations

import pytest

from tests.page.histories import Reader, history, turns
from tests.page.people import expect_soon
from tests.page.worlds import World

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

_FOCUSED = "document.activeElement.dataset.messageId ?? document.activeElement.dataset.testid"


@pytest.mark.requirement("page:transcript:keys")
@pytest.mark.requirement("page:transcript:articles")
async def test_keys_move_between_messages(world: World) -> None:
    conversation = history(world, turns(70))
    reader = await Reader.at(world, f"/c/{conversation}")
    region = reader.page.get_by_role("region", name="Conversation", exact=True)
    await expect_soon(region).to_have_count(1)
    assert await reader.page.get_by_role("feed").count() == 1
    last = reader.page.locator("article[data-message-id=say_69]")
    assert await last.get_attribute("aria-setsize") == "-1", "others are not loaded"

    await reader.transcript.focus()
    await reader.page.keyboard.press("k")
    at = await reader.page.evaluate(_FOCUSED)
    names = []
    for _ in range(8):
        await reader.page.keyboard.press("k")
        names.append(await reader.page.evaluate(_FOCUSED))
    assert len({*names, at}) == 9, "each press goes to another message"
    await expect_soon(reader.page.locator(f"[data-message-id={names[-1]}]")).to_be_in_viewport()
    await reader.page.keyboard.press("j")
    assert await reader.page.evaluate(_FOCUSED) == names[-2]

    await reader.page.keyboard.press("Home")
    await expect_soon(reader.text("Question 0:")).to_be_in_viewport()
    assert await reader.page.evaluate("probe.scroller().contains(document.activeElement)")
    first = reader.page.locator("article[data-message-id=ask_0]")
    await expect_soon(first).to_have_attribute("aria-posinset", "1")
    await reader.page.keyboard.press("j")
    assert await reader.page.evaluate("probe.scroller().contains(document.activeElement)")

    await reader.page.keyboard.press("End")
    await expect_soon(last).to_be_in_viewport()
    assert await reader.page.evaluate("probe.scroller().contains(document.activeElement)")
