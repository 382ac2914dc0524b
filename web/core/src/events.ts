/**
 * The streaming events and what they hold, as they are on the wire.
 *
 * Spec: docs/spec/content/events.md. An event of a known type is the JSON object itself, checked;
 * members that this version does not know are still in it.
 */

import type { Json, JsonObject } from "./values.ts";

export type Role = "user" | "assistant" | "system" | "developer" | "tool";
export type TerminalStatus = "completed" | "failed" | "cancelled";
export type MessageStatus = "streaming" | "suspended" | TerminalStatus;
export type ToolStatus = "pending" | "running" | TerminalStatus;

/** One content block: `id`, `type` and the members of its type, unknown ones kept. */
export type Block = Readonly<JsonObject> & { readonly id: string; readonly type: string };

/** One message envelope with its blocks, unknown members kept. Times are Unix milliseconds. */
export type Message = Readonly<JsonObject> & {
  readonly id: string;
  readonly role: Role;
  readonly status: MessageStatus;
  readonly content: Block[];
  readonly created_at: number;
};

/** What a suspended turn waits for. */
export type Request = Readonly<JsonObject> & {
  readonly id: string;
  readonly kind: "question" | "approval";
  readonly prompt: string;
};

/** What a snapshot says about a turn. */
export type TurnInfo = Readonly<JsonObject> & {
  readonly id: string;
  readonly status?: string;
  readonly request?: Request;
  readonly open_block_ids?: string[];
};

/** The members that the gateway stamps; all absent in an event that is not of a log. */
export interface Stamps {
  readonly conversation_id?: string;
  /** Rises within a conversation for its whole life. */
  readonly seq?: number;
  /** The `seq` of the event before it in this view. */
  readonly prev_seq?: number;
  /** Unix milliseconds. */
  readonly ts?: number;
}

export interface TurnStarted extends Stamps {
  readonly type: "turn.started";
  readonly turn_id: string;
  readonly role: Role;
  readonly created_at: number;
  readonly model?: string;
  readonly provider?: string;
  readonly author?: string;
  readonly metadata?: Json;
  readonly metadata_json?: string;
}

export interface BlockStarted extends Stamps {
  readonly type: "content.block.started";
  readonly turn_id: string;
  readonly block: Block;
}

export interface BlockDelta extends Stamps {
  readonly type: "content.block.delta";
  readonly turn_id: string;
  readonly block_id: string;
  readonly field: string;
  readonly text: string;
}

export interface BlockUpdated extends Stamps {
  readonly type: "content.block.updated";
  readonly turn_id: string;
  readonly block_id: string;
  readonly set: JsonObject;
}

export interface BlockCompleted extends Stamps {
  readonly type: "content.block.completed";
  readonly turn_id: string;
  readonly block_id: string;
  readonly block?: Block;
  readonly provider_data?: Json;
}

export interface TurnSuspended extends Stamps {
  readonly type: "turn.suspended";
  readonly turn_id: string;
  readonly request: Request;
}

export interface TurnResumed extends Stamps {
  readonly type: "turn.resumed";
  readonly turn_id: string;
}

export interface TurnEnded extends Stamps {
  readonly type: "turn.completed" | "turn.failed" | "turn.cancelled";
  readonly turn_id: string;
  readonly status: TerminalStatus;
  readonly usage?: JsonObject;
  readonly finish_reason?: string;
  readonly reason?: string;
  readonly error_code?: string;
}

export interface MessageCreated extends Stamps {
  readonly type: "message.created";
  readonly message: Message;
}

export interface ConversationSnapshot extends Stamps {
  readonly type: "conversation.snapshot";
  readonly messages: Message[];
  readonly turns: TurnInfo[];
  readonly open_block_ids: string[];
  readonly reset?: boolean;
  readonly more_before?: string;
}

/** A turn waits behind others; told to live readers only, like the next three. Not checked. */
export interface TurnQueued extends Stamps {
  readonly type: "turn.queued";
  readonly turn_id?: Json;
  readonly position?: Json;
}

/** A queued turn was taken back before it began. Not checked. */
export interface TurnDequeued extends Stamps {
  readonly type: "turn.dequeued";
  readonly turn_id?: Json;
}

/** The conversation is gone. Not checked. */
export interface ConversationDeleted extends Stamps {
  readonly type: "conversation.deleted";
}

/** The stream begins. Not checked. */
export interface SubscriptionReady extends Stamps {
  readonly type: "subscription.ready";
  readonly cursor?: Json;
}

/** An event of a newer peer: it moves the cursor and changes nothing else. */
export interface UnknownEvent extends Stamps {
  readonly type: "unknown";
  /** The type that it has on the wire. */
  readonly name: string;
  /** The whole event as it came; nothing but its stamps was checked. */
  readonly members: JsonObject;
}

export type StreamEvent =
  | TurnStarted
  | BlockStarted
  | BlockDelta
  | BlockUpdated
  | BlockCompleted
  | TurnSuspended
  | TurnResumed
  | TurnEnded
  | MessageCreated
  | ConversationSnapshot
  | TurnQueued
  | TurnDequeued
  | ConversationDeleted
  | SubscriptionReady
  | UnknownEvent;
