"""``blockwire backup``."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import click

from blockwire.cli.options import CONFIG_OPTIONS, options, take_config
from blockwire.cli.output import one_line, write
from blockwire.cli.places import store_path
from blockwire.cli.progress import Progress, report_progress
from blockwire.cli.signals import ended_by_signals
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
    anyio.run(_back_up, path, target)
    write(f"{one_line(str(target))}: {target.stat().st_size} bytes, checked\n")


async def _back_up(path: Path, target: Path) -> None:
    stopping = threading.Event()
    with ended_by_signals(), report_progress("copying", unit="bytes") as progress:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_stop_when_cancelled, stopping)
            try:
                await anyio.to_thread.run_sync(_copy, path, target, progress, stopping)
            except StoreError:
                if stopping.is_set():
                    # Given up because somebody wanted it: that is what ends this, not an error.
                    await anyio.lowlevel.checkpoint()
                raise
            tasks.cancel_scope.cancel()


async def _stop_when_cancelled(stopping: threading.Event) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        stopping.set()


def _copy(path: Path, target: Path, progress: Progress, stopping: threading.Event) -> None:
    def show(step: BackupProgress) -> None:
        progress.set(step.done_bytes, step.total_bytes)

    backup_store(path, target, on_progress=show, stopping=stopping)
