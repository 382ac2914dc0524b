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
import type { PageName } from "./pagename.ts";
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
  const releaseLock = holdLock((page) => port.postMessage({ page } satisfies PageName));
  return {
    post: (message) => port.postMessage(message),
    listen: (onMessage, onFailure) => {
      worker.onerror = onFailure;
      // This also begins to deliver.
      port.onmessage = ({ data }: MessageEvent<FromHub>) => onMessage(data);
    },
    close: () => {
      releaseLock();
      port.close();
    },
  };
}

/** Holds a lock of a fresh name until the returned function is called, or the page is no more. */
function holdLock(onHeld: (name: string) => void): () => void {
  if (navigator.locks === undefined) return () => undefined;
  const name = `blockwire.page.${crypto.randomUUID()}`;
  let release: () => void = () => undefined;
  let isOver = false;
  navigator.locks
    .request(name, () => {
      if (isOver) return undefined;
      onHeld(name);
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    })
    .catch(() => undefined);
  return () => {
    isOver = true;
    release();
  };
}
