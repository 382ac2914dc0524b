/**
 * How high a message will be, before anybody looked: from its kinds of blocks and the length of its texts.
 *
 * It moves a scroll bar, never a reader; so it has to be cheap and not wrong by much.
 */
import type { MessageState } from "@blockwire/core";

/** Blocks of a message that are looked at; those behind them count as the average of these. */
const BLOCKS_MAX = 100;

/** Around each message, and for a block without a text of its own. Pixels. */
const MESSAGE_PX = 56;
const BLOCK_PX = 48;

/** How many measured pixels there are for one that was estimated, learned from what is shown. */
export class Estimator {
  #estimated = 0;
  #measured = 0;
  /** Characters of a line, and its height. */
  #lineUnits = 80;
  readonly #linePx = 26;

  /** The column is so wide now, in pixels. */
  setWidth(width: number): void {
    this.#lineUnits = Math.max(20, Math.floor(width / 8));
  }

  /** Learn from a row that was measured. */
  learn(message: MessageState, height: number): void {
    if (height <= 0) return;
    this.#estimated += this.#raw(message);
    this.#measured += height;
    // What was seen last counts most: half is forgotten at a time.
    if (this.#estimated > 50_000) {
      this.#estimated /= 2;
      this.#measured /= 2;
    }
  }

  /** Pixels that the row of a message will take, about. */
  height(message: MessageState): number {
    const factor = this.#estimated > 0 ? this.#measured / this.#estimated : 1;
    return Math.round(this.#raw(message) * Math.min(3, Math.max(0.3, factor)));
  }

  #raw(message: MessageState): number {
    const { blocks } = message;
    const looked = Math.min(blocks.length, BLOCKS_MAX);
    let height = 0;
    for (let at = 0; at < looked; at += 1) {
      const units = blocks[at]?.length ?? 0;
      height += units === 0 ? BLOCK_PX : Math.ceil(units / this.#lineUnits) * this.#linePx + 12;
    }
    return MESSAGE_PX + (looked === 0 ? 0 : (height * blocks.length) / looked);
  }
}
