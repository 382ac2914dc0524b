/** Blocks that tell of the answer itself: errors and notices, and how to go on after them. */
import type { BlockState } from "@blockwire/core";
import { el, setData, setHidden } from "../platform/dom.ts";
import { strings } from "../strings.ts";
import { type BlockView, textMember } from "./blockview.ts";
import type { ShowContext } from "./context.ts";
import { literal, note, wordButton } from "./controls.ts";
import type { TurnFacts } from "./turnfacts.ts";

const words = strings.blocks;

/** What to do about a code, where more is to be said than the gateway's own sentence. */
export function hintOf(code: string): string {
  const hints: Readonly<Record<string, string>> = strings.errors.byCode;
  return Object.hasOwn(hints, code) ? (hints[code] ?? "") : "";
}

/** An error or a notice. */
export class NoteView implements BlockView {
  readonly element: HTMLElement;
  readonly isEmpty = false;
  readonly #id: string;
  readonly #isRetryable: boolean;
  readonly #retry: HTMLButtonElement;
  readonly #canWrite: boolean;
  #turnId = "";

  constructor(context: ShowContext, block: BlockState) {
    const isError = block.type === "error";
    const code = textMember(block, "code");
    this.#id = block.id;
    this.#canWrite = context.canWrite;
    this.#isRetryable = block.block.retryable === true || code === "turn_cancelled";
    this.#retry = wordButton(words.retry, { icon: "retry" }, () => context.retry(this.#turnId));
    setHidden(this.#retry, true);
    const hint = literal(hintOf(code), "bk-note-hint");
    setHidden(hint, hint.textContent === "");
    this.element = note(
      isError ? "error" : "notice",
      isError ? "warning" : "info",
      isError ? words.error : words.notice,
      literal(textMember(block, "message"), "bk-literal bk-note-text"),
      hint,
      isError && el("p", { class: "bk-note-facts" }, code),
      this.#retry,
    );
    setData(this.element, "code", code);
  }

  update(): void {
    // An error and a notice come whole.
  }

  /** Offers to try again where that is possible and makes sense. */
  showTurn(turn: TurnFacts): void {
    this.#turnId = turn.turnId;
    const makesSense = this.#isRetryable || turn.status === "failed";
    const isEnd = turn.endBlockId === this.#id && turn.isOver;
    setHidden(this.#retry, !(this.#canWrite && isEnd && makesSense));
  }

  destroy(): void {
    // Holds nothing beyond its element.
  }
}
