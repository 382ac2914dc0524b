/** Text that came in one piece and is drawn in slices, so that no key press waits for all of it. */

/** Text that is drawn as it comes, and about what one slice has: UTF-16 units. */
export const SLICE_CHARS = 2_048;
/** Most that a slice of one line has: a line without an end is read again with each of its slices. */
export const LINE_SLICE_CHARS = 8_192;

export class WaitingText {
  #text = "";
  #at = 0;

  /** UTF-16 units that wait. */
  get length(): number {
    return this.#text.length - this.#at;
  }

  add(text: string): void {
    this.#text = this.#at === 0 ? this.#text + text : this.#text.slice(this.#at) + text;
    this.#at = 0;
  }

  /** Takes the next slice: it ends with a line, where one ends in reach. */
  take(): string {
    const from = this.#at;
    const text = this.#text;
    if (this.length <= SLICE_CHARS) {
      this.clear();
      return text.slice(from);
    }
    let slice = text.slice(from, from + SLICE_CHARS);
    let end = slice.lastIndexOf("\n") + 1;
    if (end === 0) {
      slice = text.slice(from, from + LINE_SLICE_CHARS);
      end = slice.indexOf("\n") + 1;
    }
    if (end > 0) slice = slice.slice(0, end);
    this.#at += slice.length;
    if (this.#at === text.length) this.clear();
    return slice;
  }

  clear(): void {
    this.#text = "";
    this.#at = 0;
  }
}
