/** Quotes, lists and items: where they begin, and which lines they and other blocks go on with. */

import { BULLET, isContainer, isParagraph, ORDERED } from "./blockmarks.ts";
import type { LineCursor } from "./lines.ts";
import { type BlockNode, container } from "./nodes.ts";
import type { OpenTree } from "./opentree.ts";

/** Containers inside of each other; the marks of deeper ones are text. */
export const NESTING_MAX = 32;

/** Whether an open block goes on in a line; reads what it needs for that. */
export function goesOn(node: BlockNode, line: LineCursor): boolean {
  switch (node.kind) {
    case "quote":
      if (line.isIndented || line.nextChar !== ">") return false;
      line.skipBlanks();
      line.advance(1);
      line.skipBlank();
      return true;
    case "item":
      if (line.isBlank) {
        if (node.children.length === 0) return false;
        line.skipBlanks();
        return true;
      }
      if (line.indent < node.indent) return false;
      line.advance(node.indent);
      return true;
    case "code":
      if (node.fence !== null) return true;
      if (line.isIndented) line.advance(4);
      else if (line.isBlank) line.skipBlanks();
      else return false;
      return true;
    case "prose":
      return node.role !== "heading" && !line.isBlank;
    case "table":
      return !line.isBlank && !line.isIndented;
    case "rule":
      return false;
    default:
      return true;
  }
}

/** Begins a quote or an item; returns whether the line begins one. */
export function beginContainer(
  tree: OpenTree,
  line: LineCursor,
  node: BlockNode,
  depth: number,
): boolean {
  if (tree.depth > 0 && depth - 1 >= NESTING_MAX) return false;
  if (line.nextChar === ">") {
    line.skipBlanks();
    line.advance(1);
    line.skipBlank();
    tree.closeTo(depth);
    tree.add(container("quote"));
    return true;
  }
  const content = line.content;
  const bullet = BULLET.exec(content);
  const ordered = ORDERED.exec(content);
  const found = bullet ?? ordered;
  if (found === null) return false;
  const start = ordered === null ? null : Number(ordered[1]);
  if (isParagraph(node)) {
    const isEmpty = content.slice(found[0].length).trim() === "";
    if (isEmpty || (start !== null && start !== 1)) return false;
  }
  const marker = bullet === null ? (ordered?.[2] ?? "") : bullet[0];
  const indent = line.indent + skipMarker(line, found[0].length);
  tree.closeTo(depth);
  const parent = tree.tip;
  const isSame = isContainer(parent) && parent.kind === "list" && parent.marker === marker;
  if (!isSame) tree.add(container("list", { marker, start }));
  tree.add(container("item", { indent }));
  return true;
}

/** Reads the marker of an item; returns the columns up to its content. */
function skipMarker(line: LineCursor, length: number): number {
  line.skipBlanks();
  line.advance(length);
  const back = line.mark();
  const blanks = line.indent;
  if (blanks >= 1 && blanks <= 4 && !line.isBlank) {
    line.advance(blanks);
    return length + blanks;
  }
  back();
  line.skipBlank();
  return length + 1;
}
