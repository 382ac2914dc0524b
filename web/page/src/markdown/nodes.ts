/**
 * The tree of blocks that a text of Markdown is, while it grows.
 *
 * Only the right edge of the tree changes: what is closed stays as it is, except that a list may
 * turn loose while it is open, and that a leaf that names a link definition is shown anew when the
 * definition arrives.
 */

export type Align = "" | "left" | "center" | "right";

interface Base {
  /** No line will be added. */
  isClosed: boolean;
}

/** A block that holds blocks. */
export interface ContainerNode extends Base {
  readonly kind: "document" | "quote" | "list" | "item";
  readonly children: BlockNode[];
  /** Number of the last line that was blank in here; -1: none. */
  blankLine: number;
  /** Of a list: its marker; the number of its first item, null where it has bullets. */
  readonly marker: string;
  readonly start: number | null;
  /** Of a list: no blank line separates what it holds. */
  isTight: boolean;
  /** Of an item: columns by which its content is indented, from that of the list. */
  readonly indent: number;
}

/** Words: a paragraph, a heading, or mathematics that is displayed. */
export interface ProseNode extends Base {
  readonly kind: "prose";
  role: "paragraph" | "heading" | "maths";
  /** Of a heading: 1 to 6. */
  level: number;
  readonly source: GrowingText;
  /** Holds nothing but definitions: not shown. */
  isVoid: boolean;
}

export interface CodeNode extends Base {
  readonly kind: "code";
  /** First word of the info string, as written; empty: none. */
  readonly language: string;
  /** Lines so far, each with its end, and perhaps the beginning of one more. */
  readonly source: GrowingText;
  /** Blank lines of indented code that are part of it if more code follows. */
  held: string;
  /** Of a fence: its character, its length, its indent; null for indented code. */
  readonly fence: {
    readonly mark: string;
    readonly length: number;
    readonly indent: number;
  } | null;
}

export interface TableNode extends Base {
  readonly kind: "table";
  readonly aligns: readonly Align[];
  readonly header: readonly string[];
  readonly rows: (readonly string[])[];
  /** Cells that short rows did not have. */
  addedCells: number;
}

export interface RuleNode extends Base {
  readonly kind: "rule";
}

export type BlockNode = ContainerNode | ProseNode | CodeNode | TableNode | RuleNode;

/** Text that grows at its end; its beginning is joined only when somebody reads it. */
export class GrowingText {
  #joined = "";
  #pieces: string[] = [];
  #length = 0;

  /** UTF-16 units. */
  get length(): number {
    return this.#length;
  }

  append(piece: string): void {
    if (piece === "") return;
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  toString(): string {
    if (this.#pieces.length > 0) {
      this.#joined += this.#pieces.join("");
      this.#pieces = [];
    }
    return this.#joined;
  }

  /** What stands from `offset` on; costs only that, where it is recent. */
  since(offset: number): string {
    if (offset >= this.#length) return "";
    let from = this.#length;
    let index = this.#pieces.length;
    while (from > offset && index > 0) {
      index -= 1;
      from -= this.#pieces[index]?.length ?? 0;
    }
    if (from > offset) return this.toString().slice(offset);
    return this.#pieces
      .slice(index)
      .join("")
      .slice(offset - from);
  }

  /** Takes back everything from `length` on. */
  truncate(length: number): void {
    if (length >= this.#length) return;
    const whole = this.toString();
    this.#joined = whole.slice(0, length);
    this.#length = length;
  }
}

export function container(
  kind: ContainerNode["kind"],
  more: Partial<Pick<ContainerNode, "marker" | "start" | "indent">> = {},
): ContainerNode {
  return {
    kind,
    children: [],
    isClosed: false,
    blankLine: -1,
    marker: more.marker ?? "",
    start: more.start ?? null,
    isTight: true,
    indent: more.indent ?? 0,
  };
}

export function prose(role: ProseNode["role"], level = 0): ProseNode {
  return {
    kind: "prose",
    role,
    level,
    source: new GrowingText(),
    isClosed: false,
    isVoid: false,
  };
}
