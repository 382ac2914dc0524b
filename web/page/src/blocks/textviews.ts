/** Blocks that are text: prose, code, reasoning, spoken words, and types that nobody here knows. */
import type { BlockState } from "@blockwire/core";
import { CodeView } from "../markdown/codeview.ts";
import { MarkdownView } from "../markdown/markdownview.ts";
import { labelMore } from "../markdown/text.ts";
import { append, el, setData, setHidden, setText } from "../platform/dom.ts";
import { strings } from "../strings.ts";
import { type BlockView, textMember } from "./blockview.ts";
import type { ShowContext } from "./context.ts";
import { literal, note } from "./controls.ts";
import { icon } from "./icons.ts";
import { shownLine, shownText } from "./shown.ts";

const words = strings.blocks;

/** Longest text node of a growing text: adding to a longer one would copy all of it each time. */
export const TEXT_NODE_CHARS_MAX = 4096;

/**
 * What `block` has at its end beyond `shown`; null where it is another text.
 *
 * A growing text costs its new piece. A block that came anew (a snapshot) is compared once: what is
 * the same stays on the screen untouched.
 */
export function addedText(shown: BlockState, block: BlockState): string | null {
  if (block.continues(shown))
    return block.length > shown.length ? block.textSince(shown.length) : "";
  if (block.length < shown.length) return null;
  const text = block.textSince(0);
  return text.startsWith(shown.textSince(0)) ? text.slice(shown.length) : null;
}

/** Markdown that grows at its end. */
export class ProseView implements BlockView {
  readonly element: HTMLElement;
  readonly #view: MarkdownView;
  #block: BlockState;

  constructor(context: ShowContext, block: BlockState) {
    this.#block = block;
    this.#view = new MarkdownView({
      loadImage: "click",
      maths: context.maths(),
      copyCode: (text) => context.copy(text, words.code),
    });
    this.#view.set(block.textSince(0), block.isOpen);
    this.element = this.#view.element;
  }

  get isEmpty(): boolean {
    return this.#block.length === 0;
  }

  update(block: BlockState): void {
    const added = addedText(this.#block, block);
    if (added === null || (!this.#block.isOpen && (block.isOpen || added !== ""))) {
      this.#view.set(block.textSince(0), block.isOpen);
    } else {
      if (added !== "") this.#view.append(added);
      if (!block.isOpen && this.#block.isOpen) this.#view.finish();
    }
    this.#block = block;
  }

  complete(): void {
    this.#view.complete();
  }

  destroy(): void {
    this.#view.destroy();
  }
}

/** Code, which comes whole. */
export class CodeBlockView implements BlockView {
  readonly element: HTMLElement;
  readonly isEmpty: boolean;
  readonly #view: CodeView;

  constructor(context: ShowContext, block: BlockState) {
    const language = textMember(block, "language");
    const text = textMember(block, "text");
    this.#view = new CodeView({
      ...(language === "" ? {} : { language }),
      copyCode: (code) => context.copy(code, words.code),
    });
    this.#view.append(text);
    this.#view.finish();
    this.element = this.#view.element;
    this.isEmpty = text === "" && language === "";
  }

  update(): void {
    // Nothing of a code block changes after its start.
  }

  destroy(): void {
    this.#view.destroy();
  }
}

/** Text that is shown as it is and grows at its end; the cost of a piece is that of the piece. */
export class GrowingText {
  readonly element: HTMLElement;
  #shown: BlockState | null = null;
  #tail: Text | null = null;

  constructor(className: string) {
    this.element = el("div", { class: className, attrs: { dir: "auto" } });
  }

  /** Shows the text of `block` by what is new in it. */
  update(block: BlockState): void {
    let text = this.#shown === null ? block.textSince(0) : addedText(this.#shown, block);
    this.#shown = block;
    if (text === null) {
      this.element.textContent = "";
      this.#tail = null;
      text = block.textSince(0);
    }
    if (text === "") return;
    const shown = labelMore(this.#tail?.data ?? "", text);
    if (this.#tail !== null && this.#tail.length + shown.length <= TEXT_NODE_CHARS_MAX) {
      this.#tail.appendData(shown);
    } else {
      this.#tail = document.createTextNode(shown);
      this.element.append(this.#tail);
    }
  }
}

/** What a model thought, closed until somebody opens it. */
export class ReasoningView implements BlockView {
  readonly element: HTMLDetailsElement;
  readonly #title = el("span", { class: "bk-reasoning-title" });
  readonly #text = new GrowingText("bk-literal bk-reasoning-text");
  #hasText = false;

  constructor(_context: ShowContext, block: BlockState) {
    const isPrivate = block.block.visibility !== "visible";
    this.element = el(
      "details",
      { class: "bk-reasoning" },
      el(
        "summary",
        { class: "bk-summary" },
        chevron(),
        this.#title,
        isPrivate &&
          el("span", { class: "bk-tag", attrs: { title: words.privateHint } }, words.private),
      ),
      this.#text.element,
    );
    this.update(block);
  }

  get isEmpty(): boolean {
    return !this.#hasText;
  }

  update(block: BlockState): void {
    this.#text.update(block);
    this.#hasText ||= /\S/.test(block.textSince(0));
    setText(this.#title, block.isOpen ? words.reasoningOpen : words.reasoning);
    setData(this.element, "busy", String(block.isOpen));
  }

  destroy(): void {
    // Holds nothing beyond its element.
  }
}

/** The mark of something that opens. */
export function chevron(): SVGSVGElement {
  const mark = icon("chevron");
  mark.classList.add("bk-chevron");
  return mark;
}

/** A note that never changes: words to be spoken. */
export class SpeechView implements BlockView {
  readonly element: HTMLElement;
  readonly isEmpty = false;

  constructor(_context: ShowContext, block: BlockState) {
    this.element = note(
      "speech",
      "speech",
      words.spoken,
      el("div", { class: "bk-label" }, words.spoken),
      literal(textMember(block, "text")),
    );
  }

  update(): void {
    // Comes whole.
  }

  destroy(): void {
    // Holds nothing beyond its element.
  }
}

/** A type that is not known here: its name and the text that it brings for such a case. */
export class UnknownView implements BlockView {
  readonly element: HTMLElement;
  readonly isEmpty = false;
  readonly #text = literal("");

  constructor(_context: ShowContext, block: BlockState) {
    const type = el("div", { class: "bk-label bk-label-mono" });
    append(type, "[", el("bdi", {}, shownLine(block.type)), "]");
    this.element = note("unknown", "unknown", words.unknown, type, this.#text);
    this.update(block);
  }

  update(block: BlockState): void {
    const text = textMember(block, "fallback_text");
    setText(this.#text, shownText(text));
    setHidden(this.#text, text === "");
  }

  destroy(): void {
    // Holds nothing beyond its element.
  }
}
