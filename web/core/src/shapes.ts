/**
 * What the gateway answers with, as types. Members have the names of the wire; times are Unix
 * milliseconds. Members that this version does not know are there, too.
 *
 * Spec: docs/spec/gateway/reading.md, "Shapes". Of each object the members that everything depends on
 * are checked when it comes; the others are as the gateway promises them.
 */

import { type GatewayError, invalidAnswer } from "./failures.ts";
import { isObject, type Json, type JsonObject } from "./values.ts";

/** How a turn stands. */
export type TurnRowStatus =
  | "queued"
  | "running"
  | "suspended"
  | "completed"
  | "failed"
  | "cancelled"
  | "interrupted";

/** A conversation. */
export interface Conversation {
  readonly id: string;
  readonly title?: string;
  readonly tags: readonly string[];
  readonly created_at: number;
  readonly updated_at: number;
  readonly head_seq: number;
  readonly metadata?: JsonObject;
  /** System prompt of its turns; owner view only. */
  readonly system?: string;
  readonly running_turn_id?: string;
  /** Turns that wait for that one, in order. */
  readonly queued_turn_ids?: readonly string[];
  readonly usage?: JsonObject;
}

/** A turn; where one turn was read, with its message as committed at `seq`. */
export interface Turn {
  readonly id: string;
  readonly conversation_id: string;
  readonly status: TurnRowStatus;
  readonly engine: string;
  readonly created_at: number;
  readonly message_id: string;
  readonly request_message_id: string;
  readonly seq: number;
  /** Whether it survives a crash of the gateway; a queued one does not. */
  readonly durable: boolean;
  readonly model?: string;
  readonly provider?: string;
  readonly started_at?: number;
  readonly completed_at?: number;
  readonly usage?: JsonObject;
  readonly cost?: JsonObject;
  readonly retry_of?: string;
  /** Queued: its place in line, 1 is next. */
  readonly position?: number;
  /** Queued or handed back: what was asked. */
  readonly content?: readonly JsonObject[];
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly retryable?: boolean;
  };
  readonly finish_reason?: string;
  readonly reason?: string;
  /** What a suspended turn waits for. */
  readonly request?: JsonObject;
  readonly message?: JsonObject | null;
  readonly open_block_ids?: readonly string[];
}

/** What a gateway can. */
export interface Capabilities {
  readonly protocol: number;
  readonly version: string;
  /** Names for `engine`; the first is the default. */
  readonly engines: readonly string[];
  /** Models that a choice may offer, by engine; missing where the gateway does not tell. */
  readonly models?: Readonly<Record<string, readonly string[]>>;
  /** Engines that play recordings, whatever they are asked; missing where the gateway does not tell. */
  readonly replays?: readonly string[];
  /** Whether there are small pictures of images, at `Gateway.previewUrl`. */
  readonly previews?: boolean;
  readonly dialects: readonly string[];
  /** What the caller may. */
  readonly scopes: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
}

/** What is known of a file. */
export interface Attachment {
  readonly id: string;
  readonly name: string;
  /** Found by looking at the content. */
  readonly media_type: string;
  readonly size_bytes: number;
  readonly sha256: string;
  readonly created_at: number;
}

/** A link that shows the public view of one conversation. */
export interface Share {
  readonly id: string;
  readonly created_at: number;
  /** Missing: never. */
  readonly expires_at?: number;
}

/** A share link as it was made: the only place where its secret stands. */
export interface NewShare extends Share {
  readonly secret: string;
  /** For the part of a URL that no server sees. */
  readonly fragment: string;
}

/** A ticket, with which an EventSource may open the conversation's stream for a minute. */
export interface Ticket {
  readonly ticket: string;
  readonly expires_at: number;
}

/** A login by cookie. */
export interface Login {
  readonly scopes: readonly string[];
  readonly expires_at: number;
}

/** One block that a search found. */
export interface SearchHit {
  readonly conversation_id: string;
  readonly title?: string;
  readonly message_id: string;
  readonly turn_id?: string;
  readonly role: string;
  readonly created_at: number;
  readonly block_id: string;
  readonly block_type: string;
  readonly snippet: {
    readonly text: string;
    /** In Unicode scalar values, not UTF-16 units. */
    readonly matches: readonly { readonly start: number; readonly end: number }[];
    readonly at_start: boolean;
    readonly at_end: boolean;
    /** Where it stands in the block, if that has one text. */
    readonly offset?: number;
  };
}

/** One page of a list; a null cursor is the end. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

/** One page of conversations. */
export interface ConversationPage extends Page<Conversation> {
  /** Names what came, for the next call; null where the gateway gave none. */
  readonly etag: string | null;
}

/** One page of hits, the best first. */
export interface SearchPage extends Page<SearchHit> {
  /** `building`: older messages may be missing. */
  readonly index: "ready" | "building";
}

type Kind = "string" | "number" | "boolean" | "array" | "object";

// What each shape is unusable without.
const REQUIRED = {
  conversation: { id: "string", tags: "array", created_at: "number", updated_at: "number" },
  turn: { id: "string", conversation_id: "string", status: "string", seq: "number" },
  capabilities: { protocol: "number", engines: "array", scopes: "array", limits: "object" },
  attachment: { id: "string", name: "string", media_type: "string", size_bytes: "number" },
  share: { id: "string", created_at: "number" },
  new_share: { id: "string", created_at: "number", secret: "string", fragment: "string" },
  ticket: { ticket: "string" },
  login: { scopes: "array", expires_at: "number" },
  search_hit: { conversation_id: "string", message_id: "string", snippet: "object" },
} as const satisfies Record<string, Record<string, Kind>>;

interface Shapes {
  conversation: Conversation;
  turn: Turn;
  capabilities: Capabilities;
  attachment: Attachment;
  share: Share;
  new_share: NewShare;
  ticket: Ticket;
  login: Login;
  search_hit: SearchHit;
}

/** Names of what {@link readShape} reads. */
export type ShapeName = keyof Shapes;

/**
 * Returns `value` as an object of this shape.
 *
 * @throws GatewayError `invalid_answer`; it never quotes the answer, which may hold a secret.
 */
export function readShape<Name extends ShapeName>(name: Name, value: Json): Shapes[Name] {
  if (!isObject(value)) throw notA(name);
  for (const [member, kind] of Object.entries(REQUIRED[name])) {
    if (kindOf(value[member]) !== kind) throw notA(name);
  }
  return (name === "capabilities" ? withPlainLimits(value) : value) as unknown as Shapes[Name];
}

// A bound may be spelled `300.0`; whoever compares with it wants a number.
function withPlainLimits(value: JsonObject): JsonObject {
  const limits = isObject(value.limits) ? value.limits : {};
  const plain = Object.entries(limits).map(([name, limit]) => [name, Number(limit)] as const);
  return { ...value, limits: Object.fromEntries(plain) };
}

/**
 * Returns `value` as a page; a cursor that leads to itself would be followed for ever.
 *
 * @throws GatewayError `invalid_answer`.
 */
export function readPage<Item>(
  value: Json,
  readItem: (item: Json) => Item,
  cursor?: string | null,
): Page<Item> {
  const items = isObject(value) ? value.items : undefined;
  const next = isObject(value) ? (value.next_cursor ?? null) : null;
  const isCursor = next === null || (typeof next === "string" && next !== cursor);
  if (!Array.isArray(items) || !isCursor) throw invalidAnswer("a page that is none");
  return { items: items.map(readItem), next_cursor: next };
}

function kindOf(value: Json | undefined): Kind | undefined {
  if (Array.isArray(value)) return "array";
  if (isObject(value)) return "object";
  const kind = typeof value;
  return kind === "string" || kind === "number" || kind === "boolean" ? kind : undefined;
}

function notA(name: string): GatewayError {
  return invalidAnswer(`something that is no ${name.replace("_", " ")}`);
}
