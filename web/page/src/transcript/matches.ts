/** What a search found: places only, in conversation order. */
import type { MessageState } from "@blockwire/core";
import { blockText, folded, placesOf } from "./plain.ts";

/** Matches of one message. */
export interface Found {
  readonly messageId: string;
  readonly blocks: readonly { readonly blockId: string; readonly count: number }[];
  readonly count: number;
}

/** One match: the nth of its block. */
export interface Match {
  readonly found: Found;
  readonly blockId: string;
  readonly nth: number;
}

/** Which match is the current one, by ids: others come and go around it. */
export interface Current {
  readonly messageId: string;
  readonly blockId: string;
  readonly nth: number;
}

export class Matches {
  /** Of the live state, in its order. */
  live: Found[] = [];
  /** Of older pages, newest first. */
  #older: Found[] = [];
  #olderCount = 0;

  /** Matches in older pages. */
  get olderCount(): number {
    return this.#olderCount;
  }

  /** All matches. */
  get count(): number {
    return this.#olderCount + this.live.reduce((sum, { count }) => sum + count, 0);
  }

  /** What was found in a message that is older than all before. */
  addOlder(found: Found): void {
    if (found.count > 0) this.#older.push(found);
    this.#olderCount += found.count;
  }

  /** All that was found, in conversation order. */
  *all(): Iterable<Found> {
    for (let at = this.#older.length - 1; at >= 0; at -= 1) yield this.#older[at] as Found;
    yield* this.live;
  }

  /** What was found in a message. */
  find(messageId: string): Found | undefined {
    for (const found of this.all()) if (found.messageId === messageId) return found;
    return undefined;
  }

  /** Number of a match, from 1; 0 if it is gone. */
  position(current: Current | null): number {
    if (current === null) return 0;
    let passed = 0;
    for (const found of this.all()) {
      if (found.messageId === current.messageId) {
        for (const { blockId, count } of found.blocks) {
          if (blockId === current.blockId) return passed + Math.min(current.nth, count - 1) + 1;
          passed += count;
        }
        return 0;
      }
      passed += found.count;
    }
    return 0;
  }

  /** The match with a number, from 1. */
  at(position: number): Match | null {
    let left = position - 1;
    if (left < 0) return null;
    for (const found of this.all()) {
      if (left >= found.count) {
        left -= found.count;
        continue;
      }
      for (const { blockId, count } of found.blocks) {
        if (left < count) return { found, blockId, nth: left };
        left -= count;
      }
    }
    return null;
  }
}

/** Matches of a folded query in a message. */
export function search(message: MessageState, query: string): Found {
  const blocks: { blockId: string; count: number }[] = [];
  let count = 0;
  for (const block of message.blocks) {
    const found = placesOf(query, folded(blockText(block))).length;
    if (found === 0) continue;
    blocks.push({ blockId: block.id, count: found });
    count += found;
  }
  return { messageId: message.id, blocks, count };
}
