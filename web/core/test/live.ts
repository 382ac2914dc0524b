// A reader of a real gateway, told on its standard input what to do: a JSON object a line, each
// answered by one. tests/web/test_core_live.py speaks to it.
//
// Usage: node BUNDLE BASE_URL, where BUNDLE is what core/build/bundle.mjs makes of this file.

import {
  ConversationFeed,
  DirectLink,
  type FromHub,
  Gateway,
  gatewayHubIo,
  Hub,
  SharedLink,
  type SharedPort,
  type StreamLink,
  type ToHub,
} from "../src/index.ts";
import { encodeJson } from "../src/json.ts";
import type { Json, JsonObject } from "../src/values.ts";

interface Order {
  readonly do: "open" | "submit" | "await";
  readonly conversation: string;
  readonly content: string;
  readonly engine: string;
  readonly key: string;
  readonly seq: number;
}

interface Process {
  readonly argv: readonly string[];
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: { write(text: string): void };
  exit(code: number): void;
}

const node = (globalThis as unknown as { process: Process }).process;
const gateway = new Gateway({ baseUrl: node.argv[2] ?? "" });
const hub = new Hub(gatewayHubIo(gateway));
const feeds = new Map<string, ConversationFeed>();
const falls = new Map<string, number>();

/** A tab: its messages go through a real channel, as they do to a worker. */
function tab(): StreamLink {
  const connect = (): SharedPort => {
    const { port1, port2 } = new MessageChannel();
    const connection = hub.connect({ post: (message) => port2.postMessage(message) });
    port2.onmessage = ({ data }: MessageEvent<ToHub>) => connection.receive(data);
    return {
      post: (message) => port1.postMessage(message),
      listen: ({ onMessage }) => {
        port1.onmessage = ({ data }: MessageEvent<FromHub>) => onMessage(data);
      },
      close: () => port1.close(),
    };
  };
  const fallback = new DirectLink(gateway);
  return new SharedLink({ connect, fallback, timing: gateway.timing });
}

function watch(name: string, link: StreamLink, conversation: string): void {
  const feed = new ConversationFeed(gateway, link, conversation);
  let seq = 0;
  falls.set(name, 0);
  feed.subscribe(() => {
    if (feed.state.seq < seq) falls.set(name, (falls.get(name) ?? 0) + 1);
    ({ seq } = feed.state);
  });
  feeds.set(name, feed);
}

async function until(isSo: (feed: ConversationFeed) => boolean): Promise<void> {
  const waits = [...feeds.values()].map(
    (feed) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (isSo(feed)) resolve();
        };
        feed.subscribe(look);
        look();
      }),
  );
  await Promise.all(waits);
}

function shown(): JsonObject {
  const all: JsonObject = {};
  for (const [name, feed] of feeds) {
    const { state } = feed;
    const messages = Array.from({ length: state.count }, (_, at) => state.at(at).message as Json);
    const { kind } = feed.status;
    all[name] = { messages, seq: state.seq, status: kind, falls: falls.get(name) ?? 0 };
  }
  return { feeds: all, streams: hub.counts.streams };
}

async function perform(order: Order): Promise<JsonObject> {
  switch (order.do) {
    case "open": {
      watch("direct", new DirectLink(gateway), order.conversation);
      const first = tab();
      watch("first tab", first, order.conversation);
      watch("second tab", tab(), order.conversation);
      await until((feed) => feed.status.kind === "live");
      return shown();
    }
    case "submit": {
      const body = { content: order.content, engine: order.engine };
      const { id, status } = await gateway.submit(order.conversation, body, order.key);
      return { id, status };
    }
    case "await":
      await until((feed) => feed.status.kind === "live" && feed.state.seq >= order.seq);
      return shown();
  }
}

let rest = "";
const text = new TextDecoder();
for await (const chunk of node.stdin) {
  rest += text.decode(chunk, { stream: true });
  const lines = rest.split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const answer = await perform(JSON.parse(line) as Order);
    node.stdout.write(`${encodeJson(answer)}\n`);
  }
}
node.exit(0);
