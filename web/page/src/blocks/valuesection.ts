import type { Json } from "@blockwire/core";
import { el, setHidden, setText } from "../platform/dom.ts";
import { strings } from "../strings.ts";
import type { ShowContext } from "./context.ts";
import { copyButton, wordButton } from "./controls.ts";
import { sizeWords } from "./moments.ts";
import { shownText } from "./shown.ts";
import { boundedLength, VALUE_CHARS_MAX, VALUE_STEP_CHARS, valueText } from "./values.ts";

const words = strings.blocks;

/** One value of a tool: a label, its beginning, and a way to all of it. */
export class ValueSection {
  readonly element: HTMLElement;
  readonly #box: HTMLElement;
  readonly #more: HTMLButtonElement;
  readonly #moreLabel: HTMLElement;
  readonly #size = el("span", { class: "bk-soft" });
  #value: Json | undefined;
  #whole = "";
  /** How much somebody asked for beyond the first bound, in UTF-16 units. */
  #asked = 0;

  constructor(context: ShowContext, label: string, tool: string) {
    const of = words.valueOf(label, tool);
    this.#box = el(
      "pre",
      // Focusable, because what scrolls must scroll by keys, too.
      { class: "bk-value", attrs: { tabindex: 0, role: "group", "aria-label": of, dir: "auto" } },
    );
    this.#more = wordButton("", {}, () => this.#showMore());
    this.#moreLabel = this.#more.firstElementChild as HTMLElement;
    this.element = el(
      "section",
      { class: "bk-value-section" },
      el(
        "div",
        { class: "bk-value-head" },
        el("span", { class: "bk-label" }, label),
        this.#size,
        copyButton(words.copyValue(of), () => context.copy(this.#whole, of)),
      ),
      this.#box,
      this.#more,
    );
  }

  /** Shows a value; nothing happens for the one that is shown. */
  show(value: Json): void {
    if (value === this.#value) return;
    this.#value = value;
    this.#whole = valueText(value);
    this.#draw();
  }

  #showMore(): void {
    this.#asked = Math.max(this.#asked, this.#shown()) + VALUE_STEP_CHARS;
    this.#draw();
  }

  #shown(): number {
    if (this.#asked === 0) return boundedLength(this.#whole);
    return boundedLength(this.#whole, this.#asked, Number.POSITIVE_INFINITY);
  }

  #draw(): void {
    const end = this.#shown();
    this.#box.replaceChildren(...pieces(shownText(this.#whole.slice(0, end))));
    const left = this.#whole.length - end;
    setHidden(this.#more, left === 0);
    setText(this.#size, this.#asked > 0 || left > 0 ? sizeWords(this.#whole.length) : "");
    const label =
      left <= VALUE_STEP_CHARS
        ? words.showAll(sizeWords(left))
        : words.showMore(sizeWords(VALUE_STEP_CHARS), sizeWords(left));
    setText(this.#moreLabel, label);
  }
}

/**
 * A text as elements of whole lines, each laid out only when it is seen. The line break between two
 * pieces is that between two blocks, so a selection copies it as well.
 */
function pieces(text: string): (HTMLElement | string)[] {
  if (text.length <= VALUE_CHARS_MAX) return [text];
  const found: HTMLElement[] = [];
  let start = 0;
  while (start <= text.length) {
    const at = text.indexOf("\n", start + VALUE_CHARS_MAX);
    const end = at < 0 ? text.length : at;
    found.push(el("span", { class: "bk-value-piece" }, text.slice(start, end)));
    start = end + 1;
  }
  return found;
}
