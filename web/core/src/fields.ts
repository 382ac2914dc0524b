/**
 * What blocks, messages and events are made of: the tables that the validators check.
 *
 * Spec: docs/spec/content/model.md and docs/spec/content/events.md. They say what the tables of the
 * Python package say; the vectors and the generated event scripts hold the two together.
 */

import { isCode, isId, isName, isVisible, NAME_CHARS_MAX } from "./names.ts";
import { isObject, type Json, SAFE_INTEGER_MAX } from "./values.ts";

/** Kinds that one test decides. */
export type ScalarKind =
  | "text"
  | "spoken"
  | "id"
  | "name"
  | "code"
  | "value"
  | "object"
  | "integer"
  | "boolean"
  | "ids";

/** Kinds that are one word of a closed list. */
export type EnumKind =
  | "role"
  | "message_status"
  | "terminal_status"
  | "tool_status"
  | "visibility"
  | "request_kind";

/** Kinds that are records or arrays of them. */
export type RecordKind =
  | "block"
  | "blocks"
  | "complete_message"
  | "messages"
  | "turns"
  | "tool_changes"
  | "request";

export type Kind = ScalarKind | EnumKind | RecordKind;

/** What one member holds, and whether it must be there. */
export interface Field {
  readonly kind: Kind;
  readonly required: boolean;
}

/** Members by name, in the order in which they are checked. */
export type Fields = ReadonlyMap<string, Field>;

/** Spells `Fields`: a kind, with `!` behind it when the member is required. */
function fields(members: Readonly<Record<string, Kind | `${Kind}!`>>): Fields {
  return new Map(
    Object.entries(members).map(([name, spelled]) => {
      const required = spelled.endsWith("!");
      const kind = (required ? spelled.slice(0, -1) : spelled) as Kind;
      return [name, { kind, required }];
    }),
  );
}

export const COMMON_BLOCK_FIELDS = fields({ id: "id!", type: "id!", provider_data: "value" });

const TOOL_MEMBERS = {
  input: "value",
  output: "value",
  error: "value",
  input_json: "text",
  output_json: "text",
  error_json: "text",
  started_at: "integer",
  completed_at: "integer",
  attachments: "ids",
} as const;

/** Members of each known block type; another type has no members that we know. */
export const BLOCK_FIELDS: ReadonlyMap<string, Fields> = new Map([
  ["prose", fields({ markdown: "text!" })],
  ["code", fields({ text: "text!", language: "name" })],
  ["tool", fields({ tool: "name!", status: "tool_status!", ...TOOL_MEMBERS })],
  ["reasoning", fields({ text: "text!", visibility: "visibility" })],
  ["error", fields({ code: "code!", message: "text!", retryable: "boolean" })],
  ["attachment", fields({ attachment_id: "id!", name: "name!", media_type: "name!" })],
  ["notice", fields({ code: "code!", message: "text!" })],
  ["speech", fields({ text: "spoken!" })],
]);

/** What `content.block.updated` may replace in an open tool block. */
export const TOOL_CHANGES = fields({
  status: "tool_status",
  ...TOOL_MEMBERS,
  provider_data: "value",
});

export const REQUEST_FIELDS = fields({
  id: "id!",
  kind: "request_kind!",
  prompt: "text!",
  options: "value",
  block_id: "id",
});

/** What a snapshot says about a turn. */
export const TURN_FIELDS = fields({
  id: "id!",
  status: "name",
  finish_reason: "name",
  reason: "name",
  error_code: "name",
  request: "request",
  open_block_ids: "ids",
});

/** What the gateway stamps on an event last. */
export const STAMP_FIELDS = fields({
  conversation_id: "id",
  seq: "integer",
  prev_seq: "integer",
  ts: "integer",
});

export const MESSAGE_FIELDS = fields({
  id: "id!",
  role: "role!",
  status: "message_status!",
  content: "blocks!",
  created_at: "integer!",
  completed_at: "integer",
  model: "name",
  provider: "name",
  author: "name",
  turn_id: "id",
  conversation_id: "id",
  usage: "object",
  metadata: "value",
  metadata_json: "text",
});

/** Members of `turn.started` beyond its own that become members of the message. */
export const STARTED_EXTRAS = fields({
  author: "name",
  metadata: "value",
  metadata_json: "text",
});

const END_FIELDS = fields({
  turn_id: "id!",
  status: "terminal_status!",
  usage: "object",
  finish_reason: "name",
  reason: "name",
  error_code: "name",
});

/** Members of each known event type, stamps apart. */
export const EVENT_FIELDS: ReadonlyMap<string, Fields> = new Map([
  [
    "turn.started",
    fields({
      turn_id: "id!",
      role: "role!",
      created_at: "integer!",
      model: "name",
      provider: "name",
    }),
  ],
  ["content.block.started", fields({ turn_id: "id!", block: "block!" })],
  [
    "content.block.delta",
    fields({ turn_id: "id!", block_id: "id!", field: "name!", text: "text!" }),
  ],
  ["content.block.updated", fields({ turn_id: "id!", block_id: "id!", set: "tool_changes!" })],
  [
    "content.block.completed",
    fields({ turn_id: "id!", block_id: "id!", block: "block", provider_data: "value" }),
  ],
  ["turn.suspended", fields({ turn_id: "id!", request: "request!" })],
  ["turn.resumed", fields({ turn_id: "id!" })],
  ["turn.completed", END_FIELDS],
  ["turn.failed", END_FIELDS],
  ["turn.cancelled", END_FIELDS],
  ["message.created", fields({ message: "complete_message!" })],
  [
    "conversation.snapshot",
    fields({
      messages: "messages!",
      turns: "turns!",
      open_block_ids: "ids!",
      reset: "boolean",
      more_before: "text",
    }),
  ],
]);

/** Told to live readers only, without a number; their members are not checked. */
export const CONNECTION_EVENTS: ReadonlySet<string> = new Set([
  "turn.queued",
  "turn.dequeued",
  "conversation.deleted",
  "subscription.ready",
]);

/** Terminal event type -> the status that it repeats. */
export const TURN_ENDS: ReadonlyMap<string, string> = new Map([
  ["turn.completed", "completed"],
  ["turn.failed", "failed"],
  ["turn.cancelled", "cancelled"],
]);

/** What a terminal event says of the turn that its message does not hold. */
export const END_MEMBERS = ["finish_reason", "reason", "error_code"] as const;

/** The one text field of each type that grows by deltas. */
export const DELTA_FIELDS: ReadonlyMap<string, "markdown" | "text"> = new Map([
  ["prose", "markdown"],
  ["reasoning", "text"],
]);

/** Statuses after which a message never changes. */
export const TERMINAL_STATUSES: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/** A tool moves up this order, may skip steps and never goes back; the last three are final. */
export const TOOL_ORDER: ReadonlyMap<string, number> = new Map([
  ["pending", 0],
  ["running", 1],
  ["completed", 2],
  ["failed", 2],
  ["cancelled", 2],
]);

/** The words of each closed list. */
export const ENUMS: Readonly<Record<EnumKind, ReadonlySet<string>>> = {
  role: new Set(["assistant", "developer", "system", "tool", "user"]),
  message_status: new Set(["cancelled", "completed", "failed", "streaming", "suspended"]),
  terminal_status: TERMINAL_STATUSES,
  tool_status: new Set(TOOL_ORDER.keys()),
  visibility: new Set(["private", "visible"]),
  request_kind: new Set(["question", "approval"]),
};

/** A test, the code when it fails, and what the value should have been. */
export interface Scalar {
  readonly test: (value: Json) => boolean;
  readonly code: string;
  readonly expected: string;
}

function isInteger(value: Json): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export const SCALARS: Readonly<Record<ScalarKind, Scalar>> = {
  text: {
    test: (value) => typeof value === "string",
    code: "invalid_member",
    expected: "a string",
  },
  spoken: {
    test: (value) => typeof value === "string" && isVisible(value),
    code: "invalid_member",
    expected: "a string that is not blank",
  },
  id: {
    test: isId,
    code: "invalid_name",
    expected: `a string with 1 to ${NAME_CHARS_MAX} characters, not blank, without controls`,
  },
  name: {
    test: isName,
    code: "invalid_name",
    expected: `a string of at most ${NAME_CHARS_MAX} characters without controls`,
  },
  code: { test: isCode, code: "invalid_member", expected: "a snake_case code" },
  value: { test: () => true, code: "invalid_member", expected: "any JSON value" },
  object: { test: isObject, code: "invalid_member", expected: "an object" },
  integer: {
    test: isInteger,
    code: "invalid_member",
    expected: `an integer from 0 to ${SAFE_INTEGER_MAX}`,
  },
  boolean: {
    test: (value) => typeof value === "boolean",
    code: "invalid_member",
    expected: "true or false",
  },
  ids: {
    test: (value) => Array.isArray(value) && value.every(isId),
    code: "invalid_member",
    expected: "an array of ids",
  },
};

const SCALAR_KINDS: ReadonlySet<string> = new Set(Object.keys(SCALARS));
const ENUM_KINDS: ReadonlySet<string> = new Set(Object.keys(ENUMS));

export function isScalarKind(kind: Kind): kind is ScalarKind {
  return SCALAR_KINDS.has(kind);
}

export function isEnumKind(kind: Kind): kind is EnumKind {
  return ENUM_KINDS.has(kind);
}
