"""Readers through the SDK: it reconnects by itself, and nobody helps it."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from blockwire.client import AsyncClient, ClientError
from blockwire.content import ConversationSnapshot, View
from tests.soak.fold import Fold
from tests.soak.world import World


class SdkReader:
    """Reads one conversation with ``AsyncClient.events``.

    Attributes:
        folds: By conversation; their states are the SDK's own.
    """

    kind = "sdk"

    def __init__(self, world: World, client: AsyncClient, conversation: str, view: View) -> None:
        self._world = world
        self._client = client
        self._conversation = conversation
        self.view: View = view
        self._fold = Fold(world, conversation, view)
        self.folds = {conversation: self._fold}

    async def run(self) -> None:
        """Read until cancelled."""
        try:
            await self._read()
        except ClientError as error:
            self._world.fault(f"sdk gave up: {error.code}", error)
            await asyncio.Event().wait()

    async def _read(self) -> None:
        events = self._client.events(
            self._conversation,
            view=self.view,
            on_report=lambda error: self._world.fault("sdk lost something", error),
        )
        async with aclosing(events) as states:
            async for state, event in states:
                self._world.counts["events read"] += 1
                if isinstance(event, ConversationSnapshot):
                    # It began with the first event, so only a hole can have been the reason.
                    self._world.fault("sdk needed a snapshot", f"{self.view} {event.seq}")
                self._fold.keep(state, event)
