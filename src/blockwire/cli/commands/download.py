"""``blockwire download``."""

from __future__ import annotations

import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import click

from blockwire.cli.encoding import ID, TEXT
from blockwire.cli.gateways import open_client
from blockwire.cli.newfiles import check_new, new_file
from blockwire.cli.options import READER_OPTIONS, options, take_config
from blockwire.cli.output import note, write_bytes
from blockwire.cli.progress import report_progress
from blockwire.cli.settings import Config


@click.command()
@click.argument("attachment", type=ID)
@click.option(
    "-o",
    "--output",
    type=TEXT,
    metavar="FILE",
    help="Where it goes; - is standard output, the default where that is no terminal.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@options(*READER_OPTIONS)
def command(attachment: str, *, output: str | None, **arguments: Any) -> None:
    """Write the file ATTACHMENT, which a message names by its id, to FILE.

    "blockwire show CONVERSATION --json" names them. A connection that breaks is taken up where it
    was; what arrives is compared with its hash.
    """
    if output is None and sys.stdout.isatty():
        raise click.UsageError("where to? -o FILE (-o - writes to the terminal)")
    target = None if output in {None, "-"} else Path(str(output))
    force = arguments.pop("force")
    if target is not None:
        check_new(target, force=force)
    anyio.run(_download, take_config(arguments), attachment, target, force)


async def _download(config: Config, attachment: str, target: Path | None, force: bool) -> None:  # noqa: FBT001 - as anyio calls it
    async with open_client(config, makes_store=False) as client:
        pieces = client.download(attachment)
        with report_progress("downloading", unit="bytes") as progress:
            async with aclosing(pieces):
                if target is None:
                    async for data in pieces:
                        write_bytes(data)
                        progress.advance(len(data))
                else:
                    with new_file(target, force=force) as put:
                        async for data in pieces:
                            put(data)
                            progress.advance(len(data))
    if target is not None:
        note(f"downloaded {attachment} to {target} ({progress.done} bytes)")
