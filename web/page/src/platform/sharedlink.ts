/**
 * The way from this page to the hub in the SharedWorker, and what the page does when it is hidden in
 * the cache of the browser's history and comes back.
 */

import {
  canStreamFetch,
  createOwnLink,
  type FromHub,
  type Gateway,
  SharedLink,
  type SharedPort,
} from "@blockwire/core";
import workerUrl from "./hub.worker.ts?worker&url";
import { holdLifeline, isLifeline, watchLifeline } from "./lifelines.ts";
import { trustedScriptUrl } from "./trustedtypes.ts";

/**
 * Returns the link of this page: through the worker, or where there is none a stream for each
 * conversation, which rests while nobody sees the page.
 */
export function createSharedLink(gateway: Gateway): SharedLink {
  const link = new SharedLink({
    connect: connectWorker,
    fallback: createOwnLink(gateway, { closesWhileHidden: true }),
    timing: gateway.timing,
  });
  addEventListener("pagehide", () => link.suspend());
  addEventListener("pageshow", () => link.resume());
  return link;
}

function connectWorker(): SharedPort | null {
  if (typeof SharedWorker !== "function" || !canStreamFetch()) return null;
  let worker: SharedWorker;
  try {
    // The address is part of the name: tabs of before and after an update have a worker each.
    const name = `blockwire ${workerUrl}`;
    worker = new SharedWorker(trustedScriptUrl(workerUrl), { type: "module", name });
  } catch {
    // Forbidden here, by a setting of the browser.
    return null;
  }
  const { port } = worker;
  const releaseLifeline = holdLifeline((word) => port.postMessage(word));
  const closing = new AbortController();
  return {
    post: (message) => port.postMessage(message),
    listen: ({ onMessage, onFailure, onLost }) => {
      worker.onerror = onFailure;
      // This also begins to deliver.
      port.onmessage = ({ data }: MessageEvent<unknown>) => {
        if (isLifeline(data)) watchLifeline(data, closing.signal, onLost);
        else onMessage(data as FromHub);
      };
    },
    close: () => {
      closing.abort();
      releaseLifeline();
      port.close();
    },
  };
}
