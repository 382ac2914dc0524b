"""Completion, asked by the shells themselves."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from blockwire.cli.main import COMMANDS
from tests.support.programs import environment, run

# shell -> what it is told to do: load the script, and print what it offers for the given words
ASK = {
    "bash": r"""
        eval "$(blockwire completion bash)"
        COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
        _blockwire_completion blockwire
        printf '%s\n' "${{COMPREPLY[@]}}"
    """,
    "zsh": r"""
        autoload -Uz compinit; compinit -u -d "$HOME/zcompdump"
        eval "$(blockwire completion zsh)"
        whence -w _blockwire_completion >&2
        # What the widget does outside of an editor: the function cannot run there.
        env COMP_WORDS={quoted} COMP_CWORD={index} _BLOCKWIRE_COMPLETE=zsh_complete blockwire
    """,
    "fish": r"""
        blockwire completion fish | source
        complete -C {quoted}
    """,
}
ASKED: list[tuple[str, set[str]]] = [
    # words,                  offered among others
    ("blockwire de", {"decode", "demo"}),
    ("blockwire completion ", {"bash", "zsh", "fish"}),
    ("blockwire serve --log-f", {"--log-format"}),
    ("blockwire serve --log-format ", {"text", "json"}),
]


def offered(shell: str, words: str, folder: Path) -> list[str]:
    program = folder / "bin" / "blockwire"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m blockwire "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    env = environment(folder)
    env["PATH"] = f"{program.parent}:{env['PATH']}"
    split = [word or "''" for word in words.split(" ")]
    script = ASK[shell].format(words=" ".join(split), quoted=f"'{words}'", index=len(split) - 1)
    asked = subprocess.run(
        [shell, "-c", script], env=env, capture_output=True, timeout=60, check=False
    )
    assert asked.stderr == b"" or shell == "zsh", asked.stderr
    return asked.stdout.decode().split()


@pytest.mark.timeout(120)
@pytest.mark.requirement("gateway:operations:completion")
@pytest.mark.parametrize("shell", sorted(ASK))
@pytest.mark.parametrize(("words", "wanted"), ASKED)
def test_the_shell_offers_commands_options_and_choices(
    shell: str, words: str, wanted: set[str], tmp_path: Path
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")

    assert wanted <= set(offered(shell, words, tmp_path))


def test_every_command_is_offered(tmp_path: Path) -> None:
    env = environment(
        tmp_path, _BLOCKWIRE_COMPLETE="fish_complete", COMP_WORDS="blockwire ", COMP_CWORD=""
    )
    asked = run(env=env)

    names = [line.split(b",")[1].split(b"\t")[0].decode() for line in asked.stdout.splitlines()]
    assert asked.returncode == 0
    assert set(names) >= COMMANDS.keys()


def test_the_script_can_be_read_by_its_shell(tmp_path: Path) -> None:
    for shell in ("bash", "zsh", "fish"):
        printed = run("completion", shell, env=environment(tmp_path))
        assert printed.returncode == 0
        assert printed.stderr == b""
        assert printed.stdout.startswith(b"# ")
        if shutil.which(shell) is not None:
            checked = subprocess.run([shell, "-n"], input=printed.stdout, check=False)
            assert checked.returncode == 0


def test_an_unknown_shell_is_wrong_usage(tmp_path: Path) -> None:
    refused = run("completion", "tcsh", env=environment(tmp_path))

    assert refused.returncode == 2
    assert b"bash" in refused.stderr
