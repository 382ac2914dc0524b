/** The bar of the search: a field, how many there are, ways to the next one. */
import { el } from "../platform/dom.ts";
import { strings } from "../strings.ts";
import type { FindController, FindStatus } from "./find.ts";

/** Milliseconds after the last key after which the search begins. */
const TYPED_MS = 120;

const words = strings.transcript;

export class FindBar {
  readonly element: HTMLElement;
  readonly #find: FindController;
  readonly #input: HTMLInputElement;
  readonly #count: HTMLElement;
  readonly #close: () => void;
  readonly #stop: () => void;
  #timer = 0;

  constructor(find: FindController, onClose: () => void) {
    this.#find = find;
    this.#close = onClose;
    this.#input = el("input", {
      class: "tr-find-input",
      data: { testid: "find-input" },
      attrs: {
        type: "search",
        "aria-label": words.find,
        placeholder: words.findPlaceholder,
        autocomplete: "off",
        spellcheck: "false",
        enterkeyhint: "search",
        dir: "auto",
      },
      on: { input: () => this.#typed() },
    });
    this.#count = el("output", {
      class: "tr-find-count",
      data: { testid: "find-count" },
      attrs: { "aria-live": "polite" },
    });
    this.element = el(
      "div",
      {
        class: "tr-find",
        attrs: { role: "search", "aria-label": words.find, hidden: true },
        on: { keydown: (event) => this.#key(event) },
      },
      this.#input,
      this.#count,
      button("↑", words.findPrevious, () => void find.previous()),
      button("↓", words.findNext, () => void find.next()),
      button("×", words.findClose, () => this.close()),
    );
    this.#stop = find.subscribe(() => this.#show(find.status));
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  open(): void {
    this.element.hidden = false;
    const selected = document.getSelection()?.toString().trim() ?? "";
    if (selected !== "" && selected.length <= 80 && !selected.includes("\n")) {
      this.#input.value = selected;
    }
    this.#input.focus();
    this.#input.select();
    this.#search();
  }

  close(): void {
    if (!this.isOpen) return;
    clearTimeout(this.#timer);
    this.element.hidden = true;
    this.#find.close();
    this.#close();
  }

  destroy(): void {
    clearTimeout(this.#timer);
    this.#stop();
  }

  #typed(): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#search(), TYPED_MS);
  }

  #search(): void {
    clearTimeout(this.#timer);
    void this.#find.search(this.#input.value);
  }

  #key(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.close();
    } else if (event.key === "Enter" && event.target === this.#input) {
      event.preventDefault();
      const { query, isFailed, isSearching } = this.#find.status;
      // What could not be searched is tried again.
      if (this.#input.value !== query || (isFailed && !isSearching)) this.#search();
      else void (event.shiftKey ? this.#find.previous() : this.#find.next());
    }
  }

  #show(status: FindStatus): void {
    const text = countText(status);
    if (this.#count.textContent !== text) this.#count.textContent = text;
    this.element.toggleAttribute("data-searching", status.isSearching);
  }
}

/** What the bar says of a search. */
export function countText(status: FindStatus): string {
  const { query, at, count, isSearching, searched, isFailed, isFull } = status;
  if (query.trim() === "") return "";
  const isOpen = isSearching || isFull;
  const counted = isOpen ? words.findCountMore(at, count) : words.findCount(at, count);
  if (count === 0) {
    if (isSearching) return words.findSearching(searched);
    return isFailed ? words.findFailed : words.findNone;
  }
  if (isFailed) return `${counted}. ${words.findFailed}`;
  return isFull ? `${counted}. ${words.findFull}` : counted;
}

function button(sign: string, name: string, onClick: () => void): HTMLElement {
  return el(
    "button",
    {
      class: "tr-find-button",
      attrs: { type: "button", "aria-label": name, title: name },
      on: { click: onClick },
    },
    sign,
  );
}
