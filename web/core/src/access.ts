/**
 * Who is logged in changes for all tabs of a browser at once: they share one cookie. So each tells the
 * others, and streams that were opened as somebody else are opened anew.
 */

/** What happened to the login of this browser. */
export type AccessChange = "login" | "logout";

const CHANNEL = "blockwire.access";

// Within one page, too: a channel does not tell whoever speaks, but all others of the same name.
/** Tells all tabs of this origin, this one included. */
export function tellAccess(change: AccessChange): void {
  if (typeof BroadcastChannel !== "function") return;
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(change);
  channel.close();
}

/** Calls `listener` at each change until the returned function is called. */
export function onAccess(listener: (change: AccessChange) => void): () => void {
  if (typeof BroadcastChannel !== "function") return () => undefined;
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => {
    if (data === "login" || data === "logout") listener(data);
  };
  // In Node an open channel would keep the process alive.
  (channel as { unref?: () => void }).unref?.();
  return () => channel.close();
}
