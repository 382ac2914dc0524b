"""``blockwire check``."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote

import click

from blockwire.cli.main import EXIT_FAILED
from blockwire.cli.options import CONFIG_OPTIONS, options, take_config
from blockwire.cli.output import note, write
from blockwire.errors import LocalProtocolError
from blockwire.stores import check_store


@click.command()
@options(*CONFIG_OPTIONS)
def command(**arguments: Any) -> int:
    """Check a store without changing it, also while a gateway uses it.

    The file itself, the numbers of the log, and every stored message against the fold of its
    events. Prints "ok", or one line for each problem and status 1.
    """
    url = take_config(arguments)["store"]
    if not url.startswith("sqlite:///"):
        raise LocalProtocolError("invalid_store_url", "check reads a file: sqlite:///PATH")
    problems = check_store(Path(unquote(url.removeprefix("sqlite:///"))))
    for problem in problems:
        note(f"{problem.where}: {problem.code}: {problem.detail}")
    if problems:
        note(f"{len(problems)} problems; keep a copy of the file before you do anything else")
        return EXIT_FAILED
    write("ok\n")
    return 0
