"""What a person does with the page, and what they see of it, in the words of the tests."""

from __future__ import annotations

from typing import Any, Final

from playwright.async_api import Locator, Page, expect

from tests.page.worlds import WAIT_MS

__all__ = ["Person", "expect_soon"]

expect.set_options(timeout=WAIT_MS)
expect_soon: Final = expect
"""``expect`` of Playwright, with the patience of the other tests."""


class Person:
    """Somebody in front of a page."""

    def __init__(self, page: Page) -> None:
        self.page = page

    @property
    def composer(self) -> Locator:
        return self.page.get_by_test_id("composer-input")

    @property
    def transcript(self) -> Locator:
        return self.page.get_by_test_id("transcript")

    @property
    def connection(self) -> Locator:
        return self.page.get_by_test_id("connection")

    def messages(self, role: str) -> Locator:
        """Return the messages of a role that are drawn."""
        return self.page.locator(f'article[data-message-id][data-role="{role}"]')

    def blocks(self, kind: str) -> Locator:
        """Return the blocks of a type that are drawn."""
        return self.page.locator(f'[data-block-id][data-block-type="{kind}"]')

    def answer(self, number: int = -1) -> Locator:
        """Return an answer that is drawn; the last one by default."""
        return self.messages("assistant").nth(number)

    async def ask(self, text: str) -> None:
        """Write a question and send it by its button."""
        await self.composer.fill(text)
        await self.page.get_by_test_id("send").click()

    async def sees(self, text: str) -> None:
        """Wait until the last answer holds ``text``."""
        await expect_soon(self.answer()).to_contain_text(text)

    async def sees_end(self, status: str = "completed") -> None:
        """Wait until the last answer has a status."""
        await expect_soon(self.answer()).to_have_attribute("data-status", status)

    async def prose(self, number: int = -1) -> str:
        """Return the words of the prose of an answer."""
        found = self.answer(number).locator('[data-block-type="prose"]')
        return "\n".join(await found.all_inner_texts())

    async def conversation_id(self) -> str:
        """Return the id of the conversation that is open, once there is one."""
        await self.page.wait_for_url("**/c/*")
        return self.page.url.partition("/c/")[2].partition("#")[0]

    async def storage(self) -> str:
        """Return everything that scripts of this origin can read again later, as one text."""
        stored: Any = await self.page.evaluate(
            """async () => {
              const names = await indexedDB.databases();
              const caches_ = "caches" in self ? await caches.keys() : [];
              return JSON.stringify([{...localStorage}, {...sessionStorage}, names, caches_,
                document.cookie, location.href, window.name, history.state]);
            }"""
        )
        return str(stored)

    @property
    def line(self) -> Locator:
        """The questions above the input that no turn began with."""
        return self.page.get_by_role("region", name="Questions that wait").get_by_role("listitem")

    @property
    def files(self) -> Locator:
        """The files of the draft."""
        return self.page.get_by_role("list", name="Files of the next question").get_by_role(
            "listitem"
        )

    def button(self, name: str) -> Locator:
        """Return a button by a part of its name."""
        return self.page.get_by_role("button", name=name)
