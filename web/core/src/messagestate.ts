/** One message of a conversation, as views read it. Spec: docs/spec/content/model.md. */

import { BlockState } from "./blockstate.ts";
import type { Message, MessageStatus, Role } from "./events.ts";
import { checkKeys } from "./keys.ts";
import type { TurnState } from "./turnstate.ts";
import { checkMessage } from "./validate.ts";
import type { Json, JsonObject } from "./values.ts";

/** One message. Immutable; an event that does not touch it leaves the same object. */
export class MessageState {
  /** The id of the message, and of its turn when it is an answer. */
  readonly id: string;
  readonly role: Role;
  readonly status: MessageStatus;
  /** Its turn, for an answer whose turn the receiver heard of. */
  readonly turn: TurnState | undefined;
  // What it says about itself; a whole message or the envelope of a turn.
  readonly #members: Readonly<JsonObject>;
  #message: Message | undefined;
  #blocks: readonly BlockState[] | undefined;

  private constructor(
    id: string,
    status: MessageStatus,
    members: Readonly<JsonObject>,
    message: Message | undefined,
    turn: TurnState | undefined,
    blocks: readonly BlockState[] | undefined,
  ) {
    this.id = id;
    this.status = status;
    this.role = members.role as Role;
    this.turn = turn;
    this.#members = members;
    this.#message = message;
    this.#blocks = blocks;
  }

  /** The message of a turn as it stands. */
  static ofTurn(turn: TurnState): MessageState {
    return new MessageState(turn.id, turn.status, turn.envelope, undefined, turn, turn.blocks);
  }

  /** A message that is over, which was checked; its turn and its blocks where they are known. */
  static ofMessage(
    message: Message,
    turn?: TurnState,
    blocks: readonly BlockState[] | undefined = turn?.blocks,
  ): MessageState {
    return new MessageState(message.id, message.status, message, message, turn, blocks);
  }

  /** In message order. */
  get blocks(): readonly BlockState[] {
    // Most messages of a long conversation are never looked at.
    this.#blocks ??= this.message.content.map((block) => BlockState.of(block, false));
    return this.#blocks;
  }

  /** The message as JSON; treat it as frozen. */
  get message(): Message {
    this.#message ??= (this.turn as TurnState).message;
    return this.#message;
  }

  /** Unix milliseconds. */
  get createdAt(): number {
    return this.#members.created_at as number;
  }

  /** Unix milliseconds, once it is over. */
  get completedAt(): number | undefined {
    return this.#members.completed_at as number | undefined;
  }

  get model(): string | undefined {
    return this.#members.model as string | undefined;
  }

  get provider(): string | undefined {
    return this.#members.provider as string | undefined;
  }

  /** A name for people; it never stands for a role. */
  get author(): string | undefined {
    return this.#members.author as string | undefined;
  }

  /** The turn to which it belongs when that has another id (a question, the result of a tool). */
  get turnId(): string | undefined {
    return this.#members.turn_id as string | undefined;
  }
}

/**
 * Returns a finished message, as REST gives it, as views read it.
 *
 * Throws `ProtocolError` with a pointer: `invalid_key`, `missing_member`, `invalid_member`,
 * `invalid_name`, `invalid_enum`, `block_exists`.
 */
export function messageState(message: Json): MessageState {
  checkKeys(message);
  return MessageState.ofMessage(checkMessage(message));
}
