"""``blockwire search``."""

from __future__ import annotations

import shlex
import sys
from datetime import UTC, datetime
from typing import Any, Final

import anyio
import click
import msgspec

from blockwire.cli.encoding import ID, TEXT
from blockwire.cli.gateways import open_client
from blockwire.cli.options import COLOR_OPTION, READER_OPTIONS, WIDTH_OPTION, options, take_config
from blockwire.cli.output import note, one_line, write, write_json
from blockwire.cli.places import prepare_place, store_path
from blockwire.cli.progress import report_progress
from blockwire.cli.settings import Config
from blockwire.cli.terminals import screen_of
from blockwire.client import SearchFilters, SearchHit
from blockwire.errors import LocalProtocolError, StoreError
from blockwire.render import TerminalLook, encode_row, snippet_rows

# Hits of one page of the gateway.
_PAGE_ITEMS: Final = 100

# Between two looks at how far a rebuild is.
_LOOK_S: Final = 0.1

_SEARCHED_ROLES: Final = ("assistant", "tool", "user")


@click.command()
@click.argument("words", nargs=-1, type=TEXT)
@options(
    click.option("--conversation", type=ID, metavar="ID", help="Only in this conversation."),
    click.option("--role", type=click.Choice(_SEARCHED_ROLES), help="Only what this role said."),
    click.option("--type", "block_type", type=TEXT, help="Only blocks of this type, as code."),
    click.option("--tag", type=TEXT, help="Only in conversations with this tag."),
    click.option(
        "--limit",
        type=click.IntRange(min=1),
        default=20,
        show_default=True,
        help="How many hits at most.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print JSON, one hit a line."),
    click.option(
        "--rebuild",
        is_flag=True,
        help="Make the search index of the store again; its gateway must be stopped.",
    ),
    *READER_OPTIONS,
    COLOR_OPTION,
    WIDTH_OPTION,
)
def command(words: tuple[str, ...], *, rebuild: bool, **arguments: Any) -> None:
    """Find WORDS in what was asked and answered, the best first.

    All of the words must be there; "begin*" finds what begins so. In one argument, quoted for
    your shell, a query may also hold phrases and words that must not be there:
    blockwire search '"connection reset" -timeout'
    """
    config = take_config(arguments)
    if rebuild:
        if words:
            raise click.UsageError("--rebuild searches for nothing; give it alone")
        anyio.run(_rebuild, config)
        return
    if not words:
        raise click.UsageError("Missing argument 'WORDS...': say what to look for")
    anyio.run(_search, config, " ".join(words), arguments)


async def _search(config: Config, query: str, arguments: dict[str, Any]) -> None:
    screen = screen_of(
        sys.stdout,
        flag=arguments["color"],
        width=arguments["width"],
        ambiguous_width=config["ambiguous_width"],
    )
    filters = SearchFilters(
        conversation_id=arguments["conversation"],
        role=arguments["role"],
        block_type=arguments["block_type"],
        tag=arguments["tag"],
    )
    left = arguments["limit"]
    cursor: str | None = None
    is_building = has_found = False
    async with open_client(config, makes_store=False) as client:
        while left:
            page = await client.search_page(
                query, cursor=cursor, limit=min(left, _PAGE_ITEMS), **filters
            )
            for hit in page.items:
                if arguments["as_json"]:
                    members = msgspec.to_builtins(hit)
                    write_json(
                        {name: value for name, value in members.items() if value is not None}
                    )
                elif screen.is_terminal:
                    write(("\n" if has_found else "") + _drawn(hit, screen.look))
                else:
                    write(_plain(hit))
                has_found = True
            left -= len(page.items)
            is_building, cursor = page.index == "building", page.next_cursor
            if cursor is None:
                break
    if is_building:
        note("the search index is being made; what is older may be missing, search again later")
    if not has_found:
        note("nothing found")
    elif cursor is not None:
        note(f"there is more; --limit {arguments['limit'] * 2} shows it")


def _place(hit: SearchHit) -> str:
    """Return the command that shows the hit."""
    turn_id = hit.turn_id
    if turn_id is None and hit.role == "assistant" and hit.message_id.startswith("turn_"):
        turn_id = hit.message_id
    words = ["blockwire", "show", hit.conversation_id, *(["--turn", turn_id] if turn_id else [])]
    return shlex.join(words)


def _when(hit: SearchHit) -> str:
    moment = datetime.fromtimestamp(hit.created_at / 1000, UTC).astimezone()
    return f"{moment:%Y-%m-%d %H:%M}"


def _plain(hit: SearchHit) -> str:
    """Return one line: where, when, who, what."""
    snippet = one_line(" ".join(hit.snippet.text.split()))
    place = one_line(f"{hit.conversation_id}  {hit.message_id}  {hit.block_id}")
    return f"{place}  {_when(hit)}  {one_line(hit.role)} {one_line(hit.block_type)}  {snippet}\n"


def _drawn(hit: SearchHit, look: TerminalLook) -> str:
    rows = snippet_rows(
        hit.snippet.text,
        [(match.start, match.end) for match in hit.snippet.matches],
        look,
        title=hit.title or hit.conversation_id,
        caption=f"{_when(hit)}  {hit.role}  {hit.block_type}",
        place=_place(hit),
        is_cut=(not hit.snippet.at_start, not hit.snippet.at_end),
    )
    return "".join(f"{encode_row(row, look)}\n" for row in rows)


async def _rebuild(config: Config) -> None:
    # Only this needs a store of its own.
    from blockwire.stores import SqliteStore

    if config["url"] is not None:
        raise click.UsageError("--rebuild works on a store, not through --url")
    path = store_path(config["store"])
    if path is None:
        raise LocalProtocolError(
            "invalid_store_url", "a store in memory has no index; give --store URL"
        )
    prepare_place(path, makes_store=False)
    try:
        async with SqliteStore(path) as store:
            total = (await store.rebuild_index()).waiting_count
            with report_progress("indexing", total=total, noun="messages") as progress:
                while (state := await store.index_state()).waiting_count:
                    progress.set(total - state.waiting_count)
                    await anyio.sleep(_LOOK_S)
    except StoreError as error:
        if error.code != "store_locked":
            raise
        raise LocalProtocolError(
            "store_locked", f"{error.detail}; stop it, then make the index again"
        ) from error
    write(f"indexed {total} messages\n")
