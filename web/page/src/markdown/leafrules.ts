/** Headings, fences, rules, tables and formulas: where they begin, and the rows of tables. */

import {
  ATX,
  FENCE,
  isParagraph,
  isWholeMaths,
  MATHS_START,
  mathsEnd,
  RULE,
  SETEXT,
} from "./blockmarks.ts";
import { fenceLanguage, takeDefinitions } from "./definitions.ts";
import type { LineCursor } from "./lines.ts";
import {
  type BlockNode,
  type CodeNode,
  GrowingText,
  type ProseNode,
  prose,
  type TableNode,
} from "./nodes.ts";
import type { OpenTree } from "./opentree.ts";
import { ADDED_CELLS_MAX, splitRow, tableStart } from "./tables.ts";

/** Code without lines. */
export function codeNode(language: string, fence: CodeNode["fence"]): CodeNode {
  return { kind: "code", language, fence, source: new GrowingText(), held: "", isClosed: false };
}

/** Begins a leaf that takes the whole line; returns whether the line begins one. */
export function beginLeaf(
  tree: OpenTree,
  line: LineCursor,
  node: BlockNode,
  depth: number,
  maths: boolean,
): boolean {
  const content = line.content;
  const atx = ATX.exec(content);
  if (atx !== null) {
    tree.closeTo(depth);
    const heading = prose("heading", atx[1]?.length ?? 1);
    tree.add(heading);
    const words = content
      .slice(atx[0].length)
      .replace(/^[ \t]*#+[ \t]*$/, "")
      .replace(/[ \t]+#+[ \t]*$/, "")
      .replace(/^[ \t]+|[ \t]+$/g, "");
    tree.addText(heading, words);
    tree.close();
    return true;
  }
  const fence = FENCE.exec(content);
  if (fence !== null) {
    tree.closeTo(depth);
    const marks = fence[1] ?? "";
    const language = fenceLanguage(content.slice(marks.length));
    tree.add(
      codeNode(language, { mark: marks.charAt(0), length: marks.length, indent: line.indent }),
    );
    return true;
  }
  if (isParagraph(node)) {
    if (beginTable(tree, node, content)) return true;
    if (SETEXT.test(content) && underline(tree, node, content)) return true;
  }
  if (RULE.test(content)) {
    tree.closeTo(depth);
    tree.add({ kind: "rule", isClosed: false });
    tree.close();
    return true;
  }
  if (maths && MATHS_START.test(content)) return beginMaths(tree, content, depth);
  return false;
}

function beginMaths(tree: OpenTree, content: string, depth: number): boolean {
  const text = content.trimEnd();
  const isWhole = isWholeMaths(text);
  if (!isWhole && text.indexOf(mathsEnd(text), 2) >= 0) return false;
  tree.closeTo(depth);
  const maths = prose("maths");
  tree.add(maths);
  tree.addText(maths, text);
  if (isWhole) tree.close();
  return true;
}

function beginTable(tree: OpenTree, node: ProseNode, content: string): boolean {
  if (tree.headerStart < 0 || !/^[|:-]/.test(content)) return false;
  const found = tableStart(node.source.since(tree.headerStart), content);
  if (found === null) return false;
  const source = node.source.toString();
  const table: TableNode = { kind: "table", ...found, rows: [], addedCells: 0, isClosed: false };
  if (tree.headerStart === 0) {
    // The paragraph was only the header.
    if (!tree.replaceTip(table)) return false;
  } else {
    const rest = source.slice(0, tree.headerStart).trimEnd();
    node.source.truncate(rest.length);
    tree.onUndo(() => node.source.append(source.slice(rest.length)));
    tree.close();
    tree.add(table);
  }
  return true;
}

/** Makes a heading of the paragraph, unless it holds nothing but definitions. */
function underline(tree: OpenTree, node: ProseNode, content: string): boolean {
  const source = node.source.toString();
  if (source.startsWith("[") && takeDefinitions(source).length === source.length) return false;
  node.role = "heading";
  node.level = content.startsWith("=") ? 1 : 2;
  tree.onUndo(() => {
    node.role = "paragraph";
    node.level = 0;
  });
  tree.close();
  return true;
}

/** Adds a row to a table; false: it has added too many cells, and the line is text. */
export function addRow(tree: OpenTree, table: TableNode, content: string): boolean {
  const cells = splitRow(content);
  const before = table.addedCells;
  table.addedCells += table.aligns.length - cells.length;
  tree.onUndo(() => {
    table.addedCells = before;
  });
  if (table.addedCells > ADDED_CELLS_MAX) return false;
  table.rows.push(table.aligns.map((_align, index) => cells[index] ?? ""));
  tree.onUndo(() => table.rows.pop());
  return true;
}
