"""``blockwire migrate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from blockwire.cli.options import CONFIG_OPTIONS, options, take_config
from blockwire.cli.output import one_line, write
from blockwire.cli.places import prepare_place, store_path
from blockwire.cli.progress import report_progress
from blockwire.cli.stoppable import run_stoppable
from blockwire.errors import LocalProtocolError, StoreError
from blockwire.stores import UpgradePlan, plan_upgrade, upgrade_store


@click.command()
@options(
    *CONFIG_OPTIONS,
    click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing."),
    click.option(
        "--backup",
        metavar="FILE",
        help="Where the copy of the old store goes (default: beside it).",
    ),
    click.option("--no-backup", is_flag=True, help="Make no copy first."),
)
def command(*, dry_run: bool, backup: str | None, no_backup: bool, **arguments: Any) -> None:
    """Bring a store to the schema of this release, with a copy of it first.

    A gateway does the same when it opens an older store, without a copy. Stop the gateway of the
    store first. Each step is whole or not done; a killed migration goes on with the next start.
    """
    if backup is not None and no_backup:
        raise click.UsageError("--backup and --no-backup contradict each other; give one")
    path = _path_of(take_config(arguments)["store"])
    plan = plan_upgrade(path)
    if not plan.is_needed:
        write(f"{one_line(str(path))} has schema {plan.to_version} already\n")
        return
    target = None if no_backup else Path(backup) if backup is not None else _beside(path, plan)
    if dry_run:
        copied = "no copy is made" if target is None else f"a copy goes to {target} first"
        write(
            f"{one_line(str(path))}: schema {plan.from_version} -> {plan.to_version}; "
            f"{one_line(copied)}; nothing was done\n"
        )
        return
    _migrate(path, plan, target)
    write(f"{one_line(str(path))}: schema {plan.from_version} -> {plan.to_version}\n")
    if target is not None:
        write(f"the store as it was: {one_line(str(target))}\n")


def _path_of(url: str) -> Path:
    path = store_path(url)
    if path is None:
        raise LocalProtocolError(
            "invalid_store_url", "a store in memory has nothing to migrate; give --store URL"
        )
    prepare_place(path, makes_store=False)
    return path


def _beside(path: Path, plan: UpgradePlan) -> Path:
    return path.with_name(f"{path.name}.schema-{plan.from_version}")


def _migrate(path: Path, plan: UpgradePlan, target: Path | None) -> None:
    # A copy and the new tables; SQLite needs some room beside that.
    if target is not None and plan.free_bytes < plan.size_bytes and target.parent == path.parent:
        raise StoreError(
            "store_full",
            f"a copy may need {plan.size_bytes} bytes and the disk has {plan.free_bytes}: make "
            "room, or put it elsewhere with --backup",
        )
    total = plan.size_bytes if target is not None else None
    with report_progress("copying", total=total, unit="bytes") as copying:
        run_stoppable(
            lambda stopping: upgrade_store(
                path, backup=target, on_copied=copying.set, stopping=stopping
            )
        )
