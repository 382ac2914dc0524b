"""Tokens, logins and share links: hashes come and go, and nothing outlives what it belongs to."""
# ruff: noqa: D102, S106 - the names of the tests say it; hashes are no passwords

from __future__ import annotations

from typing import Any

import msgspec

from blockwire.ports import LoginRow, ShareRow, Store, TokenRow
from blockwire.testing.store_contract.reading import refuses
from blockwire.testing.store_script import T0, new_conversation

__all__ = ["AccessContract"]


def _token(name: str = "ci", **members: Any) -> TokenRow:
    values: dict[str, Any] = {"secret_hash": f"hash of {name}", "scopes": ("read",)}
    return TokenRow(name=name, created_at=T0, **(values | members))


def _login(secret: str, created_at: int = T0, **members: Any) -> LoginRow:
    values: dict[str, Any] = {"token_hash": "hash of ci", "expires_at": created_at + 100}
    return LoginRow(secret_hash=secret, created_at=created_at, **(values | members))


def _share(number: int, created_at: int = T0, **members: Any) -> ShareRow:
    values: dict[str, Any] = {"conversation_id": "conv_1", "secret_hash": f"hash {number}"}
    return ShareRow(id=f"share_{number}", created_at=created_at, **(values | members))


class AccessContract:
    """Tokens, logins and share links."""

    async def test_tokens_come_back_by_name_as_they_were_made(self, store: Store) -> None:
        rows = [
            _token("b", scopes=("read", "write"), tenant="acme", expires_at=T0 + 9),
            _token("a", used_at=T0 + 1, revoked_at=T0 + 2),
            _token("C", scopes=()),
        ]
        for row in rows:
            await store.create_token(row)

        assert list(await store.list_tokens()) == [rows[2], rows[1], rows[0]]

    async def test_a_name_is_given_to_one_token_unless_that_was_revoked(self, store: Store) -> None:
        await store.create_token(_token())

        with refuses("token_exists"):
            await store.create_token(_token(secret_hash="other"))
        await store.revoke_token("ci", revoked_at=T0 + 1)
        await store.create_token(_token(secret_hash="other"))

        assert list(await store.list_tokens()) == [_token(secret_hash="other")]

    async def test_a_token_is_revoked_once_with_its_logins(self, store: Store) -> None:
        await store.create_token(_token())
        await store.create_login(_login("own"), count_max=9)
        await store.create_login(_login("foreign", token_hash="x"), count_max=9)

        first = await store.revoke_token("ci", revoked_at=T0 + 1)
        second = await store.revoke_token("ci", revoked_at=T0 + 2)

        assert first == second == _token(revoked_at=T0 + 1)
        assert list(await store.list_tokens()) == [first]
        assert await store.load_login("own") is None
        assert await store.load_login("foreign") is not None
        assert await store.revoke_token("nobody", revoked_at=T0) is None

    async def test_a_token_that_is_forgotten_leaves_nothing(self, store: Store) -> None:
        await store.create_token(_token())
        await store.create_login(_login("own"), count_max=9)

        assert await store.forget_token("ci") == _token()
        assert await store.forget_token("ci") is None
        assert list(await store.list_tokens()) == []
        assert await store.load_login("own") is None

    async def test_the_last_use_of_a_token_only_moves_forward(self, store: Store) -> None:
        await store.create_token(_token())
        for used_at in (T0 + 5, T0 + 3):
            await store.touch_token("ci", used_at=used_at)
        await store.touch_token("nobody", used_at=T0)

        assert list(await store.list_tokens()) == [_token(used_at=T0 + 5)]

    async def test_a_login_is_found_until_it_is_ended(self, store: Store) -> None:
        await store.create_login(_login("a"), count_max=9)

        assert await store.load_login("a") == _login("a")
        assert await store.load_login("b") is None
        assert await store.delete_login("a") is True
        assert await store.delete_login("a") is False
        assert await store.load_login("a") is None

    async def test_expired_logins_go_and_a_token_has_so_many(self, store: Store) -> None:
        await store.create_login(_login("old", T0 - 100), count_max=2)
        for index, secret in enumerate("ab"):
            assert not await store.create_login(_login(secret, T0 + index), count_max=2)
        gone = await store.create_login(_login("c", T0 + 2), count_max=2)
        await store.create_login(_login("foreign", T0 + 9, token_hash="x"), count_max=2)

        assert list(gone) == ["a"]
        there = [name for name in ("old", "a", "b", "c", "foreign") if await store.load_login(name)]
        assert there == ["b", "c", "foreign"]

    async def test_shares_belong_to_a_conversation_and_go_with_it(self, store: Store) -> None:
        for name in ("conv_1", "conv_2"):
            await store.create_conversation(new_conversation(name))
        rows = [_share(2, expires_at=T0 + 9), _share(1)]
        for row in rows:
            await store.create_share(row, count_max=9)
        foreign = _share(2, conversation_id="conv_2", secret_hash="hash 3")
        await store.create_share(foreign, count_max=9)

        assert list(await store.list_shares("conv_1")) == rows
        assert await store.find_share("hash 3") == foreign
        assert await store.find_share("hash 4") is None
        assert await store.delete_share("conv_1", "share_1") == rows[1]
        assert await store.delete_share("conv_1", "share_1") is None
        assert await store.delete_share("conv_x", "share_2") is None
        assert await store.find_share("hash 1") is None
        await store.delete_conversation("conv_1")
        assert await store.find_share("hash 2") is None
        assert list(await store.list_shares("conv_1")) == []
        assert await store.find_share("hash 3") == foreign

    async def test_a_conversation_has_so_many_shares_besides_expired_ones(
        self, store: Store
    ) -> None:
        with refuses("conversation_not_found"):
            await store.create_share(_share(1), count_max=2)
        await store.create_conversation(new_conversation())
        await store.create_share(_share(1, expires_at=T0 + 5), count_max=2)
        await store.create_share(_share(2, T0 + 4), count_max=2)

        with refuses("too_many_shares"):
            await store.create_share(_share(3, T0 + 4), count_max=2)
        await store.create_share(_share(3, T0 + 5), count_max=2)

        assert [row.id for row in await store.list_shares("conv_1")] == ["share_2", "share_3"]

    async def test_an_update_of_a_conversation_keeps_its_shares(self, store: Store) -> None:
        await store.create_conversation(new_conversation())
        await store.create_share(_share(1), count_max=2)

        await store.update_conversation(msgspec.structs.replace(new_conversation(), title="t"))

        assert await store.find_share("hash 1") == _share(1)
