/**
 * Markdown that arrives in pieces as a tree of blocks.
 *
 * It reads line by line, as the appendix of the CommonMark specification describes: for each line
 * the open blocks that go on, then those that begin, then its text. So a line costs what it is long,
 * whatever came before it. The line that is not complete is read as if it were; when more of it
 * comes, that is taken back first. Once a line can be nothing but text of its leaf, it just grows.
 */

import { type Definition, fenceLanguage, takeDefinitions } from "./definitions.ts";
import { LineCursor } from "./lines.ts";
import {
  type BlockNode,
  type CodeNode,
  type ContainerNode,
  container,
  GrowingText,
  type ProseNode,
  prose,
  type TableNode,
} from "./nodes.ts";
import { ADDED_CELLS_MAX, splitRow, tableStart } from "./tables.ts";
import { LineEnds } from "./text.ts";

/** Containers inside of each other; the marks of deeper ones are text. */
export const NESTING_MAX = 32;
/** Longest beginning of a line that is read again for each piece. */
const LINE_REREAD_CHARS_MAX = 1_024;
/** A longer one is read again when one part in so many is new. */
const LINE_GROWTH_SHARE = 8;

/** A line of these only may still become something other than text. */
const UNDECIDED_LINE = /^[\s\-=*_:|`~#+>\d.)$\\[\]]*$/;
const RULE = /^(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})$/;
const ATX = /^(#{1,6})(?:[ \t]+|$)/;
const SETEXT = /^(?:=+|-+)[ \t]*$/;
const FENCE = /^(`{3,}(?!.*`)|~{3,})/;
const BULLET = /^[*+-](?=[ \t]|$)/;
const ORDERED = /^(\d{1,9})([.)])(?=[ \t]|$)/;
const MATHS_START = /^(?:\$\$|\\\[)/;

function isContainer(node: BlockNode | undefined): node is ContainerNode {
  return node !== undefined && "children" in node;
}

function isParagraph(node: BlockNode): node is ProseNode {
  return node.kind === "prose" && node.role === "paragraph";
}

function mathsEnd(source: string): string {
  return source.startsWith("$$") ? "$$" : "\\]";
}

/** What is displayed mathematics from its first to its last character, delimiters included. */
export function isWholeMaths(source: string): boolean {
  const text = source.trimEnd();
  return text.length > 4 && MATHS_START.test(text) && text.endsWith(mathsEnd(text));
}

export class BlockParser {
  readonly root: ContainerNode = container("document");
  /** Characters of lines that were read; for counting work. */
  readChars = 0;
  /** What the end of the tree is was not decided by a complete line. */
  isProvisional = false;
  readonly #maths: boolean;
  readonly #onDefinition: (label: string, definition: Definition) => void;
  readonly #ends = new LineEnds();
  /** From the document to the innermost open block. */
  readonly #open: BlockNode[] = [this.root];
  #line: string[] = [];
  #lineChars = 0;
  #readLineChars = 0;
  #lineNumber = 0;
  /** The line can be nothing but more text of the innermost block. */
  #isSettled = false;
  #undo: (() => void)[] | null = null;
  #closing: ProseNode[] = [];
  /** Where the last line of the open paragraph begins; -1: it cannot be the header of a table. */
  #headerStart = -1;
  #addedCells = 0;

  constructor(maths: boolean, onDefinition: (label: string, definition: Definition) => void) {
    this.#maths = maths;
    this.#onDefinition = onDefinition;
  }

  append(text: string): void {
    this.#feed(this.#ends.feed(text));
  }

  /** There will be no more text: everything is closed. */
  finish(): void {
    this.#feed(this.#ends.finish());
    if (this.#lineChars > 0 || this.#isSettled) this.#feed("\n");
    while (this.#open.length > 0) this.#close();
    this.#settleClosed();
  }

  #feed(text: string): void {
    if (text === "") return;
    let from = 0;
    for (;;) {
      const end = text.indexOf("\n", from);
      if (end < 0) break;
      this.#endLine(text.slice(from, end));
      from = end + 1;
    }
    if (from < text.length) this.#growLine(text.slice(from));
  }

  #endLine(text: string): void {
    if (this.#isSettled) {
      this.#extend(text);
      this.#isSettled = false;
      const tip = this.#tip;
      if (tip.kind === "code") tip.source.append("\n");
      this.#lineNumber += 1;
      return;
    }
    this.#takeBack();
    this.#line.push(text);
    const line = this.#line.join("");
    this.#line = [];
    this.#lineChars = 0;
    this.#readLine(line, true);
    this.#settleClosed();
    this.#lineNumber += 1;
  }

  #growLine(text: string): void {
    if (this.#isSettled) {
      this.#extend(text);
      return;
    }
    this.#line.push(text);
    this.#lineChars += text.length;
    const isDue =
      this.#lineChars <= LINE_REREAD_CHARS_MAX ||
      (this.#lineChars - this.#readLineChars) * LINE_GROWTH_SHARE > this.#lineChars;
    if (!isDue) return;
    this.#takeBack();
    const line = this.#line.join("");
    this.#line = [line];
    this.#readLineChars = line.length;
    this.#undo = [];
    this.isProvisional = true;
    const isText = this.#readLine(line, false);
    if (!isText) return;
    // It is what it is, whatever follows.
    this.#undo = null;
    this.isProvisional = false;
    this.#line = [];
    this.#lineChars = 0;
    this.#readLineChars = 0;
    this.#isSettled = true;
    this.#settleClosed();
  }

  #extend(text: string): void {
    this.readChars += text.length;
    const tip = this.#tip;
    if (tip.kind === "code" || tip.kind === "prose") tip.source.append(text);
  }

  #takeBack(): void {
    this.#readLineChars = 0;
    if (this.#undo === null) return;
    for (const undo of this.#undo.reverse()) undo();
    this.#undo = null;
    this.#closing = [];
    this.isProvisional = false;
  }

  // Changes, each of which can be taken back ------------------------------------------------

  get #tip(): BlockNode {
    return this.#open.at(-1) ?? this.root;
  }

  #close(): void {
    const node = this.#open.pop();
    if (node === undefined) return;
    node.isClosed = true;
    if (node.kind === "prose") this.#closing.push(node);
    this.#undo?.push(() => {
      node.isClosed = false;
      this.#open.push(node);
    });
  }

  #closeTo(depth: number): void {
    while (this.#open.length > depth) this.#close();
  }

  #add(node: BlockNode): void {
    let parent = this.#tip;
    // Nothing stands in leaves, and only items in lists.
    while (!isContainer(parent) || (parent.kind === "list" && node.kind !== "item")) {
      this.#close();
      parent = this.#tip;
    }
    const holder: ContainerNode = parent;
    if (holder.children.length > 0 && holder.blankLine === this.#lineNumber - 1) {
      this.#loosen(holder);
    }
    holder.children.push(node);
    this.#open.push(node);
    this.#undo?.push(() => {
      this.#open.pop();
      holder.children.pop();
    });
  }

  #loosen(parent: ContainerNode): void {
    // It is the innermost open block.
    const list = parent.kind === "item" ? this.#open.at(-2) : parent;
    if (!isContainer(list) || list.kind !== "list" || !list.isTight) return;
    list.isTight = false;
    this.#undo?.push(() => {
      list.isTight = true;
    });
  }

  #markBlank(): void {
    for (let index = this.#open.length - 1; index >= 0; index--) {
      const node = this.#open[index];
      if (!isContainer(node)) continue;
      const before = node.blankLine;
      node.blankLine = this.#lineNumber;
      this.#undo?.push(() => {
        node.blankLine = before;
      });
      if (node.kind === "quote") return;
    }
  }

  #addText(node: ProseNode | CodeNode, text: string): void {
    const { length } = node.source;
    node.source.append(text);
    this.#undo?.push(() => node.source.truncate(length));
  }

  #setHeader(start: number): void {
    const before = this.#headerStart;
    this.#headerStart = start;
    this.#undo?.push(() => {
      this.#headerStart = before;
    });
  }

  /** Takes link definitions out of the paragraphs that ended. */
  #settleClosed(): void {
    if (this.#undo !== null || this.#closing.length === 0) return;
    for (const node of this.#closing) {
      const source = node.source.toString();
      if (node.role === "maths" || !source.startsWith("[")) continue;
      const { length, definitions } = takeDefinitions(source);
      if (length === 0) continue;
      for (const [name, definition] of definitions) this.#onDefinition(name, definition);
      node.source.truncate(0);
      node.source.append(source.slice(length));
      node.isVoid = node.source.length === 0;
    }
    this.#closing = [];
  }

  // Lines -----------------------------------------------------------------------------------

  /** Reads a line; returns whether it can be nothing but text, whatever follows in it. */
  #readLine(text: string, isWhole: boolean): boolean {
    this.readChars += text.length;
    const line = new LineCursor(text);
    const matched = this.#matchOpen(line, isWhole);
    if (matched < 0) return false;
    const last = this.#open[matched - 1];
    if (last !== undefined && last.kind === "code") return this.#addCode(last, line, isWhole);
    const begun = this.#begin(line, matched);
    if (begun === "done") return false;
    return this.#addRest(line, begun ? this.#open.length : matched, begun);
  }

  /**
   * Lets the open blocks read what they need to go on; returns how many do. -1: the line was the
   * end of a fence.
   */
  #matchOpen(line: LineCursor, isWhole: boolean): number {
    let depth = 1;
    for (; depth < this.#open.length; depth++) {
      const node = this.#open[depth];
      if (node === undefined || !this.#goesOn(node, line)) break;
      if (node.kind === "code" && node.fence !== null) {
        const { mark, length, indent } = node.fence;
        const content = line.content.trimEnd();
        const isMarks = content === mark.repeat(content.length);
        if (isMarks && !line.isIndented && !isWhole) return -1; // it may be its end
        if (isMarks && !line.isIndented && content.length >= length) {
          this.#closeTo(depth);
          return -1;
        }
        line.advance(Math.min(indent, line.indent));
      }
    }
    return depth;
  }

  #goesOn(node: BlockNode, line: LineCursor): boolean {
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

  /** Adds a line to code that goes on. */
  #addCode(node: CodeNode, line: LineCursor, isWhole: boolean): boolean {
    const text = isWhole ? `${line.rest}\n` : line.rest;
    const { isBlank } = line;
    if (node.fence === null) {
      const { held } = node;
      if (isBlank) {
        // It belongs to the code only if more code follows.
        if (!isWhole) return false;
        node.held += text;
        this.#markBlank();
        return false;
      }
      node.held = "";
      this.#undo?.push(() => {
        node.held = held;
      });
      this.#addText(node, held);
    }
    this.#addText(node, text);
    // Blanks may be those before the end of the fence, or of something that is not indented.
    return !isWhole && !isBlank;
  }

  /** Begins what the line begins; "done": nothing of the line is left. */
  #begin(line: LineCursor, matchedDepth: number): boolean | "done" {
    let depth = matchedDepth;
    let begun = false;
    for (;;) {
      const node = this.#open[depth - 1] ?? this.root;
      if (line.isBlank) return begun;
      if (node.kind === "prose" && node.role === "maths") return begun;
      if (line.isIndented) {
        if (isParagraph(this.#tip) || node.kind === "table") return begun;
        line.advance(4);
        this.#closeTo(depth);
        this.#add(this.#code("", null));
        return true;
      }
      if (this.#beginLeaf(line, node, depth)) return "done";
      if (!this.#beginContainer(line, node, depth)) return begun;
      begun = true;
      depth = this.#open.length;
    }
  }

  #code(language: string, fence: CodeNode["fence"]): CodeNode {
    return { kind: "code", language, fence, source: new GrowingText(), held: "", isClosed: false };
  }

  /** Begins a leaf that takes the whole line; returns whether the line begins one. */
  #beginLeaf(line: LineCursor, node: BlockNode, depth: number): boolean {
    const content = line.content;
    const atx = ATX.exec(content);
    if (atx !== null) {
      this.#closeTo(depth);
      const heading = prose("heading", atx[1]?.length ?? 1);
      this.#add(heading);
      const words = content
        .slice(atx[0].length)
        .replace(/^[ \t]*#+[ \t]*$/, "")
        .replace(/[ \t]+#+[ \t]*$/, "")
        .replace(/^[ \t]+|[ \t]+$/g, "");
      this.#addText(heading, words);
      this.#close();
      return true;
    }
    const fence = FENCE.exec(content);
    if (fence !== null) {
      this.#closeTo(depth);
      const marks = fence[1] ?? "";
      const language = fenceLanguage(content.slice(marks.length));
      this.#add(
        this.#code(language, { mark: marks.charAt(0), length: marks.length, indent: line.indent }),
      );
      return true;
    }
    if (isParagraph(node)) {
      if (this.#beginTable(node, content)) return true;
      if (SETEXT.test(content) && this.#underline(node, content)) return true;
    }
    if (RULE.test(content)) {
      this.#closeTo(depth);
      this.#add({ kind: "rule", isClosed: false });
      this.#close();
      return true;
    }
    if (this.#maths && MATHS_START.test(content)) return this.#beginMaths(content, depth);
    return false;
  }

  #beginMaths(content: string, depth: number): boolean {
    const text = content.trimEnd();
    const isWhole = isWholeMaths(text);
    if (!isWhole && text.indexOf(mathsEnd(text), 2) >= 0) return false;
    this.#closeTo(depth);
    const maths = prose("maths");
    this.#add(maths);
    this.#addText(maths, text);
    if (isWhole) this.#close();
    return true;
  }

  #beginTable(node: ProseNode, content: string): boolean {
    if (this.#headerStart < 0 || !/^[|:-]/.test(content)) return false;
    const found = tableStart(node.source.since(this.#headerStart), content);
    if (found === null) return false;
    const source = node.source.toString();
    const table: TableNode = { kind: "table", ...found, rows: [], isClosed: false };
    if (this.#headerStart === 0) {
      // The paragraph was only the header.
      const parent = this.#open.at(-2);
      if (!isContainer(parent)) return false;
      this.#open.pop();
      parent.children.pop();
      parent.children.push(table);
      this.#open.push(table);
      this.#undo?.push(() => {
        this.#open.pop();
        parent.children.pop();
        parent.children.push(node);
        this.#open.push(node);
      });
    } else {
      const rest = source.slice(0, this.#headerStart).trimEnd();
      node.source.truncate(rest.length);
      this.#undo?.push(() => node.source.append(source.slice(rest.length)));
      this.#close();
      this.#add(table);
    }
    const before = this.#addedCells;
    this.#addedCells = 0;
    this.#undo?.push(() => {
      this.#addedCells = before;
    });
    return true;
  }

  /** Makes a heading of the paragraph, unless it holds nothing but definitions. */
  #underline(node: ProseNode, content: string): boolean {
    const source = node.source.toString();
    if (source.startsWith("[") && takeDefinitions(source).length === source.length) return false;
    node.role = "heading";
    node.level = content.startsWith("=") ? 1 : 2;
    this.#undo?.push(() => {
      node.role = "paragraph";
      node.level = 0;
    });
    this.#close();
    return true;
  }

  #beginContainer(line: LineCursor, node: BlockNode, depth: number): boolean {
    if (this.#open.length > 0 && depth - 1 >= NESTING_MAX) return false;
    if (line.nextChar === ">") {
      line.skipBlanks();
      line.advance(1);
      line.skipBlank();
      this.#closeTo(depth);
      this.#add(container("quote"));
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
    const indent = line.indent + this.#skipMarker(line, found[0].length);
    this.#closeTo(depth);
    const parent = this.#tip;
    const isSame = isContainer(parent) && parent.kind === "list" && parent.marker === marker;
    if (!isSame) this.#add(container("list", { marker, start }));
    this.#add(container("item", { indent }));
    return true;
  }

  /** Reads the marker of an item; returns the columns up to its content. */
  #skipMarker(line: LineCursor, length: number): number {
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

  /** Adds what is left of a line as text. */
  #addRest(line: LineCursor, depth: number, begun: boolean): boolean {
    const tip = this.#tip;
    if (begun && tip.kind === "code") {
      // Indented code that this line began.
      this.#addText(tip, this.isProvisional ? line.rest : `${line.rest}\n`);
      return this.isProvisional && !UNDECIDED_LINE.test(line.content);
    }
    const isLazy = depth < this.#open.length;
    if (line.isBlank) {
      this.#closeTo(depth);
      if (!begun) this.#markBlank();
      return false;
    }
    const content = line.content;
    if (tip.kind === "prose" && tip.role === "paragraph") {
      this.#setHeader(isLazy || line.isIndented ? -1 : tip.source.length + 1);
      this.#addText(tip, `\n${content}`);
      return !UNDECIDED_LINE.test(content);
    }
    if (tip.kind === "prose" && tip.role === "maths" && !isLazy) {
      this.#addText(tip, `\n${content.trimEnd()}`);
      if (content.trimEnd().endsWith(mathsEnd(tip.source.toString()))) this.#close();
      return false;
    }
    if (tip.kind === "table" && !isLazy && this.#addRow(tip, content)) return false;
    this.#closeTo(isLazy ? depth : this.#open.length);
    if (!isContainer(this.#tip)) this.#close();
    const paragraph = prose("paragraph");
    this.#add(paragraph);
    this.#setHeader(0);
    this.#addText(paragraph, content);
    return !UNDECIDED_LINE.test(content);
  }

  #addRow(table: TableNode, content: string): boolean {
    const cells = splitRow(content);
    const before = this.#addedCells;
    this.#addedCells += table.aligns.length - cells.length;
    this.#undo?.push(() => {
      this.#addedCells = before;
    });
    if (this.#addedCells > ADDED_CELLS_MAX) return false;
    table.rows.push(table.aligns.map((_align, index) => cells[index] ?? ""));
    this.#undo?.push(() => table.rows.pop());
    return true;
  }
}
