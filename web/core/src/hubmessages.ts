/** What a page and the hub say to each other: plain values that survive `postMessage`. */

import { GatewayError } from "./failures.ts";
import type { LinkStatus } from "./stream.ts";

/** From a page to the hub. `key` names one conversation that the page reads, for that page only. */
export type ToHub =
  /** First, and again after `gone`. */
  | { readonly op: "hello" }
  | {
      readonly op: "open";
      readonly key: number;
      readonly conversationId: string;
      readonly cursor: number | null;
    }
  /** What came does not fit: a snapshot is wanted. */
  | { readonly op: "resync"; readonly key: number }
  | { readonly op: "close"; readonly key: number }
  | { readonly op: "wake" }
  | { readonly op: "ping" }
  /** The page goes away; it may come back with another `hello`. */
  | { readonly op: "leave" };

/** From the hub to a page. */
export type FromHub =
  | { readonly op: "welcome" }
  | { readonly op: "pong" }
  /** The hub does not know this page any more: it begins anew with `hello`. */
  | { readonly op: "gone" }
  /** Events as JSON, in order. */
  | { readonly op: "events"; readonly key: number; readonly texts: readonly string[] }
  | { readonly op: "status"; readonly key: number; readonly status: PlainStatus }
  /** The hub has no room for this conversation: the page reads it by itself. */
  | { readonly op: "full"; readonly key: number };

/** An error without its class. */
export interface PlainError {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly retryable: boolean;
  readonly retryAfterS: number | undefined;
  readonly pointer: string | undefined;
}

/** A status without classes in it. */
export type PlainStatus =
  | { readonly kind: "connecting" | "live" }
  | { readonly kind: "waiting"; readonly error: PlainError; readonly retryAtMs: number }
  | { readonly kind: "ended"; readonly error?: PlainError };

/** Returns a status as it can be sent. */
export function plainStatus(status: LinkStatus): PlainStatus {
  if (status.kind === "waiting") return { ...status, error: plainError(status.error) };
  if (status.kind !== "ended" || status.error === undefined) return { ...status } as PlainStatus;
  return { kind: "ended", error: plainError(status.error) };
}

/** Returns a status that was sent. */
export function readStatus(status: PlainStatus): LinkStatus {
  if (status.kind === "waiting") return { ...status, error: readError(status.error) };
  if (status.kind !== "ended" || status.error === undefined) return { ...status } as LinkStatus;
  return { kind: "ended", error: readError(status.error) };
}

function plainError(error: GatewayError): PlainError {
  const { code, message, status, retryable, retryAfterS, pointer } = error;
  return { code, message, status, retryable, retryAfterS, pointer };
}

function readError({ code, message, ...details }: PlainError): GatewayError {
  return new GatewayError(code, message, details);
}
