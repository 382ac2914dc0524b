/**
 * What a screen reader is told of an answer: that it began, that it is over and how it begins, what failed, what
 * waits for a person. Never the text as it grows.
 */
import type { BlockState, ConversationState, MessageState, TurnState } from "@blockwire/core";
import { strings } from "../strings.ts";
import { blockText } from "./plain.ts";

/** Characters of an answer that are read out when it is over. */
const SAID_MAX = 200;

/** Last blocks of a running turn that are looked at for failed tools; more never change at once. */
const LOOKED_MAX = 8;

const words = strings.transcript;

/** What to say after a state took the place of another; costs only what is running. */
export function announcements(old: ConversationState, next: ConversationState): string[] {
  if (old === next || old.count === 0) return [];
  const said: string[] = [];
  for (const [id, turn] of next.running) {
    const before = old.running.get(id);
    if (before === turn) continue;
    if (before === undefined) said.push(words.announceStarted);
    else {
      said.push(...failedTools(before, turn));
      if (turn.status === "suspended" && before.status !== "suspended") {
        said.push(words.announceSuspended);
      }
    }
  }
  for (const [id, before] of old.running) {
    if (next.running.has(id)) continue;
    const message = next.message(id);
    if (message === undefined) continue;
    if (message.turn !== undefined) said.push(...failedTools(before, message.turn));
    said.push(ending(message));
  }
  return said;
}

function ending(message: MessageState): string {
  if (message.status === "failed") return words.announceFailed;
  if (message.status === "cancelled") return words.announceCancelled;
  const prose = message.blocks.find(({ type }) => type === "prose");
  if (prose === undefined) return words.announceFinished("");
  const text = blockText(prose).replace(/\s+/g, " ").trim();
  const short = text.length > SAID_MAX ? `${text.slice(0, SAID_MAX)}…` : text;
  return words.announceFinished(short);
}

function failedTools(before: TurnState, turn: TurnState): string[] {
  const said: string[] = [];
  const { blocks } = turn;
  for (let at = Math.max(0, blocks.length - LOOKED_MAX); at < blocks.length; at += 1) {
    const block = blocks[at];
    if (block === undefined || block === before.blocks[at] || block.type !== "tool") continue;
    if (isFailed(block) && !isFailed(before.blocks[at])) {
      const name = block.block.tool;
      said.push(words.announceTool(typeof name === "string" ? name : ""));
    }
  }
  return said;
}

function isFailed(block: BlockState | undefined): boolean {
  return block !== undefined && block.type === "tool" && block.block.status === "failed";
}

/** A region that is read out and not seen. What comes in one go is said as one. */
export class LiveRegion {
  readonly element: HTMLElement;
  #waiting: string[] = [];
  #timer = 0;

  constructor() {
    this.element = document.createElement("div");
    this.element.className = "tr-hidden";
    this.element.setAttribute("role", "log");
    this.element.setAttribute("aria-live", "polite");
    this.element.dataset.testid = "live";
  }

  say(text: string): void {
    this.#waiting.push(text);
    if (this.#timer !== 0) return;
    this.#timer = window.setTimeout(() => {
      this.#timer = 0;
      const line = document.createElement("p");
      line.textContent = this.#waiting.join(". ");
      this.#waiting = [];
      // The line before stays until the next one: some readers drop what goes at once.
      while (this.element.childElementCount > 1) this.element.firstElementChild?.remove();
      this.element.append(line);
    }, 100);
  }

  destroy(): void {
    clearTimeout(this.#timer);
  }
}
