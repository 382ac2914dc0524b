/** How calls of the gateway are made: their paths, their views, their keys. Spec: docs/spec/gateway/routes.md. */

import { type CallOptions, Http, type HttpOptions, type Query } from "./http.ts";
import { readShape, type Turn } from "./shapes.ts";
import type { Json, JsonObject } from "./values.ts";

/** Makes calls in one view. */
export class Calls {
  readonly http: Http;
  /** The view that is asked for; undefined for the most that the caller may see. */
  readonly view: "public" | undefined;

  constructor(options: HttpOptions, view: "public" | undefined) {
    this.http = new Http(options);
    this.view = view;
  }

  /** Reads a route that knows views. */
  async get(path: string, query: Query = {}, more: CallOptions = {}): Promise<Json> {
    return this.getPlain(path, { ...query, view: this.view }, more);
  }

  /** Reads a route that is the same in every view. */
  async getPlain(path: string, query: Query = {}, more: CallOptions = {}): Promise<Json> {
    return (await this.http.call("GET", path, { ...more, query })).value;
  }

  /** Asks for something that may not be repeated. */
  async post(path: string, body?: object): Promise<Json> {
    return (await this.http.call("POST", path, bodyOf(body))).value;
  }

  /** Changes something. */
  async patch(path: string, body: object): Promise<Json> {
    return (await this.http.call("PATCH", path, bodyOf(body))).value;
  }

  /** Takes something away. */
  async delete(path: string): Promise<void> {
    await this.http.call("DELETE", path);
  }

  /** Starts a turn; under its key it may be repeated. */
  async start(path: string, body: object, idempotencyKey: string): Promise<Turn> {
    const headers = { "idempotency-key": idempotencyKey };
    const options = { ...bodyOf(body), headers, isRepeatable: true };
    return readShape("turn", (await this.http.call("POST", path, options)).value);
  }
}

/** Returns the path of a conversation. */
export function conversationPath(id: string): string {
  return `/v1/conversations/${encodeURIComponent(id)}`;
}

/** Returns the path of a turn. */
export function turnPath(id: string, turnId: string): string {
  return `${conversationPath(id)}/turns/${encodeURIComponent(turnId)}`;
}

/** Returns the path of a file. */
export function attachmentPath(id: string): string {
  return `/v1/attachments/${encodeURIComponent(id)}`;
}

/** Returns a fresh idempotency key: no counter that begins anew could ever repeat one. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `key_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function bodyOf(body: object | undefined): CallOptions {
  return body === undefined ? {} : { body: body as JsonObject };
}
