/**
 * The I/O edge: how bytes and events come from a gateway, and when a page is looked at.
 *
 * Everything here is handed in elsewhere, so that tests bring their own.
 */

import { REFUSAL_BYTES_MAX, type StreamAnswer } from "./stream.ts";

/** Returns whether `fetch` gives bodies out while they come. */
export function canStreamFetch(): boolean {
  return (
    typeof ReadableStream === "function" &&
    typeof Response === "function" &&
    "body" in Response.prototype
  );
}

/** Returns the answer of a fetched stream; reads the beginning of a body that is none. */
export async function streamAnswer(response: Response): Promise<StreamAnswer> {
  const isStream = response.status === 200;
  return {
    status: response.status,
    header: (name) => response.headers.get(name),
    body: isStream || response.body === null ? "" : await beginning(response.body),
    chunks: isStream && response.body !== null ? chunksOf(response.body) : nothing(),
  };
}

/** Yields the bytes of a body as they come, and cancels it when nobody wants more. */
export async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  // Not every browser iterates over streams.
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Harmless at the end; a body that failed says so again, to nobody.
    reader.cancel().catch(() => undefined);
  }
}

async function beginning(body: ReadableStream<Uint8Array>): Promise<string> {
  const text = new TextDecoder();
  let read = "";
  let byteCount = 0;
  for await (const chunk of chunksOf(body)) {
    byteCount += chunk.length;
    read += text.decode(chunk, { stream: true });
    if (byteCount > REFUSAL_BYTES_MAX) break;
  }
  return read;
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // A refusal has no stream.
}

/** Whether somebody can see the page, and when that changes. */
export interface Visibility {
  isHidden(): boolean;
  /** Calls `listener` at each change until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** The visibility of this document; where there is none, always seen. */
export function documentVisibility(): Visibility {
  const page = (globalThis as { document?: Document }).document;
  if (page === undefined) return { isHidden: () => false, onChange: () => () => undefined };
  return {
    isHidden: () => page.visibilityState === "hidden",
    onChange: (listener) => {
      page.addEventListener("visibilitychange", listener);
      return () => page.removeEventListener("visibilitychange", listener);
    },
  };
}
