"""Attachments: contents, holds, quotas, collection."""
# ruff: noqa: D102 - the names of the tests say it

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator
from typing import Any, Final

import msgspec

from blockwire.content import Message, MessageCreated
from blockwire.errors import StoreError
from blockwire.jsontext import Json
from blockwire.ports import AttachmentQuota, AttachmentRow, Store
from blockwire.testing.store_contract.reading import refuses
from blockwire.testing.store_script import T0, Script, make_question, new_conversation

__all__ = ["AttachmentContract", "name_attachments", "put_attachment"]

# More than three chunks of any store, cut unevenly.
_LARGE: Final = bytes(range(256)) * 3500
_PIECE_BYTES: Final = 70_001


async def put_attachment(
    store: Store, attachment_id: str, content: bytes = b"content", **more: Any
) -> AttachmentRow:
    """Store an attachment of ``conv_1``, or of what ``more`` says."""

    async def pieces() -> AsyncGenerator[bytes, None]:
        for start in range(0, len(content), _PIECE_BYTES):
            yield content[start : start + _PIECE_BYTES]

    values: dict[str, Any] = {
        "name": "a.bin",
        "media_type": None,
        "created_at": T0,
        "size_bytes_max": 10_000_000,
    }
    conversation_id = more.pop("conversation_id", "conv_1")
    return await store.write_attachment(
        conversation_id, attachment_id=attachment_id, chunks=pieces(), **(values | more)
    )


def _naming(message_id: str, role: str, *names: str) -> Message:
    content: list[Json] = [
        {
            "id": f"b{index}",
            "type": "attachment",
            "attachment_id": name,
            "name": "a",
            "media_type": "x/y",
        }
        for index, name in enumerate(names)
    ]
    return {**make_question(message_id), "role": role, "content": content}


async def name_attachments(
    store: Store, message_id: str, *names: str, conversation_id: str = "conv_1", role: str = "user"
) -> None:
    """Append a message that names attachments; of role ``system``, privately."""
    message = _naming(message_id, role, *names)
    change = Script(conversation_id).tell(MessageCreated(message=message))
    is_public = role != "system"
    await store.append(
        msgspec.structs.replace(change, attachments=[(name, is_public) for name in names])
    )


async def _is_there(store: Store, attachment_id: str, **where: Any) -> bool:
    return await store.load_attachment(attachment_id, **where) is not None


class AttachmentContract:
    """What every store keeps of attachments."""

    async def test_an_attachment_comes_back_as_it_was_written(self, store: Store) -> None:
        await store.create_conversation(new_conversation(tenant="t1"))

        row = await put_attachment(store, "att_1", _LARGE, name="large.bin")

        assert row == AttachmentRow(
            id="att_1",
            name="large.bin",
            media_type="application/octet-stream",
            size_bytes=len(_LARGE),
            sha256=hashlib.sha256(_LARGE).hexdigest(),
            created_at=T0,
            tenant="t1",
        )
        assert await store.load_attachment("att_1") == row
        assert await store.list_attachments("conv_1") == [row]
        assert await store.list_holders("att_1") == ["conv_1"]
        for offset, size in ((0, 10), (262_140, 10), (262_144, 300_000), (len(_LARGE) - 3, 10)):
            data = await store.read_attachment("att_1", offset=offset, bytes_max=size)
            assert data == _LARGE[offset : offset + size]
        assert await store.read_attachment("att_1", offset=len(_LARGE), bytes_max=10) == b""
        assert await store.read_attachment("att_1", offset=0, bytes_max=10**7) == _LARGE
        assert await store.check() == []

    async def test_types_are_sniffed_unless_they_are_known(self, store: Store) -> None:
        await store.create_conversation(new_conversation())

        text = await put_attachment(store, "att_1", b"a,b\n", claimed_type="text/csv")
        claim = await put_attachment(store, "att_2", b"a,b\n", claimed_type="text/html")
        known = await put_attachment(store, "att_3", b"\0", media_type="x/known")
        empty = await put_attachment(store, "att_4", b"")

        types = [row.media_type for row in (text, claim, known, empty)]
        assert types == ["text/csv", "text/plain", "x/known", "text/plain"]
        assert empty.size_bytes == 0
        assert await store.read_attachment("att_4", offset=0, bytes_max=10) == b""
        assert await store.check() == []

    async def test_the_same_content_is_kept_once(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await store.create_conversation(new_conversation("conv_2"))

        await put_attachment(store, "att_1", _LARGE)
        await put_attachment(store, "att_2", _LARGE, conversation_id="conv_2")

        usage = await store.measure_attachments(None)
        assert (usage.tenant_bytes, usage.total_bytes) == (2 * len(_LARGE), len(_LARGE))
        await store.delete_conversation("conv_1")
        assert await store.read_attachment("att_2", offset=0, bytes_max=10**7) == _LARGE
        assert (await store.measure_attachments(None)).total_bytes == len(_LARGE)
        assert await store.check() == []

    async def test_refused_uploads_leave_nothing(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await put_attachment(store, "att_1", b"12345")

        with refuses("conversation_not_found"):
            await put_attachment(store, "att_2", conversation_id="conv_none")
        with refuses("attachment_exists"):
            await put_attachment(store, "att_1", _LARGE)
        with refuses("attachment_too_large"):
            await put_attachment(store, "att_2", _LARGE, size_bytes_max=len(_LARGE) - 1)
        with refuses("quota_exceeded"):
            await put_attachment(store, "att_2", b"678", quota=AttachmentQuota(tenant_bytes=7))
        with refuses("storage_exceeded"):
            await put_attachment(store, "att_2", _LARGE, quota=AttachmentQuota(total_bytes=10**5))

        assert [row.id for row in await store.list_attachments("conv_1")] == ["att_1"]
        assert (await store.measure_attachments(None)).total_bytes == 5
        await put_attachment(
            store, "att_2", b"678", quota=AttachmentQuota(tenant_bytes=8, total_bytes=8)
        )
        assert await store.check() == []

    async def test_an_upload_that_breaks_leaves_nothing(self, store: Store) -> None:
        await store.create_conversation(new_conversation())

        async def broken() -> AsyncGenerator[bytes, None]:
            yield _LARGE
            raise StoreError("test_broken", "the other end left")

        with refuses("test_broken"):
            await store.write_attachment(
                "conv_1",
                attachment_id="att_1",
                name="a",
                media_type=None,
                created_at=T0,
                chunks=broken(),
                size_bytes_max=10**7,
            )

        assert await store.load_attachment("att_1") is None
        assert (await store.measure_attachments(None)).total_bytes == 0
        assert await store.check() == []

    async def test_a_conversation_that_is_deleted_meanwhile_gets_no_attachment(
        self, store: Store
    ) -> None:
        await store.create_conversation(new_conversation())

        async def pieces() -> AsyncGenerator[bytes, None]:
            yield _LARGE
            await store.delete_conversation("conv_1")
            yield b"rest"

        with refuses("conversation_not_found"):
            await store.write_attachment(
                "conv_1",
                attachment_id="att_1",
                name="a",
                media_type=None,
                created_at=T0,
                chunks=pieces(),
                size_bytes_max=10**7,
            )

        assert (await store.measure_attachments(None)).total_bytes == 0

    async def test_other_changes_are_committed_while_a_file_is_uploaded(self, store: Store) -> None:
        await store.create_conversation(new_conversation())

        async def pieces() -> AsyncGenerator[bytes, None]:
            for index in range(5):
                await name_attachments(store, f"msg_{index}", "att_none")
                yield bytes(200_000)

        await store.write_attachment(
            "conv_1",
            attachment_id="att_1",
            name="a",
            media_type=None,
            created_at=T0,
            chunks=pieces(),
            size_bytes_max=10**7,
        )

        assert await store.load_message("conv_1", "msg_4") is not None

    async def test_views_see_what_events_name(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await store.create_conversation(new_conversation("conv_2"))
        for name in ("att_unnamed", "att_private", "att_public", "att_later"):
            await put_attachment(store, name)

        await name_attachments(store, "msg_1", "att_private", "att_later", role="system")
        await name_attachments(store, "msg_2", "att_public", "att_public")
        await name_attachments(store, "msg_3", "att_later", conversation_id="conv_2")
        await name_attachments(store, "msg_4", "att_public", role="system")

        names = ("att_unnamed", "att_private", "att_public", "att_later")
        assert all([await _is_there(store, name) for name in names])
        public = [name for name in names if await _is_there(store, name, view="public")]
        assert public == ["att_public", "att_later"]
        for conversation_id, view, expected in (
            ("conv_1", "owner", list(names)),
            ("conv_2", "owner", ["att_later"]),
            ("conv_1", "public", ["att_public"]),
            ("conv_2", "public", ["att_later"]),
            ("conv_none", "owner", []),
        ):
            where: dict[str, Any] = {"conversation_id": conversation_id, "view": view}
            assert [name for name in names if await _is_there(store, name, **where)] == expected
        assert await store.list_holders("att_later") == ["conv_1", "conv_2"]
        assert await store.check() == []

    async def test_naming_what_is_foreign_or_not_there_holds_nothing(self, store: Store) -> None:
        await store.create_conversation(new_conversation(tenant="t1"))
        await store.create_conversation(new_conversation("conv_2", tenant="t2"))
        await store.create_conversation(new_conversation("conv_3"))
        await put_attachment(store, "att_1")

        await name_attachments(store, "msg_1", "att_1", "att_none", conversation_id="conv_2")
        await name_attachments(store, "msg_2", "att_1", conversation_id="conv_3")

        assert await store.list_holders("att_1") == ["conv_1"]
        assert await store.list_attachments("conv_2") == []
        assert await store.load_attachment("att_1", view="public") is None
        assert await store.load_message("conv_2", "msg_1") is not None
        await store.delete_conversation("conv_1")
        assert await store.load_attachment("att_1") is None
        assert await store.check() == []

    async def test_what_is_named_before_it_is_there_is_held_once_it_is(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await store.create_conversation(new_conversation("conv_2"))
        await store.create_conversation(new_conversation("conv_3", tenant="t1"))
        await name_attachments(store, "msg_1", "att_1", conversation_id="conv_2")
        await name_attachments(store, "msg_2", "att_1", conversation_id="conv_3")

        row = await put_attachment(store, "att_1")

        assert await store.list_holders("att_1") == ["conv_1", "conv_2"]
        assert await store.load_attachment("att_1", view="public") == row
        assert await store.list_attachments("conv_3") == []
        assert await store.collect_attachments(created_before=T0 + 1, limit=5) == 0
        await store.delete_conversation("conv_1")
        assert await store.read_attachment("att_1", offset=0, bytes_max=9) == b"content"
        assert await store.check() == []

    async def test_what_nobody_holds_any_more_goes_with_its_conversation(
        self, store: Store
    ) -> None:
        await store.create_conversation(new_conversation())
        await store.create_conversation(new_conversation("conv_2"))
        for name in ("att_unnamed", "att_own", "att_shared"):
            await put_attachment(store, name, name.encode())
        await name_attachments(store, "msg_1", "att_own", "att_shared")
        await name_attachments(store, "msg_2", "att_shared", conversation_id="conv_2")

        await store.delete_conversation("conv_1")

        assert [row.id for row in await store.list_attachments("conv_2")] == ["att_shared"]
        assert not await _is_there(store, "att_own")
        assert not await _is_there(store, "att_unnamed")
        assert await store.check() == []
        await store.delete_conversation("conv_2")
        with refuses("attachment_not_found"):
            await store.read_attachment("att_shared", offset=0, bytes_max=10)
        usage = await store.measure_attachments(None)
        assert (usage.tenant_bytes, usage.total_bytes) == (0, 0)
        assert await store.check() == []

    async def test_what_no_event_names_for_long_is_collected(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await store.create_conversation(new_conversation("conv_2"))
        for index, name in enumerate(("att_b", "att_a", "att_named", "att_lent", "att_new")):
            created_at = T0 + (100 if name == "att_new" else index // 2)
            await put_attachment(store, name, name.encode(), created_at=created_at)
        await name_attachments(store, "msg_1", "att_named")
        await name_attachments(store, "msg_2", "att_lent", conversation_id="conv_2")

        assert await store.collect_attachments(created_before=T0, limit=10) == 0
        assert await store.collect_attachments(created_before=T0 + 100, limit=1) == 1
        assert not await _is_there(store, "att_a")
        assert await store.collect_attachments(created_before=T0 + 100, limit=10) == 1
        assert not await _is_there(store, "att_b")
        # Nobody names it any more, and it is at home in a conversation that is there.
        await store.delete_conversation("conv_2")
        assert await _is_there(store, "att_lent")
        assert await store.collect_attachments(created_before=T0 + 100, limit=10) == 1

        left = [row.id for row in await store.list_attachments("conv_1")]
        assert left == ["att_named", "att_new"]
        # An append that comes later finds nothing.
        await name_attachments(store, "msg_3", "att_lent")
        assert await store.list_holders("att_lent") == []
        assert await store.check() == []

    async def test_quotas_count_each_tenant(self, store: Store) -> None:
        for index, tenant in enumerate([None, "", "t1"]):
            await store.create_conversation(new_conversation(f"conv_{index}", tenant=tenant))
            await put_attachment(
                store, f"att_{index}", bytes(index + 1), conversation_id=f"conv_{index}"
            )

        usages = [await store.measure_attachments(tenant) for tenant in (None, "", "t1", "t2")]

        assert [usage.tenant_bytes for usage in usages] == [1, 2, 3, 0]
        assert {usage.total_bytes for usage in usages} == {6}

    async def test_check_finds_a_message_whose_attachment_is_not_held(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await put_attachment(store, "att_1")
        message = _naming("msg_1", "user", "att_1")

        await store.append(Script().tell(MessageCreated(message=message)))

        assert "attachment_not_held" in [problem.code for problem in await store.check()]

    async def test_a_message_may_name_what_its_conversation_has_no_hold_on(
        self, store: Store
    ) -> None:
        for name in ("conv_1", "conv_2"):
            await store.create_conversation(new_conversation(name))
        await put_attachment(store, "att_1", conversation_id="conv_2")
        # As an archive brings it.
        message = _naming("msg_1", "user", "att_1", "att_nowhere")

        await store.append(Script().tell(MessageCreated(message=message)))

        assert await store.check() == []

    async def test_a_closed_store_keeps_attachments_to_itself(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await put_attachment(store, "att_1")

        await store.aclose()

        with refuses("store_closed"):
            await put_attachment(store, "att_2")
        with refuses("store_closed"):
            await store.load_attachment("att_1")
        with refuses("store_closed"):
            await store.collect_attachments(created_before=T0, limit=1)
        await store.open()
        assert await store.read_attachment("att_1", offset=0, bytes_max=10) == b"content"
