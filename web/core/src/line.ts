/** The line of turns of one conversation. Spec: docs/spec/gateway/turns.md, "The queue". */

import type { StreamEvent } from "./events.ts";
import type { QueuedTurn } from "./feed.ts";
import { type JsonObject, member } from "./values.ts";

/** Turns of which it is known why they left the line; the first of more is forgotten. */
export const LEFT_TURNS_MAX = 64;

/** Who waits, as the stream tells it. */
export class TurnLine {
  #turns: readonly QueuedTurn[] = [];
  #left: ReadonlyMap<string, string> = new Map();
  #version = 0;

  /** In order; another array after each change. */
  get turns(): readonly QueuedTurn[] {
    return this.#turns;
  }

  /**
   * Why turns left the line without a start, by turn: `cancelled`, `stopping`, or the code of what
   * refused its start. Another map after each change.
   */
  get left(): ReadonlyMap<string, string> {
    return this.#left;
  }

  /** Rises with each change that the stream tells. */
  get version(): number {
    return this.#version;
  }

  /** Takes an event, whichever it is. */
  take(event: StreamEvent): void {
    const type: string = event.type;
    const turnId = member(event as unknown as JsonObject, "turn_id");
    if (typeof turnId !== "string") return;
    if (type === "turn.queued") {
      const position = member(event as unknown as JsonObject, "position");
      if (typeof position === "number") this.#put(turnId, position);
    } else if (type === "turn.dequeued" || type === "turn.started") {
      const reason = member(event as unknown as JsonObject, "reason");
      if (type === "turn.dequeued" && typeof reason === "string") this.#tellLeft(turnId, reason);
      this.#remove(turnId);
    }
  }

  /**
   * Takes what the gateway says of the whole line.
   *
   * @param version Of this line when the gateway was asked; when it is another one by now, nothing is
   *   taken and false returned.
   */
  replace(turnIds: readonly string[], version: number): boolean {
    if (version !== this.#version) return false;
    const turns = turnIds.map((turnId, at) => ({ turnId, position: at + 1 }));
    const isSame =
      turns.length === this.#turns.length &&
      turns.every(({ turnId }, at) => turnId === this.#turns[at]?.turnId);
    if (!isSame) this.#turns = turns;
    return true;
  }

  #tellLeft(turnId: string, reason: string): void {
    this.#left = new Map([...this.#left, [turnId, reason] as const].slice(-LEFT_TURNS_MAX));
  }

  #put(turnId: string, position: number): void {
    const known = this.#turns.find((turn) => turn.turnId === turnId);
    if (known?.position === position) return;
    const others = this.#turns.filter((turn) => turn.turnId !== turnId);
    this.#turns = [...others, { turnId, position }].sort(
      (one, other) => one.position - other.position,
    );
    this.#version += 1;
  }

  #remove(turnId: string): void {
    if (!this.#turns.some((turn) => turn.turnId === turnId)) return;
    this.#turns = this.#turns
      .filter((turn) => turn.turnId !== turnId)
      .map((turn, at) => ({ ...turn, position: at + 1 }));
    this.#version += 1;
  }
}
