/**
 * The SharedWorker in which the hub lives: one for all tabs of this browser, with one event stream to
 * the gateway. It holds no conversation, only cursors, and what is on its way to a tab.
 */

import { type FromHub, Gateway, gatewayHubIo, Hub, onAccess, type ToHub } from "@blockwire/core";
import { holdLifeline, isLifeline, type Lifeline, watchLifeline } from "./lifelines.ts";

interface SharedWorkerScope {
  onconnect: ((event: MessageEvent) => void) | null;
}

const hub = new Hub(gatewayHubIo(new Gateway()));

// Another login sees other things: what is open was opened with the one before.
onAccess(() => hub.restart());

const alive = new Promise<Lifeline>((resolve) => {
  holdLifeline(resolve);
});

(globalThis as unknown as SharedWorkerScope).onconnect = ({ ports }) => {
  const port = ports[0];
  if (port === undefined) return;
  const connection = hub.connect({ post: (message: FromHub) => port.postMessage(message) });
  port.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (!isLifeline(data)) connection.receive(data as ToHub);
    else watchLifeline(data, new AbortController().signal, () => connection.leave());
  };
  void alive.then((word) => port.postMessage(word));
};
