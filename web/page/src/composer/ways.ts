/** What an error of the gateway means for a question or a file that was to be sent. */

import type { Fault } from "./types.ts";

/**
 * How it goes on: `again` by itself after a pause; `login` when somebody logged in; `decide` when a
 * person says so; `arrived` it is there already; `gone` the conversation is not; `return` never as
 * it is, so it goes back to whoever wrote it.
 */
export type Way = "again" | "login" | "decide" | "arrived" | "gone" | "return";

const WAY_BY_CODE: ReadonlyMap<string, Way> = new Map<string, Way>([
  ["unauthorized", "login"],
  ["last_turn_mismatch", "decide"],
  // The key was made for this question alone: whatever has it is this question.
  ["idempotency_key_reused", "arrived"],
  ["conversation_not_found", "gone"],
  ["request_timeout", "again"],
]);

/** First pause before something is sent again; it doubles. */
export const PAUSE_FIRST_MS = 1_000;
/** Longest such pause, unless the gateway asks for a longer one. */
export const PAUSE_MS_MAX = 30_000;
/** Longest pause that the gateway may ask for. */
export const RETRY_AFTER_MS_MAX = 600_000;

/** Return the way forward after `fault`. */
export function wayOf(fault: Fault): Way {
  const way = WAY_BY_CODE.get(fault.code);
  if (way !== undefined) return way;
  // Also in the words of a proxy that asks for a login of its own.
  if (fault.status === 401) return "login";
  return fault.retryable ? "again" : "return";
}

/** Return the pause before attempt number `tries` + 1, in milliseconds. */
export function pauseMs(fault: Fault, tries: number): number {
  const own = Math.min(PAUSE_MS_MAX, PAUSE_FIRST_MS * 2 ** Math.min(tries, 16));
  const asked = fault.retryAfterS === null ? 0 : fault.retryAfterS * 1_000;
  return Math.max(own, Math.min(asked, RETRY_AFTER_MS_MAX));
}

/** Whether nobody knows what became of the request: only a 4xx says that it was not taken. */
export function isDoubtful(fault: Fault): boolean {
  return fault.status < 400 || fault.status >= 500;
}
