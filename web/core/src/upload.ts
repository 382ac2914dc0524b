/** Files on their way to the gateway, with progress. Spec: docs/spec/gateway/attachments.md. */

import { PROTOCOL_HEADER, protocolMismatch, refusal, unreachable } from "./failures.ts";
import { decoded, type Http } from "./http.ts";
import { type Attachment, readShape } from "./shapes.ts";

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
  const send = typeof XMLHttpRequest === "function" ? sendByXhr : sendByFetch(http);
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

// `fetch` tells nothing of what was sent so far.
function sendByXhr(
  url: string,
  headers: Readonly<Record<string, string>>,
  file: Blob,
  { onProgress, signal }: UploadOptions,
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const giveUp = (): void => request.abort();
    const over = (): void => signal?.removeEventListener("abort", giveUp);
    request.open("POST", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) =>
      onProgress?.(Math.min(loaded, file.size), file.size);
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
      reject(signal.reason);
      return;
    }
    signal?.addEventListener("abort", giveUp);
    request.send(file);
  });
}

function sendByFetch(http: Http) {
  return async (
    url: string,
    headers: Readonly<Record<string, string>>,
    file: Blob,
    { onProgress, signal }: UploadOptions,
  ): Promise<Sent> => {
    const path = url.slice(http.url("").length);
    const init: RequestInit = { method: "POST", headers, body: file };
    if (signal !== undefined) init.signal = signal;
    const response = await http.send(path, init);
    const text = await response.text();
    onProgress?.(file.size, file.size);
    return { status: response.status, text, header: (name) => response.headers.get(name) };
  };
}
