/** The words of one leaf in the document: what is decided stays, the tail is shown anew. */

import { mayDefine, takeDefinitions } from "./definitions.ts";
import { isDecided, isDue, lastCut, TAIL_CHARS_MIN } from "./growth.ts";
import { type InlineContext, parseInline } from "./inline.ts";
import { showMaths } from "./maths.ts";
import type { GrowingText } from "./nodes.ts";
import { cleanWords } from "./sanitise.ts";
import { labelControls } from "./text.ts";

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
    this.#lastDecided = null;
    this.#shown = -1;
    this.#parsed = 0;
    this.#tryAt = TAIL_CHARS_MIN;
    this.#plain = null;
    this.element.replaceChildren();
  }

  #tail(): string {
    const from = Math.max(this.#skip, this.#decided);
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
    let tail = this.#tail();
    if (this.#decided === 0 && tail.startsWith("[") && (this.#isClosed || mayDefine(tail))) {
      // As it would be if this was all: definitions are not seen.
      if (!this.#isClosed) tail = tail.slice(takeDefinitions(tail).length);
    } else if (!this.#isClosed && tail.length >= this.#tryAt) {
      tail = this.#decide(tail);
    }
    this.#showTail(this.#isClosed ? tail.replace(/[ \t\n]+$/, "") : tail);
  }

  /** Freezes as much of `tail` as is decided; returns what is left. */
  #decide(tail: string): string {
    const cut = lastCut(tail);
    const head = tail.slice(0, cut);
    if (cut > 0) {
      this.#context.parsedChars += cut;
      const result = parseInline(head, this.#context);
      if (isDecided(result, head, this.#context.maths)) {
        this.#clearTail();
        this.#put(result.html, result.missing);
        this.#lastDecided = this.element.lastChild;
        this.#decided = Math.max(this.#skip, this.#decided) + cut;
        this.#parsed = tail.length - cut;
        this.#tryAt = TAIL_CHARS_MIN;
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
    this.#context.parsedChars += tail.length;
    const { html, missing } = parseInline(tail, this.#context);
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
    this.#plain.appendData(labelControls(more));
  }
}
