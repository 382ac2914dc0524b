/** Tables of Markdown: the rows of bars, and the one that says what they are. */

import type { Align } from "./nodes.ts";

/** Cells that a table may add where rows are too short; afterwards its lines are text. */
export const ADDED_CELLS_MAX = 65_536;

/** The cells of one line; a bar behind a backslash is part of its cell. */
export function splitRow(line: string): string[] {
  const text = line.trim();
  const cells: string[] = [];
  let cell = "";
  let from = 0;
  let isEscaped = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === "|") {
      if (isEscaped) {
        cell += text.slice(from, at - 1);
        from = at;
      } else {
        cells.push(cell + text.slice(from, at));
        cell = "";
        from = at + 1;
      }
    }
    isEscaped = char === "\\";
  }
  cells.push(cell + text.slice(from));
  if (cells[0] === "") cells.shift();
  if (cells.at(-1) === "") cells.pop();
  return cells.map((found) => found.trim());
}

/** How the columns stand, where `line` is the one below a header; null where it is not. */
function alignsOf(line: string): Align[] | null {
  if (!/^(?:[|:]|-[|:-])[|:\- \t]*$/.test(line) || line.length < 2) return null;
  const parts = line.split("|");
  const aligns: Align[] = [];
  for (const [index, part] of parts.entries()) {
    const mark = part.trim();
    if (mark === "") {
      if (index === 0 || index === parts.length - 1) continue;
      return null;
    }
    if (!/^:?-+:?$/.test(mark)) return null;
    const isLeft = mark.startsWith(":");
    if (mark.endsWith(":")) aligns.push(isLeft ? "center" : "right");
    else aligns.push(isLeft ? "left" : "");
  }
  return aligns;
}

/** The table that `header` and the line below it begin; null where they do not. */
export function tableStart(
  header: string,
  line: string,
): { header: string[]; aligns: Align[] } | null {
  const aligns = alignsOf(line);
  if (aligns === null || !header.includes("|")) return null;
  const cells = splitRow(header);
  return cells.length > 0 && cells.length === aligns.length ? { header: cells, aligns } : null;
}
