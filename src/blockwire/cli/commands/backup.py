"""``blockwire backup``."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import click

from blockwire.cli.options import CONFIG_OPTIONS, options, take_config
from blockwire.cli.output import one_line, write
from blockwire.cli.places import store_path
from blockwire.cli.progress import Progress, report_progress
from blockwire.cli.stoppable import run_stoppable
from blockwire.errors import LocalProtocolError, StoreError
from blockwire.ports import BackupProgress
from blockwire.stores import backup_store


@click.command()
@click.argument("target", type=click.Path(path_type=Path), metavar="FILE")
@options(*CONFIG_OPTIONS)
def command(target: Path, **arguments: Any) -> None:
    """Copy a store to the new FILE, also while a gateway writes to it.

    The copy has everything that was acknowledged before this began, is checked, and gets its name
    only when it is whole; nothing is left of one that was given up. To go back to it, stop the
    gateway and put it in the place of the store.

    A plain copy of the store's file lacks the last hours: do not make one while a gateway runs.
    """
    path = store_path(take_config(arguments)["store"])
    if path is None:
        raise LocalProtocolError(
            "invalid_store_url",
            "a store in memory has nothing to copy; give --store sqlite:///PATH",
        )
    if not path.is_file():
        raise StoreError("store_not_found", f"there is no store {path}")
    with report_progress("copying", unit="bytes") as progress:
        run_stoppable(lambda stopping: _copy(path, target, progress, stopping))
    write(f"{one_line(str(target))}: {target.stat().st_size} bytes, checked\n")


def _copy(path: Path, target: Path, progress: Progress, stopping: threading.Event) -> None:
    def show(step: BackupProgress) -> None:
        progress.set(step.done_bytes, step.total_bytes)

    backup_store(path, target, on_progress=show, stopping=stopping)
