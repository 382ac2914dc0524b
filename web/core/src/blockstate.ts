/** One block of a message, as it stands. Spec: docs/spec/content/reducer.md. */

import { AppendLog } from "./appendlog.ts";
import type { Block } from "./events.ts";
import { DELTA_FIELDS } from "./fields.ts";
import { type JsonObject, withMembers } from "./values.ts";

/**
 * One block. Immutable; an event that does not touch it leaves the same object.
 *
 * The text that grows by deltas is kept in the pieces that came, which successive states share, so
 * one more delta costs the same at any length. `block` joins them, once per state; who shows a
 * growing text reads `textSince`.
 */
export class BlockState {
  /** Unique in its message. */
  readonly id: string;
  /** Open vocabulary. */
  readonly type: string;
  /** Whether events may still change it. */
  readonly isOpen: boolean;
  /** The member that grows by deltas, where the type has one. */
  readonly field: "markdown" | "text" | undefined;
  /** UTF-16 units of the growing text; 0 where the type has none. */
  readonly length: number;
  #block: Block;
  // While the block is open: the pieces of its text, the one of its start being the first.
  readonly #pieces: AppendLog<string> | undefined;
  // The same object in all states of one growing text, and in no other.
  readonly #lineage: object;
  #isSpelled: boolean;

  private constructor(
    block: Block,
    isOpen: boolean,
    pieces: AppendLog<string> | undefined,
    length: number,
    lineage: object,
  ) {
    this.id = block.id;
    this.type = block.type;
    this.field = DELTA_FIELDS.get(block.type);
    this.isOpen = isOpen;
    this.length = length;
    this.#block = block;
    this.#pieces = pieces;
    this.#lineage = lineage;
    this.#isSpelled = pieces === undefined || pieces.length === 1;
  }

  /** The state of `block`, which was checked. */
  static of(block: Block, isOpen: boolean): BlockState {
    const field = DELTA_FIELDS.get(block.type);
    if (field === undefined) return new BlockState(block, isOpen, undefined, 0, {});
    const text = block[field] as string;
    const pieces = isOpen ? AppendLog.of(text) : undefined;
    return new BlockState(block, isOpen, pieces, text.length, {});
  }

  /** The block as JSON; treat it as frozen. Costs its text once per state. */
  get block(): Block {
    if (!this.#isSpelled) {
      this.#block = withMembers(this.#block, {
        [this.field as string]: this.textSince(0),
      }) as Block;
      this.#isSpelled = true;
    }
    return this.#block;
  }

  /** What the growing text holds from `offset` (UTF-16 units) on; costs only that part. */
  textSince(offset: number): string {
    if (this.field === undefined) return "";
    const pieces = this.#pieces;
    if (pieces === undefined) return (this.#block[this.field] as string).slice(Math.max(offset, 0));
    let missing = this.length - Math.max(offset, 0);
    const parts: string[] = [];
    for (let index = pieces.length - 1; index >= 0 && missing > 0; index -= 1) {
      const piece = pieces.at(index) as string;
      parts.push(missing < piece.length ? piece.slice(piece.length - missing) : piece);
      missing -= piece.length;
    }
    return parts.reverse().join("");
  }

  /**
   * Whether this is `older` with perhaps more text at its end, so that `textSince(older.length)` is
   * all that a view lacks of the text. O(1). False for types without a growing text, and for a block
   * that came anew (a snapshot): then a view compares for itself.
   */
  continues(older: BlockState): boolean {
    return (
      this.field !== undefined && this.#lineage === older.#lineage && this.length >= older.length
    );
  }

  /** The block with `text` at the end of its growing text. */
  withText(text: string): BlockState {
    const before = this.#pieces ?? AppendLog.of(this.textSince(0));
    const pieces = before.append(text);
    const lineage = pieces.continues(before) ? this.#lineage : {};
    return new BlockState(this.#block, true, pieces, this.length + text.length, lineage);
  }

  /** The block with whole members replaced; for types without a growing text. */
  withMembers(changes: JsonObject): BlockState {
    return BlockState.of(withMembers(this.block, changes) as Block, true);
  }

  /** The block as it stays; `final` replaces it where its end carried one. */
  completed(final: Block = this.block): BlockState {
    return new BlockState(final, false, undefined, this.length, this.#lineage);
  }
}
