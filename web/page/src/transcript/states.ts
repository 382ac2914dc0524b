/** What stands in place of messages: still loading, empty, deleted, refused; and the notices at both ends. */
import { el } from "../platform/dom.ts";
import { strings } from "../strings.ts";
import type { TranscriptFeed, TranscriptOptions } from "./types.ts";

const words = strings.transcript;

type Shown = "nothing" | "loading" | "empty" | "deleted" | "refused";

/** A panel over the list of messages. */
export class StatePanel {
  readonly element: HTMLElement;
  readonly #options: Pick<TranscriptOptions, "onRetry" | "onLeave" | "emptyContent">;
  #shown: Shown = "nothing";

  constructor(options: Pick<TranscriptOptions, "onRetry" | "onLeave" | "emptyContent">) {
    this.#options = options;
    this.element = el("div", { class: "tr-state", attrs: { hidden: true } });
  }

  /** Show what the feed says where there is no message to show instead. */
  show(feed: TranscriptFeed, hasRows: boolean): void {
    const shown = stateOf(feed, hasRows);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.element.hidden = shown === "nothing";
    this.element.dataset.state = shown;
    this.element.replaceChildren(...this.#content(shown, feed));
  }

  #content(shown: Shown, feed: TranscriptFeed): Node[] {
    const { onLeave, onRetry, emptyContent } = this.#options;
    if (shown === "nothing") return [];
    if (shown === "loading") {
      const bars = ["question", "line", "line", "short"].map((kind) =>
        el("div", { class: "tr-bone", data: { kind }, attrs: { "aria-hidden": "true" } }),
      );
      return [el("p", { class: "tr-hidden", attrs: { role: "status" } }, words.loading), ...bars];
    }
    if (shown === "empty") {
      const text = el("p", { class: "tr-state-text" }, words.empty);
      return emptyContent === undefined ? [text] : [text, emptyContent];
    }
    const text = shown === "deleted" ? words.deleted : words.refused;
    const reason = shown === "refused" ? feed.status.error?.message : undefined;
    return [
      el("h2", { class: "tr-state-title" }, text),
      el("p", { class: "tr-state-text" }, reason ?? words.deletedWay),
      el(
        "div",
        { class: "tr-state-ways" },
        shown === "refused" && onRetry !== undefined && button(words.retry, onRetry),
        onLeave !== undefined && button(words.leave, onLeave),
      ),
    ];
  }
}

function stateOf(feed: TranscriptFeed, hasRows: boolean): Shown {
  const { kind } = feed.status;
  if (kind === "deleted") return "deleted";
  // What was read already stays to be read; the connection's own sign tells of the trouble.
  if (hasRows) return "nothing";
  if (kind === "refused") return "refused";
  return feed.isLoaded ? "empty" : "loading";
}

function button(text: string, onClick: () => void): HTMLElement {
  return el(
    "button",
    { class: "tr-button", attrs: { type: "button" }, on: { click: onClick } },
    text,
  );
}

/** What is told at an end of what is loaded. */
export type NoticeState = "none" | "idle" | "loading" | "failed";

/** The notice at one end of the list: more is there, it is being loaded, it could not be. */
export class Notice {
  readonly element: HTMLElement;
  readonly #retry: () => void;
  readonly #loading: string;
  #state: NoticeState = "none";

  constructor(loading: string, retry: () => void) {
    this.#loading = loading;
    this.#retry = retry;
    this.element = el("div", { class: "tr-notice", attrs: { hidden: true } });
  }

  get state(): NoticeState {
    return this.#state;
  }

  set(state: NoticeState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.element.hidden = state === "none";
    if (state === "failed") {
      this.element.replaceChildren(
        el("span", { attrs: { role: "status" } }, words.notLoaded),
        button(words.retry, this.#retry),
      );
    } else {
      this.element.replaceChildren(el("span", {}, this.#loading));
    }
  }
}
