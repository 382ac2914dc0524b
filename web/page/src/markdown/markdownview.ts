/**
 * Markdown in the document, as it arrives or as a whole.
 *
 * What it ends as depends on the text alone, not on how it was cut.
 */

import { BlockParser } from "./blockparser.ts";
import { ContainerView, type ViewContext } from "./blockviews.ts";
import type { Definition } from "./definitions.ts";
import type { WordsView } from "./wordsview.ts";

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
    this.#length += text.length;
    this.#parser.append(text);
    this.#show();
  }

  /** There will be no more text. */
  finish(): void {
    this.#parser.finish();
    this.#show();
    for (const view of this.#late) view.settle();
    this.#late.clear();
    this.#missing.clear();
  }

  /** Shows `text` instead of what was shown. */
  set(text: string, isOpen: boolean): void {
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
    return new ContainerView(this.#parser.root, this.#context, 0, this.element);
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
