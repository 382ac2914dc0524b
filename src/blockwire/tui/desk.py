"""Where the person types: the draft of a question, that of an answer, and what helps with them.

Spec: docs/spec/chat/input.md. Knows what keys do to a text, and nothing of conversations.
"""

from __future__ import annotations

from collections.abc import Callable

from blockwire.text import AmbiguousWidth
from blockwire.tty.inputevents import Key, Pasted
from blockwire.tui.completion import Candidate, Known
from blockwire.tui.editor import Editor
from blockwire.tui.historysearch import HistorySearch
from blockwire.tui.inputhistory import InputHistory
from blockwire.tui.keys import KeyLookup
from blockwire.tui.menu import CompletionMenu
from blockwire.tui.pastes import PasteReader

__all__ = ["Desk"]

_CONTINUES = "\\"
"""Before Enter it makes a new line, on terminals that tell no other key apart."""


class Desk:
    """Two editors, of which one is used at a time.

    Args:
        history: Earlier inputs.
        lookup: What keys do.
        ambiguous_width: Cells of a character of ambiguous width.
        known: Returns what may be named.

    Attributes:
        draft: The question that is typed.
        answer: What is typed in answer to a turn that waits.
        is_answering: Which of the two is used.
        menu: Ways to go on with a command.
        search: Through the history; None while there is none.
    """

    def __init__(
        self,
        history: InputHistory,
        *,
        lookup: KeyLookup,
        ambiguous_width: AmbiguousWidth,
        known: Callable[[], Known],
    ) -> None:
        self.draft = Editor(history, lookup=lookup, ambiguous_width=ambiguous_width)
        self.answer = Editor(lookup=lookup, ambiguous_width=ambiguous_width)
        self.is_answering = False
        self.menu = CompletionMenu()
        self.search: HistorySearch | None = None
        self._found = Editor(lookup=lookup, ambiguous_width=ambiguous_width)
        self._known = known
        self._pastes = PasteReader()

    @property
    def editor(self) -> Editor:
        """The editor that is used."""
        return self.answer if self.is_answering else self.draft

    @property
    def shown(self) -> Editor:
        """The editor that is to be drawn: an entry of the history while it is searched."""
        return self.editor if self.search is None else self._found

    def refresh(self) -> None:
        """Offer what fits the text now."""
        self.menu.refresh(self.editor, self._known())

    def begin_answer(self) -> None:
        """Type an answer from now on; the draft stays as it is."""
        self.end_search(takes=False)
        self.answer.take()
        self.is_answering = True
        self.refresh()

    def end_answer(self) -> None:
        """Go on with the draft."""
        self.is_answering = False
        self.refresh()

    def press(self, key: Key) -> bool:
        """Edit; return whether the key does anything to a text."""
        is_edit = self.editor.press(key)
        self.refresh()
        return is_edit

    def do(self, action: str) -> None:
        """Do an action of the editor."""
        self.editor.do(action)
        self.refresh()

    def paste(self, event: Pasted) -> bool:
        """Take a piece of a paste; return whether the paste lost its end, when it is whole."""
        text = self._pastes.receive_data(event.data, is_last=event.is_last)
        if not text:
            return False
        self.end_search(takes=True)
        self.editor.paste(text)
        self.refresh()
        return self._pastes.is_cut

    def hand_back(self, text: str) -> None:
        """Put a text that was sent before what is typed now."""
        typed = self.draft.text
        self.draft.set_text(f"{text}\n\n{typed}" if text and typed.strip() else text or typed)
        self.refresh()

    def continue_line(self) -> bool:
        """Break the line in the place of a backslash before the cursor, if there is one."""
        if not self.editor.text_before_cursor.endswith(_CONTINUES):
            return False
        self.editor.complete_word(_CONTINUES, "")
        self.do("newline")
        return True

    def complete(self) -> Candidate | None:
        """Take what the menu offers."""
        return self.menu.take(self.editor, self._known())

    # searching ----------------------------------------------------------------------------
    def begin_search(self) -> None:
        """Search the history of questions from now on."""
        if not self.is_answering:
            self.menu.close(self.editor)
            self.search = HistorySearch(self.draft.history)
            self._found.set_text(self.draft.text)

    def end_search(self, *, takes: bool) -> None:
        """End the search, and edit what it found if that is wanted."""
        search, self.search = self.search, None
        if takes and search is not None and search.found is not None:
            self.draft.set_text(search.found)

    def press_search(self, key: Key, action: str | None) -> bool:
        """Do what ``key`` does in a search, and return whether it does nothing else."""
        search = self.search
        if search is None:
            return False
        if action == "search-history":
            search.older()
        elif action == "delete-left":
            search.delete()
        elif action is None and key.text:
            search.type(key.text)
        else:
            self.end_search(takes=action not in {"abort", "interrupt"})
            return action in {"abort", "interrupt", "cancel"}
        self._found.set_text(search.found or "")
        return True
