/**
 * What lands in the clipboard when not all that is selected is in the document.
 *
 * Of a selection that goes over many messages only those near the window and near its ends are drawn; what the
 * browser would copy has holes. Those are filled with the texts of the messages between.
 *
 * Spec: docs/spec/page/transcript.md.
 */
import { plainText } from "@blockwire/core";
import { strings } from "../strings.ts";
import type { Row } from "./mounted.ts";
import type { Stage } from "./stage.ts";

/** Fills the clipboard where the browser would leave messages out; returns how to stop that. */
export function copyWhole(stage: Stage, newest: (row: Row) => Row["message"]): () => void {
  const copy = (event: ClipboardEvent): void => {
    const selection = document.getSelection();
    if (selection === null || event.defaultPrevented) return;
    const text = selectedText(stage, selection, newest);
    if (text === null || event.clipboardData === null) return;
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
  };
  stage.scroller.addEventListener("copy", copy);
  return () => stage.scroller.removeEventListener("copy", copy);
}

/** Null where everything is drawn: the browser's own copy has the looks, too. */
function selectedText(
  stage: Stage,
  selection: Selection,
  newest: (row: Row) => Row["message"],
): string | null {
  const { anchorNode, anchorOffset, focusNode, focusOffset } = selection;
  if (selection.isCollapsed || anchorNode === null || focusNode === null) return null;
  const { startContainer, startOffset, endContainer, endOffset } = selection.getRangeAt(0);
  const first = stage.rowOf(startContainer)?.index;
  const last = stage.rowOf(endContainer)?.index;
  if (first === undefined || last === undefined) return null;
  const drawn = stage.mounted.filter(({ index }) => index >= first && index <= last);
  if (drawn.length === last - first + 1) return null;

  const texts: string[] = [];
  let at = 0;
  for (let index = first; index <= last; index += 1) {
    const run = at;
    while (drawn[at]?.index === index + at - run) at += 1;
    if (at > run) {
      // Rows that stand side by side are read as the browser reads them.
      const end = drawn[at - 1]?.wrapper as HTMLElement;
      const from = drawn[run]?.wrapper as HTMLElement;
      selection.setBaseAndExtent(
        ...((run === 0 ? [startContainer, startOffset] : [from, 0]) as [Node, number]),
        ...((at === drawn.length ? [endContainer, endOffset] : [end, end.childNodes.length]) as [
          Node,
          number,
        ]),
      );
      texts.push(
        selection
          .toString()
          .replace(/\n{3,}/g, "\n\n")
          .trim(),
      );
      index += at - run - 1;
      continue;
    }
    const row = stage.rows[index];
    if (row !== undefined) texts.push(told(newest(row)));
  }
  selection.setBaseAndExtent(anchorNode, anchorOffset, focusNode, focusOffset);
  return texts.filter((text) => text !== "").join("\n\n");
}

/** A message as text, below who says it. */
function told(message: Row["message"]): string {
  const roles: Readonly<Record<string, string>> = strings.blocks.roles;
  return `${roles[message.role] ?? message.role}\n${plainText(message)}`;
}
