/** One line and how far it was read, in columns: a tab goes to the next multiple of four. */

const TAB = 4;

export class LineCursor {
  readonly text: string;
  /** Index of what is read next. */
  offset = 0;
  column = 0;
  #isInTab = false;
  /** Of the next character that is no blank. */
  next = 0;
  #nextColumn = 0;

  constructor(text: string) {
    this.text = text;
    this.look();
  }

  /** Columns of blanks before the next character that is none. */
  get indent(): number {
    return this.#nextColumn - this.column;
  }

  get isBlank(): boolean {
    return this.next >= this.text.length;
  }

  /** Nothing that begins a block may be indented so far. */
  get isIndented(): boolean {
    return this.indent >= TAB;
  }

  get nextChar(): string {
    return this.text.charAt(this.next);
  }

  /** The line from the next character on that is no blank. */
  get content(): string {
    return this.text.slice(this.next);
  }

  /** What was not read, with the blanks that are left of a tab. */
  get rest(): string {
    if (!this.#isInTab) return this.text.slice(this.offset);
    return " ".repeat(TAB - (this.column % TAB)) + this.text.slice(this.offset + 1);
  }

  /** Finds the next character that is no blank. */
  look(): void {
    let at = this.offset;
    let column = this.column;
    for (; at < this.text.length; at++) {
      const code = this.text.charCodeAt(at);
      if (code === 32) column += 1;
      else if (code === 9) column += TAB - (column % TAB);
      else break;
    }
    this.next = at;
    this.#nextColumn = column;
  }

  /** Reads up to the next character that is no blank. */
  skipBlanks(): void {
    this.offset = this.next;
    this.column = this.#nextColumn;
    this.#isInTab = false;
  }

  /** Reads `count` columns; part of a tab may be left. */
  advance(count: number): void {
    let left = count;
    while (left > 0 && this.offset < this.text.length) {
      if (this.text.charCodeAt(this.offset) === 9) {
        const toTab = TAB - (this.column % TAB);
        const step = Math.min(left, toTab);
        this.#isInTab = toTab > left;
        this.column += step;
        if (!this.#isInTab) this.offset += 1;
        left -= step;
      } else {
        this.#isInTab = false;
        this.offset += 1;
        this.column += 1;
        left -= 1;
      }
    }
    this.look();
  }

  /** Reads one blank, if there is one. */
  skipBlank(): void {
    const code = this.text.charCodeAt(this.offset);
    if (code === 32 || code === 9) this.advance(1);
  }

  /** Remembers the place. */
  mark(): () => void {
    const { offset, column } = this;
    const isInTab = this.#isInTab;
    return () => {
      this.offset = offset;
      this.column = column;
      this.#isInTab = isInTab;
      this.look();
    };
  }
}
