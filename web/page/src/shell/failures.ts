/**
 * Failures in words: what happened, and what to do next.
 *
 * Spec: docs/spec/page/shell.md, "Messages".
 */
import { strings } from "../strings.ts";

/** What is read of an error of the gateway; any other error has none of it. */
interface CodedError {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly retryAfterS?: number;
}

/** Whether `error` came from the gateway, or says that it could not be reached. */
export function isCoded(error: unknown): error is Error & CodedError {
  return (
    error instanceof Error &&
    typeof (error as { code?: unknown }).code === "string" &&
    typeof (error as { status?: unknown }).status === "number"
  );
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return isCoded(error) && codes.includes(error.code);
}

/** Whether the error means that a token is missing, wrong or over. */
export function isLock(error: unknown): boolean {
  return isCoded(error) && error.status === 401;
}

/** Whether somebody stopped it on purpose: no failure to tell of. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

/**
 * A sentence or two on `error`: our own where we know what to do, else the gateway's, else that
 * something unexpected happened. Never the text of an exception of the page: that is for the
 * console.
 */
export function reasonOf(error: unknown): string {
  if (!isCoded(error)) return strings.errors.unexpected;
  if (error.retryAfterS !== undefined && error.status === 429) {
    return strings.errors.waitSeconds(Math.ceil(error.retryAfterS), error.code);
  }
  const known: Readonly<Record<string, string>> = strings.errors.byCode;
  const advice = Object.hasOwn(known, error.code) ? known[error.code] : undefined;
  return advice ?? sentence(error.message);
}

/** What was attempted and why it failed, as one text. */
export function failureText(what: string, error: unknown): string {
  return `${what} ${reasonOf(error)}`;
}

function sentence(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return strings.errors.unexpected;
  const start = trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return /[.!?]$/u.test(start) ? start : `${start}.`;
}
