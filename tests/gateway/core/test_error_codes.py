"""``docs/spec/error-codes.md`` against the source: nothing undocumented, nothing made up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Final

import pytest

from blockwire.errors import RemoteProtocolError, StoreError
from blockwire.gateway.http.http_errors import STATUS_BY_CODE, status_of
from blockwire.gateway.settings import GatewaySettings
from tests.suites import PROJECT

SOURCE: Final = PROJECT / "src" / "blockwire"
PAGE: Final = PROJECT / "docs" / "spec" / "error-codes.md"
CODE: Final = re.compile(r"[a-z]+(?:_[a-z0-9]+)+\Z")
ROW: Final = re.compile(r"^\| `([a-z0-9_]+)` \| (.+) \| (—|\d{3}(?: / \d{3})?) \|$", re.MULTILINE)

# Calls whose string arguments may be a code, beside those of exceptions.
MAKERS: Final = frozenset({"add_failed", "closing_block", "fail", "_answer_error"})

# Only tests that others run use it.
OUTSIDE: Final = frozenset({"testing"})


def sources() -> list[Path]:
    return [
        path
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0] not in OUTSIDE
    ]


def documented() -> dict[str, tuple[str, str]]:
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert len({row[0] for row in rows}) == len(rows), "a code is documented twice"
    return {code: (meaning, status) for code, meaning, status in rows}


def call_name(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def codes_made(tree: ast.AST) -> Iterator[str]:
    """Yield the codes that a module gives to an exception or to an error block."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = call_name(node)
            if name.endswith("Error") or name in MAKERS:
                values = [*node.args[:2], *(k.value for k in node.keywords if k.arg == "code")]
                yield from (text for text in map(text_of, values) if text and CODE.match(text))
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                text = text_of(value)
                if key is not None and text_of(key) == "code" and text and CODE.match(text):
                    yield text


def text_of(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def literals(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_code_that_the_source_gives_is_documented(path: Path) -> None:
    made = set(codes_made(ast.parse(path.read_text(encoding="utf-8"))))

    assert made - documented().keys() == set()


def test_every_documented_code_is_used() -> None:
    used = {
        text for path in sources() for text in literals(ast.parse(path.read_text(encoding="utf-8")))
    }

    assert documented().keys() - used == set()


def test_the_statuses_are_those_that_the_gateway_answers() -> None:
    page = documented()

    assert STATUS_BY_CODE.keys() - page.keys() == set()
    for code, (_meaning, status) in page.items():
        if status == "—":
            continue
        kind = StoreError if int(status[:3]) >= 500 else RemoteProtocolError
        statuses = [str(status_of(kind(code, "x", pointer=pointer))) for pointer in ("/x", None)]
        assert status == " / ".join(dict.fromkeys(statuses)), code
        assert all(HTTPStatus(int(one)) for one in statuses)


def test_the_scan_sees_what_it_should() -> None:
    tree = ast.parse(
        'raise RemoteProtocolError("a_b", "x_y z")\n'
        'x = {"type": "error", "code": "c_d", "other": "n_o"}\n'
        'self.fail("e_f", message="g h")\n'
        'runner.add_failed(batch, "i_j")\n'
        'StoreError(code="k_l", detail="m")\n'
        'other("p_q")\n'
        'table[0]("r_s")\n'
        'self._answer_error("t_u", "v")\n'
    )

    assert sorted(codes_made(tree)) == ["a_b", "c_d", "e_f", "i_j", "k_l", "t_u"]


LIMIT_ROW: Final = re.compile(r"^\| `([a-z_]+)` \| ([\d,.]+)(?: \w+)? \|", re.MULTILINE)


def test_the_page_of_limits_says_what_the_defaults_are() -> None:
    text = (PROJECT / "docs" / "spec" / "gateway" / "limits.md").read_text(encoding="utf-8")
    page = {name: float(value.replace(",", "")) for name, value in LIMIT_ROW.findall(text)}
    settings = GatewaySettings()

    bounds = {name for name in settings.__struct_fields__ if name != "engine_default"}

    assert bounds <= page.keys()
    assert {name: page[name] for name in bounds} == {n: getattr(settings, n) for n in bounds}
