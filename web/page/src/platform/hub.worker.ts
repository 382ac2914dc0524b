/**
 * The SharedWorker in which the hub lives: one for all tabs of this browser, with one event stream to
 * the gateway. It holds no conversation, only cursors, and what is on its way to a tab.
 */

import {
  type FromHub,
  Gateway,
  gatewayHubIo,
  Hub,
  type HubConnection,
  onAccess,
  type ToHub,
} from "@blockwire/core";
import { isPageName } from "./pagename.ts";

interface SharedWorkerScope {
  onconnect: ((event: MessageEvent) => void) | null;
}

const hub = new Hub(gatewayHubIo(new Gateway()));

// Another login sees other things: what is open was opened with the one before.
onAccess(() => hub.restart());

(globalThis as unknown as SharedWorkerScope).onconnect = ({ ports }) => {
  const port = ports[0];
  if (port === undefined) return;
  const connection = hub.connect({ post: (message: FromHub) => port.postMessage(message) });
  port.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (isPageName(data)) leaveWithPage(data.page, connection);
    else connection.receive(data as ToHub);
  };
};

/**
 * A page holds a lock of its name as long as it lives. Whoever gets it next knows that the page is no
 * more, also when it crashed; where there are no locks, its silence tells.
 */
function leaveWithPage(name: string, connection: HubConnection): void {
  navigator.locks?.request(name, () => connection.leave()).catch(() => undefined);
}
