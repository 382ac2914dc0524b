"""Where the public test suites are, and how their values are read.

The suites belong to others and are read in place, never copied into the project. They are looked
for in ``$BLOCKWIRE_SUITES``, then in ``../shared/suites`` beside the project. A machine without
them still runs every test of our own; there a suite's tests are skipped with the reason printed.
With ``CI=true`` a missing suite is a failure: a green run must mean that the suites were run.
"""

import base64
import json
import os
import zlib
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest

PROJECT: Final = Path(__file__).resolve().parent.parent


def suites_root() -> Path:
    """Return the folder that holds the suites, whether it exists or not."""
    named = os.environ.get("BLOCKWIRE_SUITES")
    return Path(named) if named else PROJECT.parent / "shared" / "suites"


def suite_path(relative: str) -> Path:
    """Return the path of one suite's file or folder, such as ``sse/cases.json``.

    May be called at the top of a test module, for ``parametrize``: then the whole module is
    skipped when the suite is absent.
    """
    path = suites_root() / relative
    if not path.exists():
        _absent(path)
    return path


def handed_vectors(name: str) -> list[Any]:
    """Return the rows of one file of reference vectors of the terminal protocol.

    They lie beside the suites, in ``vectors/terminal``; like a suite they are skipped when absent.
    """
    path = suites_root().parent / "vectors" / "terminal" / name
    if not path.exists():
        _absent(path)
    decoder = json.JSONDecoder()
    lines = path.read_text(encoding="utf-8").split("\n")
    return [decoder.decode(line) for line in lines if line.strip()]


def _absent(path: Path) -> NoReturn:
    reason = f"public suite not found: {path} (set BLOCKWIRE_SUITES)"
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)


def suite_json(relative: str) -> Any:
    """Return the JSON value in one suite's file.

    Read by the standard library, not by :mod:`blockwire.jsontext`: suites hold what we must refuse
    (lone surrogates, duplicates), and the code under test is no judge of its own test data.
    """
    with suite_path(relative).open(encoding="utf-8") as file:
        return json.load(file)


def suite_json_lines(relative: str) -> list[Any]:
    """Return the JSON value of every line that is not blank in one suite's file."""
    decoder = json.JSONDecoder()
    lines = suite_path(relative).read_text(encoding="utf-8").split("\n")
    return [decoder.decode(line) for line in lines if line.strip()]


def unpacked(value: Any) -> Any:
    """Return ``value`` with every ``{"z": base64 of zlib-compressed UTF-8}`` in it replaced by its text."""
    if isinstance(value, dict):
        if value.keys() == {"z"}:
            return zlib.decompress(base64.b64decode(value["z"])).decode("utf-8")
        return {name: unpacked(member) for name, member in value.items()}
    if isinstance(value, list):
        return [unpacked(item) for item in value]
    return value
