import type { Timing } from "../src/timing.ts";
import type { Dice } from "./dice.ts";

interface Timer {
  readonly atMs: number;
  readonly order: number;
  readonly call: () => void;
}

/** Time that goes on when a test says so, and dice that are seeded. */
export class FakeTime implements Timing {
  readonly random: () => number;
  #nowMs = 1_700_000_000_000;
  #order = 0;
  #timers = new Set<Timer>();

  constructor(dice: Dice) {
    this.random = dice.next;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.size;
  }

  schedule(delayMs: number, call: () => void): () => void {
    this.#order += 1;
    const timer = { atMs: this.#nowMs + Math.max(delayMs, 0), order: this.#order, call };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Lets time go on; what becomes due is called in order, and what follows of it is waited for. */
  async advance(durationMs: number): Promise<void> {
    const endMs = this.#nowMs + durationMs;
    await settle();
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.atMs <= endMs);
      const next = due.sort((a, b) => a.atMs - b.atMs || a.order - b.order)[0];
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.call();
      await settle();
    }
    this.#nowMs = endMs;
  }
}

/** Lets promises that can go on do so. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await Promise.resolve();
  await new Promise<void>((resolve) => setImmediate(resolve));
}
