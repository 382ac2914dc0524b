/** The words of one leaf in the document: what is decided stays, the tail is shown anew. */

import { mayDefine, takeDefinitions } from "./definitions.ts";
import {
  isDecided,
  isDue,
  lastCut,
  SECTION_CHARS_MAX,
  sectionLength,
  TAIL_CHARS_MIN,
} from "./growth.ts";
import { type InlineContext, type InlineResult, parseInline } from "./inline.ts";
import { showMaths } from "./maths.ts";
import type { GrowingText } from "./nodes.ts";
import { cleanWords } from "./sanitise.ts";
import { labelControls, labelMore } from "./text.ts";

/** A leaf is shown anew at once for so many late definitions, and for the others at the end. */
const ANEW_MAX = 8;

/** What the leaves of one text share. */
export interface WordsContext extends InlineContext {
  /** Called for each label that a leaf names and that has no definition. */
  onMissing(label: string, view: WordsView): void;
  onHeightChange(): void;
  /** Characters that were parsed, for counting work. */
  parsedChars: number;
}

export class WordsView {
  readonly element: HTMLElement;
  readonly #context: WordsContext;
  #source: GrowingText | string = "";
  /** Characters at the beginning that are no words: the mark of a task. */
  #skip = 0;
  #isClosed = false;
  #decided = 0;
  /** Where the section that is read begins. */
  #section = 0;
  #lastDecided: ChildNode | null = null;
  #shown = -1;
  #parsed = 0;
  #tryAt = TAIL_CHARS_MIN;
  #anew = 0;
  #isStale = false;
  /** Words behind the parsed ones, until they are parsed. */
  #plain: Text | null = null;

  constructor(element: HTMLElement, context: WordsContext) {
    this.element = element;
    this.#context = context;
  }

  /** There are words to be seen. */
  get hasWords(): boolean {
    return this.element.firstChild !== null;
  }

  /** Shows `source`; cheap where it only grew, or not at all. */
  show(source: GrowingText | string, skip: number, isClosed: boolean): void {
    const isSame = source === this.#source && skip === this.#skip;
    if (!isSame || source.length < this.#shown) this.#reset();
    else if (source.length === this.#shown && isClosed === this.#isClosed) return;
    this.#source = source;
    this.#skip = skip;
    this.#isClosed = isClosed;
    this.#render();
  }

  /** A label that was missing has its definition now. */
  renew(): void {
    this.#anew += 1;
    this.#isStale = true;
    if (this.#anew <= ANEW_MAX) this.settle();
  }

  /** Shows what late definitions changed and was put off. */
  settle(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#reset();
    this.#render();
  }

  #reset(): void {
    this.#decided = 0;
    this.#section = 0;
    this.#lastDecided = null;
    this.#shown = -1;
    this.#parsed = 0;
    this.#tryAt = TAIL_CHARS_MIN;
    this.#plain = null;
    this.element.replaceChildren();
  }

  #from(offset: number): string {
    const from = Math.max(this.#skip, offset);
    const source = this.#source;
    return typeof source === "string" ? source.slice(from) : source.since(from);
  }

  #render(): void {
    const before = this.#shown;
    this.#shown = this.#source.length;
    const length = this.#shown - this.#decided;
    if (!this.#isClosed && before >= 0 && !isDue(length, this.#parsed)) {
      this.#showPlain(before);
      return;
    }
    this.#parsed = length;
    if (!this.#isClosed && this.#decided === 0 && this.#showDefinitions()) return;
    this.#readSections();
    let tail = this.#from(this.#decided);
    if (!this.#isClosed && tail.length >= this.#tryAt) tail = this.#decide(tail);
    this.#showTail(this.#isClosed ? tail.replace(/[ \t\n]+$/, "") : tail);
  }

  /**
   * Shows words that begin with what may become definitions, as if this was all: those are not seen.
   *
   * @returns Whether they may.
   */
  #showDefinitions(): boolean {
    const source = this.#from(0);
    if (!source.startsWith("[") || !mayDefine(source)) return false;
    const words = source.slice(takeDefinitions(source).length);
    this.#showTail(words.slice(0, SECTION_CHARS_MAX));
    if (words.length > SECTION_CHARS_MAX) {
      this.element.append(labelControls(words.slice(SECTION_CHARS_MAX)));
    }
    return true;
  }

  /** Shows sections that are complete for good. */
  #readSections(): void {
    let begin = Math.max(this.#skip, this.#section);
    if (this.#shown - begin <= SECTION_CHARS_MAX) return;
    let rest = this.#from(begin);
    for (;;) {
      const length = sectionLength(rest, (words) => this.#isDecided(words));
      if (length === 0) return;
      const from = Math.max(this.#skip, this.#decided) - begin;
      begin += length;
      // What is decided may go beyond the section: it did not need one.
      if (from < length) {
        const { html, missing } = this.#parse(rest.slice(from, length));
        this.#freeze(html, missing, begin);
      }
      this.#section = begin;
      rest = rest.slice(length);
    }
  }

  #parse(words: string): InlineResult {
    this.#context.parsedChars += words.length;
    return parseInline(words, this.#context);
  }

  #isDecided(words: string): boolean {
    return isDecided(this.#parse(words), words, this.#context.maths);
  }

  #freeze(html: string, missing: ReadonlySet<string>, end: number): void {
    this.#clearTail();
    this.#put(html, missing);
    this.#lastDecided = this.element.lastChild;
    this.#decided = end;
    this.#parsed = this.#shown - end;
    this.#tryAt = TAIL_CHARS_MIN;
  }

  /** Freezes as much of `tail` as is decided; returns what is left. */
  #decide(tail: string): string {
    const cut = lastCut(tail);
    const head = tail.slice(0, cut);
    if (cut > 0) {
      const result = this.#parse(head);
      if (isDecided(result, head, this.#context.maths)) {
        this.#freeze(result.html, result.missing, Math.max(this.#skip, this.#decided) + cut);
        return tail.slice(cut);
      }
    }
    this.#tryAt = tail.length + Math.max(TAIL_CHARS_MIN, tail.length >> 3);
    return tail;
  }

  #clearTail(): void {
    this.#plain = null;
    const { element } = this;
    while (element.lastChild !== this.#lastDecided) element.lastChild?.remove();
  }

  #showTail(tail: string): void {
    const { html, missing } = this.#parse(tail);
    this.#clearTail();
    this.#put(html, missing);
  }

  #put(html: string, missing: ReadonlySet<string>): void {
    for (const label of missing) this.#context.onMissing(label, this);
    if (!/[<&]/.test(html)) {
      if (html !== "") this.element.append(html);
      return;
    }
    const fragment = cleanWords(html);
    if (this.#context.maths) showMaths(fragment, this.#context.onHeightChange);
    this.element.append(fragment);
  }

  #showPlain(before: number): void {
    const source = this.#source;
    const more = typeof source === "string" ? source.slice(before) : source.since(before);
    if (this.#plain === null) {
      this.#plain = document.createTextNode("");
      this.element.append(this.#plain);
    }
    this.#plain.appendData(labelMore(this.#plain.data, more));
  }
}
