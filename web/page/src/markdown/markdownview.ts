/**
 * Markdown in the document, as it arrives or as a whole.
 *
 * What it ends as depends on the text alone, not on how it was cut.
 */

import { BlockParser } from "./blockparser.ts";
import { ContainerView, type ViewContext } from "./blockviews.ts";
import type { Definition } from "./definitions.ts";
import { budget, idle } from "./idle.ts";
import { SLICE_CHARS, WaitingText } from "./waiting.ts";
import type { WordsView } from "./wordsview.ts";

/**
 * A text of which more than this is left when the time of its first slice is over is seen when all of it is there: who
 * stands at its end would see it rush by.
 */
export const UNSEEN_CHARS_MIN = 131_072;
/** A slice comes after so many milliseconds, however busy the page is. */
const SLICE_WAIT_MS = 50;

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
  #definitions = new Map<string, Definition>();
  #missing = new Map<string, Set<WordsView>>();
  #defined: string[] = [];
  #late = new Set<WordsView>();
  #parser: BlockParser;
  #view: ContainerView;
  #context: ViewContext;
  /** Text that is not drawn yet. */
  readonly #waiting = new WaitingText();
  /** `finish` was called while text waited. */
  #isLast = false;
  #unwait: () => void = () => undefined;

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

  append(text: string): void {
    if (text === "") return;
    const isFirst = this.#length === 0;
    this.#length += text.length;
    if (this.#waiting.length > 0) {
      this.#waiting.add(text);
      return;
    }
    if (text.length <= SLICE_CHARS) {
      this.#draw(text);
      return;
    }
    this.#waiting.add(text);
    this.#drawWaiting(budget());
    const { length } = this.#waiting;
    if (length === 0) return;
    this.element.dataset.waiting = isFirst && length > UNSEEN_CHARS_MIN ? "unseen" : "seen";
    this.#wait();
  }

  /** There will be no more text. */
  finish(): void {
    if (this.#waiting.length > 0) {
      this.#isLast = true;
      return;
    }
    this.#parser.finish();
    this.#show();
    for (const view of this.#late) view.settle();
    this.#late.clear();
    this.#missing.clear();
  }

  /** Shows `text` instead of what was shown. */
  set(text: string, isOpen: boolean): void {
    this.#unwait();
    this.#waiting.clear();
    this.#isLast = false;
    delete this.element.dataset.waiting;
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

  /** Draws now what waits for idle moments: somebody looks for a place in it. */
  complete(): void {
    if (this.#waiting.length === 0) return;
    this.#unwait();
    this.#drawWaiting(() => true);
  }

  destroy(): void {
    this.#unwait();
    this.#waiting.clear();
    this.#view.destroy();
  }

  #wait(): void {
    this.#unwait = idle((mayGoOn) => {
      this.#drawWaiting(mayGoOn);
      if (this.#waiting.length > 0) this.#wait();
      this.#options.onHeightChange?.();
    }, SLICE_WAIT_MS);
  }

  #drawWaiting(mayGoOn: () => boolean): void {
    do this.#draw(this.#waiting.take());
    while (this.#waiting.length > 0 && mayGoOn());
    if (this.#waiting.length > 0) return;
    delete this.element.dataset.waiting;
    if (this.#isLast) this.finish();
  }

  #draw(text: string): void {
    this.#parser.append(text);
    this.#show();
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
