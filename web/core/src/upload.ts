/** Files on their way to the gateway, with progress. Spec: docs/spec/gateway/attachments.md. */

import { PROTOCOL_HEADER, protocolMismatch, refusal, unreachable } from "./failures.ts";
import { decoded, type Http } from "./http.ts";
import { type Attachment, readShape } from "./shapes.ts";
import type { Timing } from "./timing.ts";

/** An upload of which nothing was heard for so long has lost its way, in milliseconds. */
export const UPLOAD_SILENCE_MS = 60_000;

/** How an upload is watched and given up. */
export interface UploadOptions {
  /** Called with bytes sent and bytes in all. */
  readonly onProgress?: ((sentBytes: number, totalBytes: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends one file and returns what the gateway knows of it.
 *
 * @throws GatewayError; the signal's reason when the caller gave up.
 */
export async function uploadFile(
  http: Http,
  path: string,
  file: Blob,
  name: string,
  options: UploadOptions,
): Promise<Attachment> {
  const headers = http.headers({
    accept: "application/json",
    "content-type": file.type || "application/octet-stream",
  });
  const send = typeof XMLHttpRequest === "function" ? sendByXhr(http.timing) : sendByFetch(http);
  const url = http.url(path, { name });
  const answer = await send(url, headers, file, options);
  const mismatch = protocolMismatch(answer.header(PROTOCOL_HEADER));
  if (mismatch !== null) throw mismatch;
  if (answer.status !== 201) {
    throw refusal(answer.status, answer.header, answer.text, http.timing.nowMs());
  }
  return readShape("attachment", decoded(answer.text, answer.status));
}

interface Sent {
  readonly status: number;
  readonly text: string;
  header(name: string): string | null;
}

type Send = (
  url: string,
  headers: Readonly<Record<string, string>>,
  file: Blob,
  options: UploadOptions,
) => Promise<Sent>;

// `fetch` tells nothing of what was sent so far.
const sendByXhr: (timing: Timing) => Send = (timing) => (url, headers, file, options) => {
  const { onProgress, signal } = options;
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const giveUp = (): void => request.abort();
    // A browser waits for an answer as long as the connection stands, which is for ever.
    const listen = (): (() => void) => timing.schedule(UPLOAD_SILENCE_MS, giveUp);
    let stopListening = listen();
    const over = (): void => {
      stopListening();
      signal?.removeEventListener("abort", giveUp);
    };
    request.open("POST", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => {
      stopListening();
      stopListening = listen();
      onProgress?.(Math.min(loaded, file.size), file.size);
    };
    request.onload = () => {
      over();
      const header = (name: string): string | null => request.getResponseHeader(name);
      resolve({ status: request.status, text: request.responseText, header });
    };
    request.onerror = () => {
      over();
      reject(unreachable());
    };
    request.onabort = () => {
      over();
      reject(signal?.reason ?? unreachable());
    };
    if (signal?.aborted) {
      over();
      reject(signal.reason);
      return;
    }
    signal?.addEventListener("abort", giveUp);
    request.send(file);
  });
};

function sendByFetch(http: Http): Send {
  return async (url, headers, file, { onProgress, signal }) => {
    const path = url.slice(http.url("").length);
    const init: RequestInit = { method: "POST", headers, body: file };
    if (signal !== undefined) init.signal = signal;
    const response = await http.send(path, init);
    const text = await response.text();
    onProgress?.(file.size, file.size);
    return { status: response.status, text, header: (name) => response.headers.get(name) };
  };
}
