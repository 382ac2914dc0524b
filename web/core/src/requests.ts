/**
 * What calls of the gateway take. Members have the names of the wire; times are Unix milliseconds.
 *
 * Spec: docs/spec/gateway/routes.md.
 */

import type { StreamEvent } from "./events.ts";
import type { Timing } from "./timing.ts";
import type { JsonObject } from "./values.ts";

/** Where the gateway is, and who asks. */
export interface GatewayOptions {
  /** Without a slash at its end; empty for the page's own origin. */
  readonly baseUrl?: string;
  /** A token or a share's secret. Without one the login's cookie counts. */
  readonly bearer?: string;
  /** Ask for less than the caller may see. */
  readonly view?: "public";
  readonly fetch?: typeof fetch;
  readonly timing?: Timing;
}

/** What a conversation is made with, or changed to; null takes a member back. */
export interface ConversationChanges {
  readonly title?: string | null;
  readonly tags?: readonly string[] | null;
  readonly system?: string | null;
  readonly metadata?: JsonObject | null;
}

/** A question. */
export interface Submit extends RetryOptions {
  /** Text, which becomes one prose block, or blocks. */
  readonly content: string | readonly JsonObject[];
}

/** How a question is to be answered; what is missing is up to the gateway. */
export interface RetryOptions {
  readonly engine?: string;
  readonly model?: string;
  readonly options?: JsonObject;
  /** The last turn that the caller knows; null for none. */
  readonly if_last_turn?: string | null;
}

/** One page of events. */
export interface EventPage {
  readonly items: readonly StreamEvent[];
  /** The next `after`. */
  readonly next_cursor: number;
  /** Nothing more was committed at that moment. */
  readonly at_end: boolean;
}

/** What a search looks for. */
export interface Search {
  /** All of its words; `"a phrase"`, `begin*`, `-without`. */
  readonly q: string;
  readonly conversation_id?: string;
  readonly role?: string;
  readonly type?: string;
  /** Unix milliseconds. */
  readonly since?: number;
  readonly until?: number;
  readonly tag?: string;
  readonly cursor?: string;
  readonly limit?: number;
}

/** Formats of an export (docs/spec/gateway/exports.md). */
export type ExportFormat = "markdown" | "html" | "text" | "json" | "jsonl";

/** Which page of a list. */
export interface PageOptions {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Whether the gateway holds its answer. */
export interface WaitOptions {
  /** Seconds. */
  readonly wait?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Which messages; one of `before`, `after` and `around`. */
export interface MessagesOptions {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** Id of a message that the page holds. */
  readonly around?: string | undefined;
  readonly limit?: number | undefined;
  /** JSON bytes of the page at most; one message always fits. */
  readonly max_bytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Which events; `snapshot` beats `after`. */
export interface EventsOptions extends WaitOptions {
  readonly after?: number | undefined;
  readonly snapshot?: boolean | undefined;
}
