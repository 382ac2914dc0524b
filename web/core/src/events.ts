/**
 * The streaming events and what they hold, as they are on the wire.
 *
 * Spec: docs/spec/content/events.md. An event of a known type is the JSON object itself, checked;
 * members that this version does not know are still in it.
 */

import type {
  BlockAttachment,
  BlockCode,
  BlockError,
  BlockNotice,
  BlockProse,
  BlockReasoning,
  BlockSpeech,
  BlockTool,
  EventContentBlockCompleted,
  EventContentBlockDelta,
  EventContentBlockStarted,
  EventContentBlockUpdated,
  EventConversationSnapshot,
  EventMessageCreated,
  EventTurnCancelled,
  EventTurnCompleted,
  EventTurnFailed,
  EventTurnResumed,
  EventTurnStarted,
  EventTurnSuspended,
  MessageMembers,
  RequestMembers,
} from "./generated/content.ts";
import type { Json, JsonObject } from "./values.ts";

export type { ToolChanges, TurnInfo } from "./generated/content.ts";

export type Role = MessageMembers["role"];
export type MessageStatus = MessageMembers["status"];
export type ToolStatus = BlockTool["status"];

/** The members of a block of each known type; a block itself has unknown ones beside them. */
export type KnownBlock =
  | BlockProse
  | BlockCode
  | BlockTool
  | BlockReasoning
  | BlockError
  | BlockAttachment
  | BlockNotice
  | BlockSpeech;

/** One content block: `id`, `type` and the members of its type, unknown ones kept. */
export type Block = Readonly<JsonObject> & { readonly id: string; readonly type: string };

/** One message envelope with its blocks, unknown members kept. Times are Unix milliseconds. */
export type Message = Readonly<JsonObject> &
  Readonly<Pick<MessageMembers, "id" | "role" | "status" | "content" | "created_at">>;

/** What a suspended turn waits for. */
export type Request = Readonly<JsonObject> &
  Readonly<Pick<RequestMembers, "id" | "kind" | "prompt">>;

/** A turn began; its message is empty and streaming. */
export type TurnStarted = Readonly<EventTurnStarted>;
/** A block took its place in the message. */
export type BlockStarted = Readonly<EventContentBlockStarted>;
/** Text was added to the declared field of an open block. */
export type BlockDelta = Readonly<EventContentBlockDelta>;
/** Members of an open tool block were replaced whole. */
export type BlockUpdated = Readonly<EventContentBlockUpdated>;
/** A block is final. */
export type BlockCompleted = Readonly<EventContentBlockCompleted>;
/** A turn waits for a person. */
export type TurnSuspended = Readonly<EventTurnSuspended>;
/** A suspended turn goes on. */
export type TurnResumed = Readonly<EventTurnResumed>;
/** A turn is over. */
export type TurnEnded =
  | Readonly<EventTurnCompleted>
  | Readonly<EventTurnFailed>
  | Readonly<EventTurnCancelled>;
/** A complete message entered the conversation. */
export type MessageCreated = Readonly<EventMessageCreated>;
/** All state at an exact number; it replaces whatever the receiver held. */
export type ConversationSnapshot = Readonly<EventConversationSnapshot>;

/**
 * The members that the gateway stamps; all absent in an event that is not of a log. `seq` rises
 * within a conversation for its whole life, `prev_seq` is the one before it in this view, `ts` is in
 * Unix milliseconds.
 */
export type Stamps = Pick<BlockDelta, "conversation_id" | "seq" | "prev_seq" | "ts">;

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
