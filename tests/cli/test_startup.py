"""What is imported before anybody needs it: nothing that a start has to wait for."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.programs import environment

HEAVY = (
    # what no command needs before it runs
    "anyio", "asyncio", "httpx", "jiter", "markdown_it", "msgspec", "nh3", "opentelemetry",
    "prometheus_client", "pygments", "sqlite3", "ssl", "starlette", "uvicorn", "uvloop",
    "blockwire.client", "blockwire.content", "blockwire.engines", "blockwire.gateway",
    "blockwire.render", "blockwire.stores", "blockwire.terminal",
)  # fmt: skip
NOT_FOR_SERVE = (
    # what a gateway needs for an export, a model, a scrape, a span or a schema
    "httpx", "markdown_it", "nh3", "opentelemetry", "prometheus_client", "pygments",
    "blockwire.client", "blockwire.render", "blockwire.terminal",
)  # fmt: skip
STARTED = """
import sys
from blockwire.cli.commands import serve
from blockwire.cli.settings import load_config
from blockwire.cli.wiring import build_gateway
build_gateway(load_config({"store": "memory:"}, path=None))
"""
HELP = """
import sys
from blockwire.cli import main
assert main(["--help"]) == 0
"""


@pytest.mark.requirement("gateway:operations:startup")
@pytest.mark.parametrize(("program", "names"), [(HELP, HEAVY), (STARTED, NOT_FOR_SERVE)])
def test_a_start_imports_nothing_that_it_does_not_need(
    program: str, names: tuple[str, ...], tmp_path: Path
) -> None:
    told = f"{program}\nprint(*[n for n in {names!r} if n in sys.modules], file=sys.stderr)\n"
    ended = subprocess.run(
        [sys.executable, "-c", told],
        env=environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr.decode()
    assert ended.stderr.decode().strip() == ""


@pytest.mark.parametrize("command", ["list", "check", "config", "validate", "schema", "completion"])
def test_commands_that_serve_nothing_import_no_server(command: str, tmp_path: Path) -> None:
    program = (
        f"import sys; from blockwire.cli import main; assert main([{command!r}, '--help']) == 0; "
        "sys.exit(any(name in sys.modules for name in ('uvicorn', 'prometheus_client')))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(tmp_path),
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr.decode()
