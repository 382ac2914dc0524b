"""``blockwire token``."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Final, Protocol

import anyio
import click
import msgspec

from blockwire.cli.gateways import find_owner
from blockwire.cli.options import READER_OPTIONS, options, take_config
from blockwire.cli.output import note, one_line, write, write_json
from blockwire.cli.places import prepare_place, store_path
from blockwire.cli.settings import Config
from blockwire.cli.system import SystemClock
from blockwire.client import AsyncClient, Token
from blockwire.errors import LocalProtocolError, StoreError
from blockwire.gateway.access.callers import SCOPES
from blockwire.gateway.access.keyring import Keyring
from blockwire.gateway.access.methods import check_token_request, token_shape
from blockwire.stores import SqliteStore

_UNITS_S: Final = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_TIME: Final = re.compile(r"([1-9][0-9]{0,4})([mhdw])\Z")


class _Keeper(Protocol):
    """Who keeps the tokens: a gateway that runs, or the store that no gateway has open."""

    async def create_token(
        self,
        name: str,
        scopes: Sequence[str],
        *,
        tenant: str | None,
        expires_at: int | None,
    ) -> Token: ...

    async def list_tokens(self) -> Sequence[Token]: ...

    async def revoke_token(self, name: str, *, forget: bool) -> None: ...


class _Scopes(click.ParamType[list[str]]):
    """Scopes, separated by commas."""

    name = "scopes"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[str]:
        scopes = [part.strip() for part in str(value).split(",")]
        if not SCOPES.issuperset(scopes):
            self.fail(f"some of {', '.join(sorted(SCOPES))}, separated by commas", param, ctx)
        return sorted(set(scopes))


class _Duration(click.ParamType[int]):
    """A time from now on, in seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = _TIME.match(str(value))
        if match is None:
            self.fail("a number and m, h, d or w, such as 30d", param, ctx)
        return int(match[1]) * _UNITS_S[match[2]]


@click.group("token")
def command() -> None:
    """Make, list and take back the tokens that let others call the gateway.

    A gateway that runs knows at once. As soon as there is one token, everybody needs one; commands
    of the same user on this machine go on without.
    """


@command.command("create")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    type=_Scopes(),
    metavar="SCOPES",
    default="read",
    show_default=True,
    help="Some of those below, separated by commas.",
)
@click.option("--tenant", metavar="NAME", help="Confine it to the conversations of one tenant.")
@click.option(
    "--expires", type=_Duration(), metavar="TIME", help="When it ends: 12h, 30d, 8w. Else never."
)
@options(*READER_OPTIONS)
def create(
    name: str, scopes: list[str], tenant: str | None, expires: int | None, **arguments: Any
) -> None:
    """Make a token and print it, this once: only its hash is kept.

    \b
    Scopes:
      read       read, also streams
      write      create, submit, cancel, post events, delete, share
      reasoning  see private reasoning, provider data and system messages
      admin      make and take back tokens, with any scopes
      metrics    read /metrics
    """  # noqa: D301 - click reads the escape: the lines below it stay as they are
    anyio.run(_create, take_config(arguments), (name, scopes, tenant, expires))


async def _create(config: Config, asked: tuple[str, list[str], str | None, int | None]) -> None:
    name, scopes, tenant, expires_s = asked
    now_ms = SystemClock().now_ms()
    expires_at = None if expires_s is None else now_ms + expires_s * 1000
    check_token_request(name, [*scopes], tenant, expires_at, now_ms=now_ms)
    async with _keeper(config, makes_store=True) as keeper:
        made = await keeper.create_token(name, scopes, tenant=tenant, expires_at=expires_at)
        is_first = len(await keeper.list_tokens()) == 1
    write(f"{made.token}\n")
    note(f"token {name}: {', '.join(made.scopes)}. Keep it now; it cannot be shown again.")
    if is_first:
        note("from now on everybody needs a token, but for your own commands on this machine")


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one token a line.")
@options(*READER_OPTIONS)
def list_command(*, as_json: bool, **arguments: Any) -> None:
    """List tokens by name: scopes, tenant, end, last use (to the hour). Never a secret."""
    anyio.run(_list, take_config(arguments), as_json)


async def _list(config: Config, as_json: bool) -> None:  # noqa: FBT001 - from anyio.run
    tokens: Sequence[Token] = ()
    try:
        async with _keeper(config, makes_store=False) as keeper:
            tokens = await keeper.list_tokens()
    except StoreError as error:
        # Before the first one there is no store, and nothing is wrong with that.
        if error.code != "store_not_found" or config.settings["store"].origin != "default":
            raise
    now_ms = SystemClock().now_ms()
    for token in tokens:
        if as_json:
            members = msgspec.structs.asdict(token)
            write_json({name: value for name, value in members.items() if value is not None})
        else:
            write(_line(token, now_ms))
    if not tokens and not as_json:
        note("no tokens yet; make one with: blockwire token create NAME")


def _line(token: Token, now_ms: int) -> str:
    if token.revoked_at is not None:
        state = f"revoked {_day(token.revoked_at)}"
    elif token.expires_at is None:
        state = "does not expire"
    else:
        state = f"{'expired' if token.expires_at <= now_ms else 'until'} {_day(token.expires_at)}"
    used = "never used" if token.used_at is None else f"used {_day(token.used_at)}"
    tenant = f"  tenant {one_line(token.tenant)}" if token.tenant is not None else ""
    scopes = ",".join(token.scopes)
    return f"{one_line(token.name):20}  {one_line(scopes):26}  {state:20}  {used}{tenant}\n"


def _day(time_ms: int) -> str:
    return f"{datetime.fromtimestamp(time_ms / 1000, UTC).astimezone():%Y-%m-%d}"


@command.command("revoke")
@click.argument("name")
@click.option(
    "--forget",
    is_flag=True,
    help="Remove it from the list, too; when none is left, loopback is open again.",
)
@options(*READER_OPTIONS)
def revoke(name: str, *, forget: bool, **arguments: Any) -> None:
    """Take a token back: it lets nobody in any more, and whoever reads with it is shown out."""
    anyio.run(_revoke, take_config(arguments), name, forget)


async def _revoke(config: Config, name: str, forget: bool) -> None:  # noqa: FBT001 - from anyio.run
    async with _keeper(config, makes_store=False) as keeper:
        await keeper.revoke_token(name, forget=forget)
        left = await keeper.list_tokens()
    note(f"token {name} is {'forgotten' if forget else 'revoked'}")
    if forget and not left:
        note("no token is left: whoever reaches the gateway on this machine needs none")


@asynccontextmanager
async def _keeper(config: Config, *, makes_store: bool) -> AsyncIterator[_Keeper]:
    """Yield who keeps the tokens: ``--url``, the gateway of the store, or the store itself."""
    url, token = config["url"], config["token"]
    path = None
    if url is None:
        path = store_path(config["store"])
        if path is None:
            raise LocalProtocolError(
                "invalid_config", "a store in memory keeps no token: give a file with --store"
            )
        url, key = await find_owner(path)
        token = token or key
    if url is not None:
        async with AsyncClient(url, token=token) as client:
            yield client
        return
    assert path is not None, "without a URL there is a store"
    prepare_place(path, makes_store=makes_store)
    async with SqliteStore(path) as store:
        keeper = _StoreKeeper(Keyring(store, SystemClock()))
        await keeper.keyring.load()
        yield keeper


class _StoreKeeper:
    """Keeps tokens in a store that no gateway has open."""

    def __init__(self, keyring: Keyring) -> None:
        self.keyring = keyring

    async def create_token(
        self,
        name: str,
        scopes: Sequence[str],
        *,
        tenant: str | None,
        expires_at: int | None,
    ) -> Token:
        row, secret = await self.keyring.create_token(
            name, scopes, tenant=tenant, expires_at=expires_at
        )
        return msgspec.convert({**token_shape(row), "token": secret}, Token)

    async def list_tokens(self) -> Sequence[Token]:
        return [msgspec.convert(token_shape(row), Token) for row in self.keyring.tokens]

    async def revoke_token(self, name: str, *, forget: bool) -> None:
        if forget:
            await self.keyring.forget_token(name, None)
        else:
            await self.keyring.revoke_token(name, None)
