"""Imports: all conversations of an archive at once, and a key that is remembered."""
# ruff: noqa: D102 - the names of the tests say it

from __future__ import annotations

from blockwire.ports import Store
from blockwire.ports.imports import Imported, ImportRow
from blockwire.testing.store_contract.reading import refuses
from blockwire.testing.store_script import new_conversation

__all__ = ["ImportContract"]

_PAIR = (Imported("conv_1", {"id": "conv_1"}), Imported("conv_2", {"id": "conv_2"}))


class ImportContract:
    """What an import makes visible, and what its key finds."""

    async def test_an_import_reveals_its_conversations(self, store: Store) -> None:
        await _hide_two(store)

        await store.complete_import(_PAIR, tenant=None, key=None, body_hash="h")

        assert await _seen(store) == {"conv_1", "conv_2"}

    async def test_an_import_reveals_all_or_nothing(self, store: Store) -> None:
        await _hide_two(store)
        missing = (*_PAIR, Imported("conv_3", {}))

        with refuses("conversation_not_found"):
            await store.complete_import(missing, tenant=None, key="k", body_hash="h")

        assert await _seen(store) == set()
        assert await store.find_import(None, "k") is None

    async def test_a_key_finds_its_import(self, store: Store) -> None:
        await _hide_two(store)

        await store.complete_import(_PAIR[::-1], tenant=None, key="k", body_hash="h")

        found = await store.find_import(None, "k")
        assert found is not None
        assert ImportRow(found.body_hash, list(found.conversations)) == ImportRow(
            "h", list(_PAIR[::-1])
        )

    async def test_a_key_is_used_once_and_refused_without_a_trace(self, store: Store) -> None:
        await _hide_two(store)
        await store.complete_import(_PAIR[:1], tenant=None, key="k", body_hash="h")

        with refuses("idempotency_key_exists"):
            await store.complete_import(_PAIR[1:], tenant=None, key="k", body_hash="i")

        assert await _seen(store) == {"conv_1"}

    async def test_each_tenant_has_its_own_keys(self, store: Store) -> None:
        await _hide_two(store)
        await store.complete_import(_PAIR[:1], tenant=None, key="k", body_hash="h")

        await store.complete_import(_PAIR[1:], tenant="t1", key="k", body_hash="i")

        found = await store.find_import("t1", "k")
        assert found is not None
        assert found.body_hash == "i"
        assert await store.find_import("t2", "k") is None

    async def test_a_key_lives_as_long_as_its_conversations(self, store: Store) -> None:
        await _hide_two(store)
        await store.complete_import(_PAIR, tenant=None, key="k", body_hash="h")

        await store.delete_conversation("conv_1")
        found = await store.find_import(None, "k")
        assert found is not None
        assert [one.conversation_id for one in found.conversations] == ["conv_2"]
        await store.delete_conversation("conv_2")
        assert await store.find_import(None, "k") is None

    async def test_an_import_survives_a_start_and_an_unfinished_one_does_not(
        self, store: Store
    ) -> None:
        await _hide_two(store)
        await store.complete_import(_PAIR[:1], tenant=None, key="k", body_hash="h")

        await store.aclose()
        await store.open()

        assert await _seen(store) == {"conv_1"}
        assert await store.find_import(None, "k") is not None
        with refuses("conversation_not_found"):
            await store.complete_import(_PAIR[1:], tenant=None, key=None, body_hash="i")


async def _hide_two(store: Store) -> None:
    for imported in _PAIR:
        await store.create_hidden_conversation(new_conversation(imported.conversation_id))


async def _seen(store: Store) -> set[str]:
    page = await store.list_conversations(tenant=None, cursor=None, limit=10)
    return {row.id for row in page.items}
