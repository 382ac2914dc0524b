/** One message of a conversation, kept up to date in place. */
import { type MessageState, plainText } from "@blockwire/core";
import { append, el, setData, setHidden, setText } from "../platform/dom.ts";
import { strings } from "../strings.ts";
import { BlockFrame } from "./blockframe.ts";
import { textMember } from "./blockview.ts";
import type { ShowContext } from "./context.ts";
import { copyButton, iconButton, markedCopyButton, wordButton } from "./controls.ts";
import { messageMarkdown } from "./copytext.ts";
import { articleName, Head } from "./head.ts";
import { icon } from "./icons.ts";
import { RequestPanel } from "./requestpanel.ts";
import { shownLine } from "./shown.ts";
import { chevron } from "./textviews.ts";
import { sameFacts, type TurnFacts, turnFacts } from "./turnfacts.ts";

const words = strings.blocks;

/** So long after a retry or a fork another press of the same message does nothing. */
const AGAIN_MS = 1_000;

/** Messages of these roles are not what a reader came for: they are folded to one line. */
const FOLDED_ROLES: ReadonlySet<string> = new Set(["system", "developer"]);

/**
 * The view of one message. What was drawn of a block stays the same element until `destroy`.
 *
 * `update` compares states by reference and touches only what differs, so that the cost of a token
 * is that of the block it belongs to.
 */
export class MessageView {
  readonly element: HTMLElement;
  readonly id: string;
  readonly #context: ShowContext;
  readonly #head: Head;
  readonly #body = el("div", { class: "bk-body" });
  readonly #fold: HTMLDetailsElement | null;
  readonly #thinking: HTMLElement;
  readonly #end: HTMLElement;
  readonly #endText = el("span");
  readonly #endRetry: HTMLButtonElement;
  readonly #fork: HTMLButtonElement;
  readonly #retry: HTMLButtonElement;
  #frames: BlockFrame[] = [];
  #panel: RequestPanel | null = null;
  #message: MessageState;
  #facts: TurnFacts;

  constructor(context: ShowContext, message: MessageState) {
    const nowMs = Date.now();
    this.id = message.id;
    this.#context = onceAtATime(context);
    this.#message = message;
    this.#facts = turnFacts(message);
    this.#head = new Head(context, message, nowMs);
    this.#thinking = el(
      "div",
      { class: "bk-thinking" },
      el("span", { class: "bk-thinking-word" }, words.thinking),
    );
    const retry = (): void => this.#context.retry(this.#facts.turnId);
    this.#endRetry = wordButton(words.retry, { icon: "retry" }, retry);
    this.#end = el("div", { class: "bk-end" }, icon("info"), this.#endText, this.#endRetry);
    this.#fork = iconButton("fork", words.fork, () => this.#context.fork(this.#facts.turnId));
    this.#retry = iconButton("retry", words.retryAnswer, retry);

    const name = articleName(message, context.isOwner, nowMs);
    const toolbar = this.#toolbar(name);
    this.element = el("article", {
      class: "bk-message",
      data: { messageId: message.id, role: message.role },
      // Takes the focus when what had it is gone.
      attrs: { "aria-label": name, tabindex: -1 },
    });
    append(this.#body, this.#thinking);
    if (FOLDED_ROLES.has(message.role)) {
      const summary = el("summary", { class: "bk-summary" }, chevron(), this.#head.element);
      this.#fold = el("details", { class: "bk-fold" }, summary, this.#body);
      append(this.element, this.#fold);
    } else {
      this.#fold = null;
      append(this.element, this.#head.element, this.#body);
    }
    append(this.element, this.#end, toolbar);
    this.#show(message);
    this.#showFacts();
  }

  /** Shows a newer state of the same message; costs nothing for the one that is shown. */
  update(message: MessageState): void {
    if (message === this.#message) return;
    this.#message = message;
    const facts = turnFacts(message);
    const isChanged = !sameFacts(facts, this.#facts);
    const before = this.#frames.length;
    this.#facts = facts;
    this.#show(message);
    if (isChanged || this.#frames.length !== before) this.#showFacts();
  }

  /**
   * The element of a block, for going there. A message that is folded opens for it.
   *
   * @returns null where the message has no such block
   */
  blockElement(blockId: string): HTMLElement | null {
    const frame = this.#frames.find((one) => one.id === blockId);
    if (frame === undefined) return null;
    if (this.#fold !== null) this.#fold.open = true;
    frame.complete();
    return frame.element;
  }

  /** Draws now what is drawn in idle moments otherwise: somebody looks for a place in it. */
  complete(): void {
    for (const frame of this.#frames) frame.complete();
  }

  /** Lets go of everything that outlives elements. The view is not used afterwards. */
  destroy(): void {
    for (const frame of this.#frames) frame.destroy();
    this.#frames = [];
    this.#panel?.destroy();
    this.element.remove();
  }

  #toolbar(name: string): HTMLElement {
    const { copy } = this.#context;
    return el(
      "div",
      { class: "bk-toolbar", attrs: { role: "group", "aria-label": words.actions(name) } },
      copyButton(words.copyText, () => copy(plainText(this.#message), words.whatText)),
      markedCopyButton("markdown", words.copyMarkdown, () =>
        copy(messageMarkdown(this.#message), words.whatMarkdown),
      ),
      this.#retry,
      this.#fork,
    );
  }

  #show(message: MessageState): void {
    setData(this.element, "status", message.status);
    this.#head.update(message, this.#facts);
    this.#showBlocks(message);
    this.#showRequest(message);
    this.#showThinking(message);
  }

  #showBlocks(message: MessageState): void {
    const { blocks } = message;
    const frames = this.#frames;
    for (const [index, block] of blocks.entries()) {
      const frame = frames[index];
      if (frame?.id === block.id && frame.type === block.type) frame.update(block);
      else if (frame === undefined) {
        const made = new BlockFrame(this.#context, block);
        frames.push(made);
        this.#thinking.before(made.element);
      } else {
        this.#replaceBlocks(message);
        return;
      }
    }
    if (frames.length > blocks.length) this.#replaceBlocks(message);
  }

  /** Blocks are only ever added, but a snapshot may tell another story: what is the same stays. */
  #replaceBlocks(message: MessageState): void {
    const old = new Map(this.#frames.map((frame) => [frame.id, frame]));
    let before: Element | null = null;
    this.#frames = message.blocks.map((block) => {
      let frame = old.get(block.id);
      if (frame !== undefined && frame.type === block.type) {
        old.delete(block.id);
        frame.update(block);
      } else frame = new BlockFrame(this.#context, block);
      const next: Element | null =
        before === null ? this.#body.firstElementChild : before.nextElementSibling;
      // Moving an element that stands right already would cost its focus.
      if (next !== frame.element) this.#body.insertBefore(frame.element, next);
      before = frame.element;
      return frame;
    });
    for (const frame of old.values()) frame.destroy();
    this.#showFacts();
  }

  #showRequest(message: MessageState): void {
    const request = message.status === "suspended" ? message.turn?.request : undefined;
    if (request === this.#panel?.request) return;
    if (this.#panel !== null) {
      const hadFocus = this.#panel.element.contains(document.activeElement);
      this.#panel.destroy();
      this.#panel = null;
      if (hadFocus) this.element.focus({ preventScroll: true });
    }
    if (request === undefined) return;
    const about = message.blocks.find((block) => block.id === request.block_id);
    const place = {
      turnId: this.#facts.turnId,
      about: about === undefined ? "" : shownLine(textMember(about, "tool")),
    };
    this.#panel = new RequestPanel(this.#context, place, request);
    this.#end.before(this.#panel.element);
  }

  /** One line, as high as the first line of an answer, while nothing else tells that there is more to come. */
  #showThinking(message: MessageState): void {
    const isSeen = this.#frames.some((frame) => frame.isOpen && !frame.isEmpty);
    setHidden(this.#thinking, message.status !== "streaming" || isSeen);
  }

  #showFacts(): void {
    const facts = this.#facts;
    const mayChange = this.#context.canWrite && facts.isOver;
    setHidden(this.#retry, !mayChange);
    setHidden(this.#fork, !mayChange);
    for (const frame of this.#frames) frame.showTurn(facts);
    const text = facts.endBlockId === "" ? endText(facts) : "";
    setText(this.#endText, text);
    setHidden(this.#end, text === "");
    setHidden(this.#endRetry, !mayChange);
    setData(this.element, "interrupted", String(facts.isInterrupted));
  }
}

/**
 * The context, whose `retry` and `fork` do nothing for a while after they did something: each makes
 * something new, and people press twice.
 */
function onceAtATime(context: ShowContext): ShowContext {
  const guarded = (act: (turnId: string) => void): ((turnId: string) => void) => {
    let lastMs = Number.NEGATIVE_INFINITY;
    return (turnId) => {
      const nowMs = performance.now();
      if (nowMs - lastMs < AGAIN_MS) return;
      lastMs = nowMs;
      act(turnId);
    };
  };
  return Object.assign(Object.create(context), {
    retry: guarded((turnId) => context.retry(turnId)),
    fork: guarded((turnId) => context.fork(turnId)),
  });
}

function endText(facts: TurnFacts): string {
  if (facts.isInterrupted) return words.endInterrupted;
  if (facts.status === "failed") return words.endFailed;
  return facts.status === "cancelled" ? words.endCancelled : "";
}
