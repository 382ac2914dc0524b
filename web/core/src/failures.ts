/**
 * What can go wrong between a page and its gateway, as one kind of error.
 *
 * Spec: docs/spec/error-codes.md. A refusal keeps the gateway's code and sentence; what happens on
 * the way there has codes of the client's own.
 */

import { ProtocolError } from "./errors.ts";
import { decodeJson } from "./json.ts";
import { isObject, type Json } from "./values.ts";

/** Version of what client and gateway speak (docs/spec/gateway/routes.md, "Answers"). */
export const PROTOCOL = "1";

/** The header, in lower case, in which both sides name their version. */
export const PROTOCOL_HEADER = "blockwire-protocol";

/** Seconds of `Retry-After` that are believed; more is more likely a mistake than a plan. */
export const RETRY_AFTER_S_MAX = 3600;

/** UTF-16 units of a gateway's sentence that are kept. */
export const DETAIL_UNITS_MAX = 1_000;

const CODE = /^[a-z][a-z0-9_]{0,99}$/;
const DIGITS = /^[0-9]+$/;

/** What more is known about a failure. */
export interface FailureDetails {
  /** HTTP status of the answer; 0 where there was none. */
  status?: number;
  /** Whether the same call may succeed later. */
  retryable?: boolean;
  /** Seconds that the gateway asked to wait. */
  retryAfterS?: number | undefined;
  /** JSON Pointer to what is wrong in the request. */
  pointer?: string | undefined;
}

/** A call, or a stream, did not succeed. `code` is stable; the sentence is for people. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: string;
  readonly status: number;
  readonly retryable: boolean;
  readonly retryAfterS: number | undefined;
  readonly pointer: string | undefined;

  constructor(code: string, message: string, details: FailureDetails = {}) {
    super(message);
    this.code = code;
    this.status = details.status ?? 0;
    this.retryable = details.retryable ?? false;
    this.retryAfterS = details.retryAfterS;
    this.pointer = details.pointer;
  }
}

/** Returns whether the same request may succeed later: 408, 429 and every 5xx. */
export function isPassing(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** The error for a gateway that gave no answer. */
export function unreachable(): GatewayError {
  return new GatewayError("unreachable", "no connection to the gateway", { retryable: true });
}

/** The error for a connection that broke before the answer was complete. */
export function connectionLost(): GatewayError {
  return new GatewayError("connection_lost", "the connection to the gateway broke", {
    retryable: true,
  });
}

/** The error for a stream that does not fit what came before, time and again. */
export function streamInconsistent(code: string, details: FailureDetails = {}): GatewayError {
  const detail = `the stream does not fit what came before (${code})`;
  return new GatewayError("stream_inconsistent", detail, details);
}

/** The error for a stream whose conversation is no more. */
export function conversationDeleted(): GatewayError {
  return new GatewayError("conversation_deleted", "the conversation was deleted");
}

/** The error for a stream to which nothing is to come. */
export function streamEnded(): GatewayError {
  return new GatewayError("stream_ended", "the gateway ended the stream");
}

/**
 * The error for an answer that no gateway of this version gives.
 *
 * @param retryable Whether it may have been cut, or be that of something on the way.
 */
export function invalidAnswer(what: string, status = 0, retryable = false): GatewayError {
  const detail = `the gateway answered with ${what}`;
  return new GatewayError("invalid_answer", detail, { status, retryable });
}

/**
 * Returns what is wrong with the version that an answer names, saying which side to update; null when
 * nothing is. One without a version is judged by what it holds.
 */
export function protocolMismatch(version: string | null): GatewayError | null {
  if (version === null || version === PROTOCOL) return null;
  const isNewer = DIGITS.test(version) && version.length <= 9 && Number(version) > Number(PROTOCOL);
  const side = isNewer ? "reload this page" : "update the gateway";
  const named = JSON.stringify(version.slice(0, 32));
  const detail = `the gateway speaks protocol ${named} and this page "${PROTOCOL}": ${side}`;
  return new GatewayError("protocol_mismatch", detail);
}

/**
 * Returns the seconds that `Retry-After` asks for, at most {@link RETRY_AFTER_S_MAX}.
 *
 * @param value Seconds or a date; null, and what cannot be read, asks for nothing.
 * @param nowMs Unix milliseconds.
 */
export function readRetryAfterS(value: string | null, nowMs: number): number | undefined {
  const text = value?.trim();
  if (!text) return undefined;
  // A long row of digits is cut before it is converted.
  if (DIGITS.test(text)) return Math.min(Number(text.slice(0, 9)), RETRY_AFTER_S_MAX);
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs)) return undefined;
  return Math.min(Math.max(Math.ceil((atMs - nowMs) / 1000), 0), RETRY_AFTER_S_MAX);
}

/** Returns the error that an answer of `status` is, in the gateway's words if it has some. */
export function refusal(
  status: number,
  header: (name: string) => string | null,
  body: string,
  nowMs: number,
): GatewayError {
  const retryAfterS = readRetryAfterS(header("retry-after"), nowMs);
  const error = refusalOf(parsed(body), { status, retryAfterS });
  if (error !== null) return error;
  if (status < 400) {
    return new GatewayError("unexpected_status", `the gateway answered HTTP ${status}`, { status });
  }
  return new GatewayError(
    "http_error",
    `HTTP ${status}, and not in the words of a blockwire gateway`,
    { status, retryable: isPassing(status), retryAfterS },
  );
}

/** Returns the error that `{"error": {...}}` spells; null when `value` is something else. */
export function refusalOf(value: Json, details: FailureDetails = {}): GatewayError | null {
  const error = isObject(value) ? value.error : undefined;
  if (!isObject(error)) return null;
  const { code, message, pointer, retryable } = error;
  if (typeof code !== "string" || !CODE.test(code)) return null;
  return new GatewayError(
    code,
    typeof message === "string" ? message.slice(0, DETAIL_UNITS_MAX) : "no reason was given",
    {
      ...details,
      retryable: retryable === true,
      pointer: typeof pointer === "string" ? pointer.slice(0, DETAIL_UNITS_MAX) : undefined,
    },
  );
}

function parsed(body: string): Json {
  try {
    return decodeJson(body);
  } catch (error) {
    if (error instanceof ProtocolError) return null;
    throw error;
  }
}
