"""Tab asks for paths, and takes the only one when they come."""

from __future__ import annotations

import pytest

from blockwire.tui.intents import ListPaths
from tests.tui.core.typists import Typist


@pytest.mark.parametrize(
    ("meanwhile", "paths", "text"),
    [
        ((), ["note.txt"], "/attach note.txt"),
        ((), ["no.txt", "note.txt"], "/attach no"),
        ((), [], "/attach no"),
        (("'t'",), ["note.txt"], "/attach not"),
        (("escape",), ["no"], "/attach no"),
    ],
    ids=["one", "two", "none", "typed on", "the name itself"],
)
def test_tab_takes_the_only_path_as_soon_as_it_is_known(
    meanwhile: tuple[str, ...], paths: list[str], text: str
) -> None:
    typist = Typist()
    typist.press("'/attach no'")
    assert typist.press("tab") == [ListPaths("no")]
    typist.press(*meanwhile)

    typist.chat.listed_paths(ListPaths("no"), paths)

    assert typist.text == text
