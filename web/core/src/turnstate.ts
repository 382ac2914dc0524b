/** One turn and its message, as it stands. Spec: docs/spec/content/reducer.md. */

import type { BlockState } from "./blockstate.ts";
import type { Message, MessageStatus, Request, Role } from "./events.ts";
import { TERMINAL_STATUSES } from "./fields.ts";
import { MessageState } from "./messagestate.ts";
import { type JsonObject, withMembers } from "./values.ts";

/** What a turn consists of, as the reducer changes it. */
export interface TurnParts {
  readonly id: string;
  /** `role`, `created_at` and what else the message says about itself. */
  readonly envelope: Readonly<JsonObject>;
  readonly status: MessageStatus;
  readonly blocks: readonly BlockState[];
  readonly request: Request | undefined;
  /** Members of the terminal event that the message does not hold. */
  readonly ended: Readonly<JsonObject>;
}

const NOTHING: Readonly<JsonObject> = Object.freeze(withMembers());

/** One turn. Immutable. */
export class TurnState {
  /** Also the id of its message. */
  readonly id: string;
  readonly envelope: Readonly<JsonObject>;
  /** The status of its message. */
  readonly status: MessageStatus;
  /** In message order. */
  readonly blocks: readonly BlockState[];
  /** What a suspended turn waits for. */
  readonly request: Request | undefined;
  readonly ended: Readonly<JsonObject>;
  // Shared by successive states: an entry counts only below blocks.length.
  readonly #index: Map<string, number>;
  #message: Message | undefined;
  #messageState: MessageState | undefined;

  private constructor(parts: TurnParts, index: Map<string, number>) {
    this.id = parts.id;
    this.envelope = parts.envelope;
    this.status = parts.status;
    this.blocks = parts.blocks;
    this.request = parts.request;
    this.ended = parts.ended;
    this.#index = index;
  }

  /** A turn of these parts. */
  static of(parts: TurnParts): TurnState {
    return new TurnState(parts, indexOf(parts.blocks));
  }

  /** A turn that begins: no block, `streaming`. */
  static started(id: string, envelope: Readonly<JsonObject>): TurnState {
    return TurnState.of({
      id,
      envelope,
      status: "streaming",
      blocks: [],
      request: undefined,
      ended: NOTHING,
    });
  }

  #with(changes: Partial<TurnParts>, index = this.#index): TurnState {
    const { id, envelope, status, blocks, request, ended } = this;
    return new TurnState({ id, envelope, status, blocks, request, ended, ...changes }, index);
  }

  /** Where the block stands in the message, or undefined. */
  position(blockId: string): number | undefined {
    const position = this.#index.get(blockId);
    // A branch of an older state may have put another block there.
    if (position === undefined || this.blocks[position]?.id !== blockId) return undefined;
    return position;
  }

  /** The block with this id. */
  block(blockId: string): BlockState | undefined {
    const position = this.position(blockId);
    return position === undefined ? undefined : this.blocks[position];
  }

  /** The turn with `block` at the end of its message. */
  withNewBlock(block: BlockState): TurnState {
    const blocks = [...this.blocks, block];
    const known = this.#index.get(block.id);
    if (known === undefined) this.#index.set(block.id, this.blocks.length);
    const isShared = known === undefined || known === this.blocks.length;
    return this.#with({ blocks }, isShared ? this.#index : indexOf(blocks));
  }

  /** The turn with the block at `position` replaced by its next state. */
  withBlock(position: number, block: BlockState): TurnState {
    const blocks = this.blocks.slice();
    blocks[position] = block;
    return this.#with({ blocks });
  }

  /** The turn in another status, with nothing kept of what the one before asked for. */
  withStatus(
    status: MessageStatus,
    changes: Partial<Pick<TurnParts, "request" | "ended" | "envelope">> = {},
  ): TurnState {
    return this.#with({ status, request: undefined, ended: NOTHING, ...changes });
  }

  /** Whether nothing can change it any more. */
  get isTerminal(): boolean {
    return TERMINAL_STATUSES.has(this.status);
  }

  /** The ids of the blocks that events may still change, in message order. */
  get openBlockIds(): string[] {
    return this.blocks.filter((block) => block.isOpen).map((block) => block.id);
  }

  /** Why the model stopped. */
  get finishReason(): string | undefined {
    return this.ended.finish_reason as string | undefined;
  }

  /** Why the turn did not complete. */
  get reason(): string | undefined {
    return this.ended.reason as string | undefined;
  }

  /** The code of the error block with which it failed. */
  get errorCode(): string | undefined {
    return this.ended.error_code as string | undefined;
  }

  /** The status of the turn, which tells more than that of its message: also `interrupted`. */
  get turnStatus(): string {
    if (this.status === "streaming") return "running";
    return this.status === "failed" && this.reason === "interrupted" ? "interrupted" : this.status;
  }

  /** The message as JSON: equal whatever road it took. Treat it as frozen. */
  get message(): Message {
    if (this.#message === undefined) {
      const { role, created_at, ...rest } = this.envelope;
      this.#message = withMembers(
        {
          id: this.id,
          role: role as Role,
          status: this.status,
          content: this.blocks.map((block) => block.block),
          created_at: created_at as number,
        },
        rest,
      ) as Message;
    }
    return this.#message;
  }

  /** The message; the same object for the same turn. */
  get messageState(): MessageState {
    this.#messageState ??= MessageState.ofTurn(this);
    return this.#messageState;
  }

  /** What a snapshot says about the turn, with its open blocks in any status. */
  spelled(): JsonObject {
    const record = withMembers(
      { id: this.id, status: this.turnStatus, open_block_ids: this.openBlockIds },
      this.ended,
    );
    if (this.request !== undefined) record.request = this.request;
    return record;
  }
}

function indexOf(blocks: readonly BlockState[]): Map<string, number> {
  return new Map(blocks.map((block, position) => [block.id, position]));
}
