"""``blockwire check``."""

from __future__ import annotations

from typing import Any

import click

from blockwire.cli.main import EXIT_FAILED
from blockwire.cli.options import CONFIG_OPTIONS, options, take_config
from blockwire.cli.output import note, write, write_json
from blockwire.cli.places import store_path
from blockwire.cli.progress import report_progress
from blockwire.cli.stoppable import run_stoppable
from blockwire.errors import LocalProtocolError, StoreError
from blockwire.stores import check_store


@click.command()
@options(*CONFIG_OPTIONS, click.option("--json", "as_json", is_flag=True, help="Print JSON."))
def command(*, as_json: bool, **arguments: Any) -> int:
    """Check a store without changing it, also while a gateway uses it.

    The file itself, the numbers of the log, and every stored message against the fold of its
    events. Prints "ok", or one line for each problem and status 1.
    """
    url = take_config(arguments)["store"]
    path = store_path(url)
    if path is None:
        raise LocalProtocolError(
            "invalid_store_url", "a store in memory cannot be checked; give --store sqlite:///PATH"
        )
    if not path.is_file():
        raise StoreError("store_not_found", f"there is no store {path}")
    with report_progress("checking", noun="conversations") as progress:
        problems = run_stoppable(
            lambda stopping: check_store(path, stopping=stopping, on_progress=progress.set)
        )
    if as_json:
        write_json(
            [{"where": p.where, "code": p.code, "detail": p.detail} for p in problems],
        )
        return EXIT_FAILED if problems else 0
    for problem in problems:
        note(f"{problem.where}: {problem.code}: {problem.detail}")
    if problems:
        note(f"problems: {len(problems)}; keep a copy of the file before you do anything else")
        return EXIT_FAILED
    write("ok\n")
    return 0
