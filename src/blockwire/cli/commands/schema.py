"""``blockwire schema``."""

from __future__ import annotations

import click

from blockwire.cli.encoding import TEXT
from blockwire.cli.output import write, write_json
from blockwire.cli.schemas import published_schemas
from blockwire.errors import LocalProtocolError


@click.command()
@click.argument("name", required=False, type=TEXT)
def command(name: str | None) -> None:
    """Print the JSON Schema called NAME, or the names of all.

    They are generated from the tables that the validators use, and a gateway serves the same ones
    at /schemas/NAME.json.
    """
    schemas = published_schemas()
    if name is None:
        write("".join(f"{known}\n" for known in sorted(schemas)))
        return
    name = name.removesuffix(".json")
    if name not in schemas:
        raise LocalProtocolError(
            "schema_not_found", f"there is no schema {name}; known are {', '.join(sorted(schemas))}"
        )
    write_json(schemas[name])
