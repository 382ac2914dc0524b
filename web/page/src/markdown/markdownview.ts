/**
 * Markdown in the document, as it arrives or as a whole.
 *
 * What it ends as depends on the text alone, not on how it was cut.
 */

import { BlockParser } from "./blockparser.ts";
import { ContainerView, type ViewContext } from "./blockviews.ts";
import type { Definition } from "./definitions.ts";
import { idle } from "./idle.ts";
import type { WordsView } from "./wordsview.ts";

/** So much of a text that comes at once is shown at once; the rest in slices of idle time. */
export const DIRECT_CHARS_MAX = 32_768;
/** Characters that are read before it is asked whether there is time for more. */
const SLICE_CHARS = 2_048;

export interface MarkdownOptions {
  /** Pictures are never loaded by themselves: a click opens them in a new tab. */
  readonly loadImage?: "click";
  /** Formulas are shown as such; else as text. */
  readonly maths: boolean;
  /** Called when the height changed at another time than by `append`, `set` or `finish`. */
  readonly onHeightChange?: () => void;
  readonly copyCode: (text: string) => void;
}

export class MarkdownView {
  readonly element: HTMLElement;
  readonly #options: MarkdownOptions;
  #length = 0;
  /** Text that waits to be shown, and how much of it was. */
  #waiting: string[] = [];
  #waitingFrom = 0;
  #waitingChars = 0;
  #isEnding = false;
  #cancelIdle: (() => void) | null = null;
  #definitions = new Map<string, Definition>();
  #missing = new Map<string, Set<WordsView>>();
  #defined: string[] = [];
  #late = new Set<WordsView>();
  #parser: BlockParser;
  #view: ContainerView;
  #context: ViewContext;

  constructor(options: MarkdownOptions) {
    this.#options = options;
    this.element = document.createElement("div");
    this.element.className = "md";
    this.#context = this.#makeContext();
    this.#parser = this.#makeParser();
    this.#view = this.#makeView();
  }

  /** UTF-16 units of the text so far. */
  get length(): number {
    return this.#length;
  }

  /** Characters that were parsed so far, for counting work. */
  get parsedChars(): number {
    return this.#context.parsedChars + this.#parser.readChars;
  }

  /** UTF-16 units that are not shown yet: text that came at once and is long. */
  get waitingChars(): number {
    return this.#waitingChars;
  }

  append(text: string): void {
    if (text === "") return;
    this.#length += text.length;
    if (this.#waitingChars === 0 && text.length <= DIRECT_CHARS_MAX) {
      this.#read(text);
      return;
    }
    this.#waiting.push(text);
    this.#waitingChars += text.length;
    if (this.#cancelIdle !== null) return;
    this.#readWaiting(DIRECT_CHARS_MAX);
    this.#schedule();
  }

  /** There will be no more text. */
  finish(): void {
    this.#isEnding = true;
    if (this.#waitingChars === 0) this.#end();
  }

  #read(text: string): void {
    this.#parser.append(text);
    this.#show();
  }

  #end(): void {
    this.#parser.finish();
    this.#show();
    for (const view of this.#late) view.settle();
    this.#late.clear();
    this.#missing.clear();
  }

  #schedule(): void {
    this.#cancelIdle = idle((mayGoOn) => {
      this.#cancelIdle = null;
      do this.#readWaiting(SLICE_CHARS);
      while (this.#waitingChars > 0 && mayGoOn());
      if (this.#waitingChars > 0) this.#schedule();
      else if (this.#isEnding) this.#end();
      this.#options.onHeightChange?.();
    });
  }

  /** Shows some of what waits. */
  #readWaiting(charsMax: number): void {
    const text = this.#waiting[0];
    if (text === undefined) return;
    let end = Math.min(this.#waitingFrom + charsMax, text.length);
    if (end < text.length && /[\ud800-\udbff]/.test(text.charAt(end - 1))) end += 1;
    this.#waitingChars -= end - this.#waitingFrom;
    this.#read(text.slice(this.#waitingFrom, end));
    this.#waitingFrom = end;
    if (end < text.length) return;
    this.#waiting.shift();
    this.#waitingFrom = 0;
  }

  #dropWaiting(): void {
    this.#cancelIdle?.();
    this.#cancelIdle = null;
    this.#waiting = [];
    this.#waitingFrom = 0;
    this.#waitingChars = 0;
    this.#isEnding = false;
  }

  /** Shows `text` instead of what was shown. */
  set(text: string, isOpen: boolean): void {
    this.#dropWaiting();
    this.#view.destroy();
    this.element.replaceChildren();
    this.#length = 0;
    this.#definitions = new Map();
    this.#missing = new Map();
    this.#defined = [];
    this.#late = new Set();
    this.#context = this.#makeContext();
    this.#parser = this.#makeParser();
    this.#view = this.#makeView();
    this.append(text);
    if (!isOpen) this.finish();
  }

  destroy(): void {
    this.#dropWaiting();
    this.#view.destroy();
  }

  #makeParser(): BlockParser {
    return new BlockParser(this.#options.maths, (label, definition) => {
      if (this.#definitions.has(label)) return;
      this.#definitions.set(label, definition);
      this.#defined.push(label);
    });
  }

  #makeView(): ContainerView {
    return new ContainerView(this.#parser.root, this.#context, this.element);
  }

  #makeContext(): ViewContext {
    const { copyCode, maths, onHeightChange } = this.#options;
    const missing = this.#missing;
    return {
      maths,
      definitions: this.#definitions,
      copyCode,
      onHeightChange: () => onHeightChange?.(),
      parsedChars: 0,
      onMissing(label, view) {
        const views = missing.get(label);
        if (views === undefined) missing.set(label, new Set([view]));
        else views.add(view);
      },
    };
  }

  #show(): void {
    this.#view.update(this.#parser.root, this.#parser.isProvisional);
    const labels = this.#defined;
    this.#defined = [];
    for (const label of labels) {
      for (const view of this.#missing.get(label) ?? []) {
        view.renew();
        this.#late.add(view);
      }
      this.#missing.delete(label);
    }
  }
}
