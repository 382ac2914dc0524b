"""What ``docs/examples`` shows runs as it stands, in an empty folder with an empty store.

``NAME.py`` is run by this Python and ``NAME.sh`` by the shell, with ``blockwire`` on the path. An
example has to end by itself with status 0, and has ``NAME.out`` beside it when its output matters.
A file that is not executable by itself (an agent that another example starts, a configuration)
has a name that begins with an underscore.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.suites import PROJECT

EXAMPLES = PROJECT / "docs" / "examples"
RUNNABLE = sorted(
    path for path in EXAMPLES.glob("[!_]*") if path.suffix in {".py", ".sh"} and path.is_file()
)
# An example may start a gateway and wait for it; it may not take a reader's patience.
EXAMPLE_S = 30


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

    ended = subprocess.run(
        [*interpreter, str(folder / example.name)],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=EXAMPLE_S,
        check=False,
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr
    expected = example.with_suffix(".out")
    if expected.exists():
        assert ended.stdout == expected.read_text(encoding="utf-8")
