import { expect, test } from "vitest";
import { ConversationFeed, encodeJson, Gateway } from "../src/index.ts";
import type { LinkHandle, LinkHandler, StreamLink } from "../src/link.ts";
import { SseDecoder } from "../src/sse.ts";
import { StreamDriver } from "../src/stream.ts";
import { Subscription } from "../src/subscription.ts";
import { connectByTicket, type EventSourceLike, QUIET_MS } from "../src/ticket.ts";
import { Dice } from "./dice.ts";
import { FakeGateway, json } from "./fakegateway.ts";
import { FakeTime, settle } from "./faketime.ts";

const ID = "conv_1";

/** An EventSource over the fake gateway: no headers, no heartbeats, no answer's status. */
class FakeSource implements EventSourceLike {
  onopen: ((event: Event) => unknown) | null = null;
  onerror: ((event: Event) => unknown) | null = null;
  readonly #listeners = new Map<string, (event: MessageEvent<string>) => void>();
  readonly #abort = new AbortController();

  constructor(server: FakeGateway, url: string) {
    void this.#run(server, url).catch(() => undefined);
  }

  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void {
    this.#listeners.set(type, listener);
  }

  close(): void {
    this.#abort.abort();
  }

  async #run(server: FakeGateway, url: string): Promise<void> {
    try {
      const response = await server.fetch(url, { signal: this.#abort.signal });
      if (response.status !== 200 || response.body === null) throw new Error("refused");
      this.onopen?.(new Event("open"));
      const decoder = new SseDecoder();
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) throw new Error("ended");
        for (const { type, data, lastEventId } of decoder.receiveData(value)) {
          const message = { data: data ?? "", lastEventId } as MessageEvent<string>;
          this.#listeners.get(type)?.(message);
        }
      }
    } catch {
      if (!this.#abort.signal.aborted) this.onerror?.(new Event("error"));
    }
  }
}

function world(seed: string) {
  const dice = new Dice(seed);
  const time = new FakeTime(dice);
  const server = new FakeGateway();
  server.log(ID);
  let ticketCount = 0;
  const urls: URL[] = [];
  const fetchWithTickets: typeof fetch = async (input, init) => {
    if (!String(input).endsWith("/tickets")) return server.fetch(input, init);
    if (server.isDown) throw new TypeError("down");
    ticketCount += 1;
    return json({ ticket: `bwt_${ticketCount}`, expires_at: 1 }, { status: 201 });
  };
  const gateway = new Gateway({ baseUrl: "http://gateway", fetch: fetchWithTickets, timing: time });
  const link: StreamLink = {
    open(conversationId: string, cursor: number | null, handler: LinkHandler): LinkHandle {
      const source = new Subscription({ conversationId, cursor, random: dice.next });
      const connect = connectByTicket(gateway, conversationId, (url) => {
        urls.push(new URL(url));
        return new FakeSource(server, url);
      });
      const driver = new StreamDriver(source, connect, time, {
        onItems: (events) => handler.onEvents(events),
        onStatus: (status) => handler.onStatus(status),
      });
      time.schedule(0, () => driver.start());
      return {
        cursor: () => source.cursor,
        resync: (code) => driver.perform(source.refuse(code)),
        wake: () => driver.wake(),
        close: () => driver.close(),
      };
    },
  };
  const feed = new ConversationFeed(gateway, link, ID);
  const grow = (count: number): void => {
    for (let done = 0; done < count; done += 1) server.grow(ID, dice);
  };
  const expectWhole = (): void => {
    expect(encodeJson(feed.state.spelled())).toBe(encodeJson(server.log(ID).state.spelled()));
  };
  return { dice, time, server, feed, urls, grow, expectWhole };
}

test("each connection takes a new ticket, and goes on behind the last event", async () => {
  const { time, server, feed, urls, grow, expectWhole } = world("ticket");
  grow(5);
  await time.advance(10);
  expect(feed.status.kind).toBe("live");
  expectWhole();
  expect(urls[0]?.searchParams.get("snapshot")).toBe("1");
  for (let round = 0; round < 5; round += 1) {
    grow(4);
    await time.advance(40_000);
    const { seq } = feed.state;
    const { length } = urls;
    server.cutAll(true);
    grow(4);
    await time.advance(40_000);
    expectWhole();
    expect(urls[length]?.searchParams.get("after")).toBe(String(seq));
  }
  const tickets = urls.map(({ searchParams }) => searchParams.get("ticket"));
  expect(tickets).toEqual(urls.map((_, at) => `bwt_${at + 1}`));
  feed.close();
  await settle();
  expect(server.streams).toBe(0);
});

test("a stream that was quiet for long is opened anew, one that is heard of is not", async () => {
  const { time, feed, urls, grow, expectWhole } = world("quiet");
  await time.advance(10);
  for (let round = 0; round < 4; round += 1) {
    await time.advance(QUIET_MS - 20_000);
    grow(1);
    await settle();
  }
  expect(urls).toHaveLength(1);
  await time.advance(QUIET_MS + 20_000);
  expect(urls).toHaveLength(2);
  expect(feed.status.kind).toBe("live");
  expectWhole();
});

test("survives cuts and downtime", async () => {
  const { dice, time, server, feed, grow, expectWhole } = world("random");
  server.cut = (bytes) => dice.pieces(bytes);
  for (let round = 0; round < 150; round += 1) {
    const what = dice.below(6);
    if (what === 0) server.cutAll(dice.chance(0.5));
    else if (what === 1) server.isDown = dice.chance(0.3);
    else if (what === 2) await time.advance(dice.below(20_000));
    else if (what === 3) await settle();
    else grow(1 + dice.below(4));
  }
  server.isDown = false;
  feed.wake();
  await time.advance(60_000);
  expect(feed.status.kind).toBe("live");
  expectWhole();
});
