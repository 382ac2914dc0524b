/**
 * What the page says to its reader: short messages at the edge, and words for a screen reader.
 *
 * Spec: docs/spec/page/shell.md, "Messages".
 */
import { type ReadonlySignal, signal } from "@preact/signals";

export type MessageKind = "info" | "error";

/** One message. An error stays until it is closed; something that happened goes by itself. */
export interface PageMessage {
  readonly id: number;
  readonly kind: MessageKind;
  readonly text: string;
  /** Something to do about it, as a button. */
  readonly action?: { readonly label: string; readonly run: () => void };
}

/** At most so many at once; the oldest go. */
export const MESSAGES_MAX = 3;
/** How long an information stays, milliseconds: time to read two lines twice. */
export const MESSAGE_MS = 6_000;

export class Messages {
  readonly shown: ReadonlySignal<readonly PageMessage[]>;
  /** What the live region of the shell says. */
  readonly spoken: ReadonlySignal<string>;
  readonly #shown = signal<readonly PageMessage[]>([]);
  readonly #spoken = signal("");
  readonly #later: (work: () => void, ms: number) => void;
  #last = 0;

  constructor(
    later: (work: () => void, ms: number) => void = (work, ms) => void setTimeout(work, ms),
  ) {
    this.#later = later;
    this.shown = this.#shown;
    this.spoken = this.#spoken;
  }

  /** Shows a message. The same text again replaces the one that is there. */
  add(text: string, kind: MessageKind = "info", action?: PageMessage["action"]): void {
    this.#last += 1;
    const message = { id: this.#last, kind, text, ...(action ? { action } : {}) };
    const others = this.#shown.value.filter((other) => other.text !== text);
    this.#shown.value = [...others, message].slice(-MESSAGES_MAX);
    if (kind === "info") this.#later(() => this.close(message.id), MESSAGE_MS);
  }

  close(id: number): void {
    if (!this.#shown.value.some((message) => message.id === id)) return;
    this.#shown.value = this.#shown.value.filter((message) => message.id !== id);
  }

  /** Lets a screen reader say `text`, also when it said the same before. */
  announce(text: string): void {
    this.#spoken.value = text === this.#spoken.value ? `${text}\u00a0` : text;
  }
}
