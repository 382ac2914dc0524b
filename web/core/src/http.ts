/**
 * One question and one answer over HTTP: headers, strict JSON, errors, repetition.
 *
 * Spec: docs/spec/gateway/routes.md.
 */

import { ProtocolError } from "./errors.ts";
import {
  GatewayError,
  invalidAnswer,
  PROTOCOL,
  PROTOCOL_HEADER,
  protocolMismatch,
  refusal,
  unreachable,
} from "./failures.ts";
import { decodeJson, ENVELOPED_DEPTH_MAX, encodeJson } from "./json.ts";
import { pauseMs, type Timing } from "./timing.ts";
import type { Json } from "./values.ts";

/** Attempts at a call that may be repeated; others get one. */
export const CALL_TRIES_MAX = 3;

/** Longest first pause between two attempts, in milliseconds; it doubles. */
export const CALL_RETRY_MS = 400;

/** Longest such pause. */
export const CALL_PAUSE_MS_MAX = 4_000;

/** A gateway that asks to wait longer than this is not waited for: the caller gets the error. */
export const CALL_WAIT_MS_MAX = 5_000;

/** How long a call may be without its whole answer, besides what it asked the gateway to wait. */
export const CALL_MS_MAX = 30_000;

/** Members of a query; those that are undefined or null are left out. */
export type Query = Readonly<Record<string, string | number | null | undefined>>;

/** What is called, and how. */
export interface CallOptions {
  readonly query?: Query | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether the same call twice is as good as once; by default of what only reads. */
  readonly isRepeatable?: boolean;
  /** Milliseconds for which the gateway was asked to hold its answer. */
  readonly waitMs?: number;
}

/** A whole answer of the gateway, which is no refusal. */
export interface Answer {
  readonly status: number;
  header(name: string): string | null;
  /** The decoded body; null where there is none. */
  readonly value: Json;
}

/** Where a gateway is, and who asks. */
export interface HttpOptions {
  readonly baseUrl: string;
  readonly bearer: string | undefined;
  readonly fetch: typeof fetch;
  readonly timing: Timing;
}

/** Calls one gateway. */
export class Http {
  readonly #options: HttpOptions;

  constructor(options: HttpOptions) {
    this.#options = options;
  }

  /** The clock and the dice of everything that reads from this gateway. */
  get timing(): Timing {
    return this.#options.timing;
  }

  /** Returns the address of a route. */
  url(path: string, query: Query = {}): string {
    const parts = Object.entries(query)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => `${name}=${encodeURIComponent(wellFormed(String(value)))}`);
    const tail = parts.length > 0 ? `?${parts.join("&")}` : "";
    return `${this.#options.baseUrl}${path}${tail}`;
  }

  /** The headers that each request carries. */
  headers(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const { bearer } = this.#options;
    const own = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
    return { [PROTOCOL_HEADER]: PROTOCOL, ...own, ...more };
  }

  /**
   * Sends one request and returns what came, whatever its status.
   *
   * @throws GatewayError `unreachable`; the signal's reason when the caller gave up.
   */
  async send(path: string, init: RequestInit, query: Query = {}): Promise<Response> {
    const { fetch } = this.#options;
    try {
      // What the gateway answers is never read from a cache: it would be older than the stream.
      return await fetch(this.url(path, query), {
        cache: "no-store",
        credentials: "same-origin",
        redirect: "error",
        ...init,
      });
    } catch (error) {
      if (init.signal?.aborted) throw init.signal.reason;
      if (error instanceof GatewayError) throw error;
      throw unreachable();
    }
  }

  /**
   * Returns the bytes behind an address of this gateway.
   *
   * @throws GatewayError; `invalid_answer` for an address of another origin.
   */
  async blob(url: string, signal?: AbortSignal): Promise<Blob> {
    const base = this.url("");
    if (!url.startsWith(`${base}/`) || url.startsWith("//")) {
      throw invalidAnswer("an address of another origin");
    }
    const init: RequestInit = { headers: this.headers() };
    if (signal !== undefined) init.signal = signal;
    const response = await this.send(url.slice(base.length), init);
    if (response.ok) return response.blob();
    const header = (name: string): string | null => response.headers.get(name);
    throw refusal(response.status, header, await response.text(), this.timing.nowMs());
  }

  /**
   * Calls a route and returns its answer. What may be repeated is, a few times, where that may help.
   *
   * @throws GatewayError; the signal's reason when the caller gave up.
   */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const triesMax = (options.isRepeatable ?? method === "GET") ? CALL_TRIES_MAX : 1;
    for (let tryCount = 1; ; tryCount += 1) {
      try {
        return await this.#once(method, path, options);
      } catch (error) {
        if (!(error instanceof GatewayError) || !error.retryable || tryCount >= triesMax)
          throw error;
        const askedMs = (error.retryAfterS ?? 0) * 1000;
        if (askedMs > CALL_WAIT_MS_MAX) throw error;
        const { random } = this.timing;
        const pause = pauseMs(tryCount, CALL_RETRY_MS, CALL_PAUSE_MS_MAX, random);
        await this.#sleep(pause + askedMs, options.signal);
      }
    }
  }

  async #once(method: string, path: string, options: CallOptions): Promise<Answer> {
    const body = options.body === undefined ? undefined : encodeJson(options.body);
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const limit = new AbortController();
    const giveUp = (): void => limit.abort(options.signal?.reason);
    const cancel = this.timing.schedule(CALL_MS_MAX + (options.waitMs ?? 0), () => {
      limit.abort(unreachable());
    });
    options.signal?.addEventListener("abort", giveUp);
    if (options.signal?.aborted) giveUp();
    try {
      const init: RequestInit = {
        method,
        headers: this.headers({ accept: "application/json", ...type, ...options.headers }),
        signal: limit.signal,
        ...(body === undefined ? {} : { body }),
      };
      const response = await this.send(path, init, options.query);
      const text = await textOf(response, limit.signal);
      return this.#answer(response, text);
    } finally {
      cancel();
      options.signal?.removeEventListener("abort", giveUp);
    }
  }

  #answer(response: Response, text: string): Answer {
    const header = (name: string): string | null => response.headers.get(name);
    const mismatch = protocolMismatch(header(PROTOCOL_HEADER));
    if (mismatch !== null) throw mismatch;
    const { status } = response;
    if (status !== 304 && (status < 200 || status > 299)) {
      throw refusal(status, header, text, this.timing.nowMs());
    }
    if (text === "") {
      if (status !== 204 && status !== 304) throw invalidAnswer("nothing", status, true);
      return { status, header, value: null };
    }
    return { status, header, value: decoded(text, status) };
  }

  #sleep(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.timing.schedule(delayMs, () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      });
      const giveUp = (): void => {
        cancel();
        reject(signal?.reason);
      };
      if (signal?.aborted) giveUp();
      else signal?.addEventListener("abort", giveUp, { once: true });
    });
  }
}

// A half of a surrogate pair, in a name of a file or what somebody typed, has no place in an address.
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

/** Returns the value of an answer's text. @throws GatewayError `invalid_answer`. */
export function decoded(text: string, status: number): Json {
  try {
    return decodeJson(text, ENVELOPED_DEPTH_MAX);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw invalidAnswer("no JSON of ours", status, true);
  }
}

async function textOf(response: Response, signal: AbortSignal): Promise<string> {
  try {
    return await response.text();
  } catch {
    if (signal.aborted) throw signal.reason;
    throw unreachable();
  }
}
