/**
 * Markdown that arrives in pieces as a tree of blocks.
 *
 * It reads line by line, as the appendix of the CommonMark specification describes: for each line
 * the open blocks that go on, then those that begin, then its text. So a line costs what it is long,
 * whatever came before it. The line that is not complete is read as if it were; when more of it
 * comes, that is taken back first. Once a line can be nothing but text of its leaf, it just grows.
 */

import { isContainer, isParagraph, mathsEnd, UNDECIDED_LINE } from "./blockmarks.ts";
import { beginContainer, goesOn } from "./containerrules.ts";
import type { Definition } from "./definitions.ts";
import { addRow, beginLeaf, codeNode } from "./leafrules.ts";
import { LineCursor } from "./lines.ts";
import { type CodeNode, type ContainerNode, prose } from "./nodes.ts";
import { OpenTree } from "./opentree.ts";
import { LineEnds } from "./text.ts";

/** Longest beginning of a line that is read again for each piece. */
const LINE_REREAD_CHARS_MAX = 1_024;
/** A longer one is read again when one part in so many is new. */
const LINE_GROWTH_SHARE = 8;

export class BlockParser {
  /** Characters of lines that were read; for counting work. */
  readChars = 0;
  readonly #maths: boolean;
  readonly #tree: OpenTree;
  readonly #ends = new LineEnds();
  #line: string[] = [];
  #lineChars = 0;
  #readLineChars = 0;
  /** The line can be nothing but more text of the innermost block. */
  #isSettled = false;

  constructor(maths: boolean, onDefinition: (label: string, definition: Definition) => void) {
    this.#maths = maths;
    this.#tree = new OpenTree(onDefinition);
  }

  get root(): ContainerNode {
    return this.#tree.root;
  }

  /** What the end of the tree is was not decided by a complete line. */
  get isProvisional(): boolean {
    return this.#tree.isProvisional;
  }

  append(text: string): void {
    this.#feed(this.#ends.feed(text));
  }

  /** There will be no more text: everything is closed. */
  finish(): void {
    this.#feed(this.#ends.finish());
    if (this.#lineChars > 0 || this.#isSettled) this.#feed("\n");
    while (this.#tree.depth > 0) this.#tree.close();
    this.#tree.settleClosed();
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
      const tip = this.#tree.tip;
      if (tip.kind === "code") tip.source.append("\n");
      this.#tree.lineNumber += 1;
      return;
    }
    this.#takeBack();
    this.#line.push(text);
    const line = this.#line.join("");
    this.#line = [];
    this.#lineChars = 0;
    this.#readLine(line, true);
    this.#tree.settleClosed();
    this.#tree.lineNumber += 1;
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
    this.#tree.beginProvisional();
    const isText = this.#readLine(line, false);
    if (!isText) return;
    // It is what it is, whatever follows.
    this.#tree.keep();
    this.#line = [];
    this.#lineChars = 0;
    this.#readLineChars = 0;
    this.#isSettled = true;
    this.#tree.settleClosed();
  }

  #extend(text: string): void {
    this.readChars += text.length;
    const tip = this.#tree.tip;
    if (tip.kind === "code" || tip.kind === "prose") tip.source.append(text);
  }

  #takeBack(): void {
    this.#readLineChars = 0;
    this.#tree.takeBack();
  }

  // Lines -----------------------------------------------------------------------------------

  /** Reads a line; returns whether it can be nothing but text, whatever follows in it. */
  #readLine(text: string, isWhole: boolean): boolean {
    this.readChars += text.length;
    const line = new LineCursor(text);
    const matched = this.#matchOpen(line, isWhole);
    if (matched < 0) return false;
    const last = this.#tree.at(matched - 1);
    if (last !== undefined && last.kind === "code") return this.#addCode(last, line, isWhole);
    const begun = this.#begin(line, matched);
    if (begun === "done") return false;
    return this.#addRest(line, begun ? this.#tree.depth : matched, begun);
  }

  /**
   * Lets the open blocks read what they need to go on; returns how many do. -1: the line was the
   * end of a fence.
   */
  #matchOpen(line: LineCursor, isWhole: boolean): number {
    let depth = 1;
    for (; depth < this.#tree.depth; depth++) {
      const node = this.#tree.at(depth);
      if (node === undefined || !goesOn(node, line)) break;
      if (node.kind === "code" && node.fence !== null) {
        const { mark, length, indent } = node.fence;
        const content = line.content.trimEnd();
        const isMarks = content === mark.repeat(content.length);
        if (isMarks && !line.isIndented && !isWhole) return -1; // it may be its end
        if (isMarks && !line.isIndented && content.length >= length) {
          this.#tree.closeTo(depth);
          return -1;
        }
        line.advance(Math.min(indent, line.indent));
      }
    }
    return depth;
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
        this.#tree.markBlank();
        return false;
      }
      node.held = "";
      this.#tree.onUndo(() => {
        node.held = held;
      });
      this.#tree.addText(node, held);
    }
    this.#tree.addText(node, text);
    // Blanks may be those before the end of the fence, or of something that is not indented.
    return !isWhole && !isBlank;
  }

  /** Begins what the line begins; "done": nothing of the line is left. */
  #begin(line: LineCursor, matchedDepth: number): boolean | "done" {
    let depth = matchedDepth;
    let begun = false;
    for (;;) {
      const node = this.#tree.at(depth - 1) ?? this.root;
      if (line.isBlank) return begun;
      if (node.kind === "prose" && node.role === "maths") return begun;
      if (line.isIndented) {
        if (isParagraph(this.#tree.tip) || node.kind === "table") return begun;
        line.advance(4);
        this.#tree.closeTo(depth);
        this.#tree.add(codeNode("", null));
        return true;
      }
      if (beginLeaf(this.#tree, line, node, depth, this.#maths)) return "done";
      if (!beginContainer(this.#tree, line, node, depth)) return begun;
      begun = true;
      depth = this.#tree.depth;
    }
  }

  /** Adds what is left of a line as text. */
  #addRest(line: LineCursor, depth: number, begun: boolean): boolean {
    const tip = this.#tree.tip;
    if (begun && tip.kind === "code") {
      // Indented code that this line began.
      this.#tree.addText(tip, this.isProvisional ? line.rest : `${line.rest}\n`);
      return this.isProvisional && !UNDECIDED_LINE.test(line.content);
    }
    const isLazy = depth < this.#tree.depth;
    if (line.isBlank) {
      this.#tree.closeTo(depth);
      if (!begun) this.#tree.markBlank();
      return false;
    }
    const content = line.content;
    if (tip.kind === "prose" && tip.role === "paragraph") {
      this.#tree.setHeader(isLazy || line.isIndented ? -1 : tip.source.length + 1);
      this.#tree.addText(tip, `\n${content}`);
      return !UNDECIDED_LINE.test(content);
    }
    if (tip.kind === "prose" && tip.role === "maths" && !isLazy) {
      this.#tree.addText(tip, `\n${content.trimEnd()}`);
      if (content.trimEnd().endsWith(mathsEnd(tip.source.toString()))) this.#tree.close();
      return false;
    }
    if (tip.kind === "table" && !isLazy && addRow(this.#tree, tip, content)) return false;
    this.#tree.closeTo(isLazy ? depth : this.#tree.depth);
    if (!isContainer(this.#tree.tip)) this.#tree.close();
    const paragraph = prose("paragraph");
    this.#tree.add(paragraph);
    this.#tree.setHeader(0);
    this.#tree.addText(paragraph, content);
    return !UNDECIDED_LINE.test(content);
  }
}
