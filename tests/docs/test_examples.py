"""What ``docs/examples`` shows runs as it stands, in an empty folder with an empty store.

``NAME.py`` is run by this Python and ``NAME.sh`` by the shell, with ``blockwire`` on the path. An
example has to end by itself with status 0, and has ``NAME.out`` beside it when its output matters.
A file that is not executable by itself (an agent that another example starts, a configuration)
has a name that begins with an underscore.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.suites import PROJECT

EXAMPLES = PROJECT / "docs" / "examples"
RUNNABLE = sorted(
    path for path in EXAMPLES.glob("[!_]*") if path.suffix in {".py", ".sh"} and path.is_file()
)
# An example may start a gateway and wait for it; it may not take a reader's patience. The rest is for
# machines that have other things to do.
EXAMPLE_S = 60


# Without coverage, like its only caller.
def run(  # pragma: no cover
    command: list[str], folder: Path, environment: dict[str, str]
) -> tuple[int, str]:
    """Return exit status and output of one example; whatever it started ends with it."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        try:
            shown, _ = process.communicate(timeout=EXAMPLE_S)
        finally:
            # An example that cleaned up after itself left nobody to kill.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, shown


@pytest.mark.slow
@pytest.mark.timeout(EXAMPLE_S + 15)
@pytest.mark.parametrize("example", RUNNABLE, ids=lambda path: path.name)
def test_an_example_runs_as_it_stands(example: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLES, tmp_path / "examples")
    home = tmp_path / "home"
    home.mkdir()
    interpreter = [sys.executable] if example.suffix == ".py" else ["sh"]
    environment = {
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "LANG": "C.UTF-8",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }

    status, shown = run([*interpreter, str(folder / example.name)], folder, environment)

    assert status == 0, shown
    expected = example.with_suffix(".out")
    if expected.exists():
        assert shown == expected.read_text(encoding="utf-8")
