/** Which messages stay in the document wherever the window is. */
import type { Stage } from "./stage.ts";

/** Rows of a selection that stay in the document, wherever the window is. */
const SELECTED_ROWS_MAX = 60;

const NONE: ReadonlySet<string> = new Set();

/**
 * Ids of the message that has the focus, and of those between the ends of the selection. A selection that is empty
 * is where somebody clicked, who may go on to select from there.
 */
export function heldRows(stage: Stage): ReadonlySet<string> {
  const focused = stage.rowOf(document.activeElement);
  const selection = document.getSelection();
  const isEmpty = selection === null || selection.rangeCount === 0;
  if (isEmpty && focused === null) return NONE;
  const held = new Set<string>();
  if (focused !== null) held.add(focused.row.id);
  if (isEmpty) return held;
  const ends = [stage.rowOf(selection.anchorNode), stage.rowOf(selection.focusNode)];
  const indices = ends.flatMap((end) => (end === null ? [] : [end.index]));
  if (indices.length === 0) return held;
  const [low, high] = [Math.min(...indices), Math.max(...indices)];
  for (let at = low; at <= Math.min(high, low + SELECTED_ROWS_MAX); at += 1) {
    const row = stage.rows[at];
    if (row !== undefined) held.add(row.id);
  }
  return held;
}
