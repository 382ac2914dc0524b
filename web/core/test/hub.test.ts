import { describe, expect, test } from "vitest";
import { PORT_SILENCE_MS } from "../src/hub.ts";
import { IDLE_MS } from "../src/hubchannels.ts";
import type { FromHub, ToHub } from "../src/hubmessages.ts";
import {
  ConversationFeed,
  DirectLink,
  decodeEvent,
  decodeJson,
  encodeJson,
  Gateway,
  gatewayHubIo,
  Hub,
  type HubConnection,
  SharedLink,
  type SharedPort,
} from "../src/index.ts";
import { PING_MS, WELCOME_MS } from "../src/sharedlink.ts";
import { judge } from "../src/subscription.ts";
import { Dice } from "./dice.ts";
import { FakeGateway, refusal } from "./fakegateway.ts";
import { FakeTime, settle } from "./faketime.ts";

/** A browser: one worker with a hub, and tabs. */
class Browser {
  readonly dice: Dice;
  readonly time: FakeTime;
  readonly server = new FakeGateway();
  readonly gateway: Gateway;
  hub: Hub;
  /** The worker takes messages. */
  isAlive = true;
  readonly connections: HubConnection[] = [];
  /** Each tells a tab that its worker is no more. */
  readonly losses: (() => void)[] = [];
  /** Events that the hub sent twice, or too early. */
  readonly mistakes: string[] = [];

  constructor(seed: string) {
    this.dice = new Dice(seed);
    this.time = new FakeTime(this.dice);
    const { fetch } = this.server;
    this.gateway = new Gateway({ baseUrl: "http://gateway", fetch, timing: this.time });
    this.hub = new Hub(gatewayHubIo(this.gateway));
    this.server.beat(this.time);
  }

  link(): SharedLink {
    return new SharedLink({
      connect: () => this.#connect(),
      fallback: new DirectLink(this.gateway),
      timing: this.time,
    });
  }

  feed(link: SharedLink, id: string): ConversationFeed {
    return new ConversationFeed(this.gateway, link, id);
  }

  grow(id: string, count = 1): void {
    for (let done = 0; done < count; done += 1) this.server.grow(id, this.dice);
  }

  expectWhole(feed: ConversationFeed): void {
    expect(this.mistakes).toEqual([]);
    const { state } = this.server.log(feed.conversationId);
    expect(encodeJson(feed.state.spelled())).toBe(encodeJson(state.spelled()));
  }

  /** A tab would heal it, but a hub sends each event once, in order, and leaves none out. */
  #check(texts: readonly string[], key: number, cursors: Map<number, number | null>): void {
    for (const text of texts) {
      const event = decodeEvent(decodeJson(text));
      const verdict = judge(event, cursors.get(key) ?? null);
      if (verdict === "seen" || verdict === "gap") this.mistakes.push(`${verdict}: ${text}`);
      if (verdict !== "unnumbered") cursors.set(key, event.seq ?? 0);
    }
  }

  // As a MessagePort does: copies, later, in order, and nothing once it is closed.
  #connect(): SharedPort {
    let onMessage: ((message: FromHub) => void) | null = null;
    let isOpen = true;
    const cursors = new Map<number, number | null>();
    const connection = this.hub.connect({
      post: (message) => {
        if (message.op === "events") this.#check(message.texts, message.key, cursors);
        const copy = structuredClone(message);
        queueMicrotask(() => {
          if (isOpen) onMessage?.(copy);
        });
      },
    });
    this.connections.push(connection);
    return {
      post: (message: ToHub) => {
        if (message.op === "open") cursors.set(message.key, message.cursor);
        const copy = structuredClone(message);
        if (isOpen) {
          queueMicrotask(() => {
            if (this.isAlive) connection.receive(copy);
          });
        }
      },
      listen: (listener) => {
        onMessage = (message) => listener.onMessage(message);
        this.losses.push(() => listener.onLost());
      },
      close: () => {
        isOpen = false;
      },
    };
  }
}

function browser(seed: string, ...ids: string[]): Browser {
  const made = new Browser(seed);
  for (const id of ids) made.server.log(id);
  return made;
}

describe("tabs of one browser", () => {
  test("share one stream, whatever they look at", async () => {
    const all = browser("share", "a", "b");
    all.grow("a", 12);
    const [one, two] = [all.link(), all.link()];
    const feeds = [all.feed(one, "a"), all.feed(two, "a"), all.feed(two, "b")];
    await all.time.advance(100);
    all.grow("a", 5);
    all.grow("b", 5);
    await settle();
    expect(all.server.streams).toBe(1);
    expect(all.hub.counts).toEqual({ pages: 2, channels: 2, streams: 1 });
    for (const feed of feeds) {
      expect(feed.status.kind).toBe("live");
      all.expectWhole(feed);
    }
  });

  test("a tab that comes later gets what it lacks, and the others nothing twice", async () => {
    const all = browser("late", "a");
    all.grow("a", 30);
    const first = all.feed(all.link(), "a");
    await all.time.advance(100);
    const numbers: number[] = [];
    first.subscribe(() => numbers.push(first.state.seq));
    const { length } = all.server.opened;
    const second = all.feed(all.link(), "a");
    all.grow("a", 2);
    await settle();
    all.grow("a", 2);
    await all.time.advance(100);
    for (const feed of [first, second]) all.expectWhole(feed);
    expect(all.server.opened).toHaveLength(length);
    expect(numbers).toEqual([...new Set(numbers)]);
  });

  test("what comes while a tab catches up is kept for it", async () => {
    const all = browser("kept", "a");
    all.grow("a", 30);
    const first = all.feed(all.link(), "a");
    await all.time.advance(100);
    all.server.onTheWay = () => new Promise((done) => all.time.schedule(1_000, () => done()));
    const second = all.feed(all.link(), "a");
    await all.time.advance(500);
    all.grow("a", 7);
    await settle();
    all.expectWhole(first);
    expect(second.isLoaded).toBe(false);
    await all.time.advance(1_000);
    all.expectWhole(second);
  });

  test("a page that was made before the stream began, and comes after that, is not the last", async () => {
    const all = browser("behind", "a");
    all.grow("a", 3);
    // The next answer is long on its way, those after it are not.
    all.server.onTheWay = () => {
      all.server.onTheWay = () => Promise.resolve();
      return new Promise((done) => all.time.schedule(2_000, () => done()));
    };
    const slow = all.feed(all.link(), "a");
    await all.time.advance(500);
    all.grow("a", 7);
    const quick = all.feed(all.link(), "a");
    await all.time.advance(500);
    expect([quick.status.kind, slow.isLoaded]).toEqual(["live", false]);
    await all.time.advance(2_000);
    // Nothing was committed since: what it lacks comes by no stream.
    expect(slow.status.kind).toBe("live");
    for (const feed of [quick, slow]) all.expectWhole(feed);
  });

  test("another conversation opens the stream anew, with each one's cursor", async () => {
    const all = browser("anew", "a", "b");
    const link = all.link();
    const first = all.feed(link, "a");
    await all.time.advance(100);
    all.grow("a", 10);
    all.grow("b", 10);
    await settle();
    const kinds: string[] = [];
    first.subscribe(() => kinds.push(first.status.kind));
    const second = all.feed(link, "b");
    await all.time.advance(100);
    const list = all.server.opened.at(-1)?.query.get("conversations");
    expect(list).toBe(`a:${all.server.log("a").head},b:${all.server.log("b").head}`);
    all.grow("a", 3);
    all.grow("b", 3);
    await settle();
    for (const feed of [first, second]) all.expectWhole(feed);
    // It is no news for the first one.
    expect([...new Set(kinds)]).toEqual(["live"]);
  });

  test("what nobody looks at leaves the stream after a while, and the last one closes it", async () => {
    const all = browser("idle", "a", "b");
    const link = all.link();
    const [first, second] = [all.feed(link, "a"), all.feed(link, "b")];
    await all.time.advance(100);
    second.close();
    await all.time.advance(IDLE_MS + 10);
    expect(all.hub.counts).toEqual({ pages: 1, channels: 1, streams: 1 });
    all.grow("b", 3);
    all.grow("a", 3);
    await settle();
    all.expectWhole(first);
    first.close();
    await all.time.advance(IDLE_MS + 10);
    expect(all.hub.counts).toEqual({ pages: 1, channels: 0, streams: 0 });
    expect(all.server.streams).toBe(0);
  });

  test("a page that crashed is noticed by its silence, one that says so at once", async () => {
    const all = browser("crash", "a");
    const [one, two] = [all.link(), all.link()];
    const [first, second] = [all.feed(one, "a"), all.feed(two, "a")];
    await all.time.advance(100);
    two.suspend();
    await settle();
    expect(all.hub.counts.pages).toBe(1);
    all.grow("a", 4);
    await settle();
    two.resume();
    await all.time.advance(100);
    expect(all.hub.counts.pages).toBe(2);
    for (const feed of [first, second]) all.expectWhole(feed);
    all.hub.connect({ post: () => undefined }).receive({ op: "hello" });
    expect(all.hub.counts.pages).toBe(3);
    await all.time.advance(PORT_SILENCE_MS + 60_000);
    expect(all.hub.counts.pages).toBe(2);
  });

  test("a page that was taken for dead begins anew by its cursor", async () => {
    const all = browser("frozen", "a");
    const feed = all.feed(all.link(), "a");
    await all.time.advance(100);
    all.grow("a", 5);
    await settle();
    all.connections[0]?.leave();
    all.grow("a", 5);
    await all.time.advance(PING_MS + 100);
    expect(feed.status.kind).toBe("live");
    all.expectWhole(feed);
  });

  test("a worker that was ended is made anew", async () => {
    const all = browser("worker", "a");
    const feed = all.feed(all.link(), "a");
    await all.time.advance(100);
    all.hub = new Hub(gatewayHubIo(all.gateway));
    all.isAlive = false;
    all.server.cutAll(true);
    const reborn = all.time.schedule(3 * PING_MS - 1, () => {
      all.isAlive = true;
    });
    all.grow("a", 5);
    await all.time.advance(3 * PING_MS + 100);
    reborn();
    expect(feed.status.kind).toBe("live");
    all.expectWhole(feed);
  });

  test("a worker that crashed is made anew at once, and given up when each one crashes", async () => {
    const all = browser("crashed", "a");
    const link = all.link();
    const feed = all.feed(link, "a");
    await all.time.advance(100);
    const crash = async (): Promise<void> => {
      all.hub = new Hub(gatewayHubIo(all.gateway));
      all.connections.at(-1)?.receive({ op: "leave" });
      all.losses.at(-1)?.();
      all.grow("a", 3);
      await all.time.advance(100);
      expect(feed.status.kind).toBe("live");
      all.expectWhole(feed);
    };
    for (let count = 0; count < 5; count += 1) {
      await crash();
      await all.time.advance(PING_MS);
    }
    expect(link.hasFallenBack).toBe(false);
    for (let count = 0; count < 4; count += 1) await crash();
    expect(link.hasFallenBack).toBe(true);
    // Who is told late by a port of before does nothing.
    all.losses[0]?.();
    await all.time.advance(100);
    all.expectWhole(feed);
  });

  test("without an answer of the worker each reads by itself", async () => {
    const all = browser("fallback", "a");
    all.isAlive = false;
    const link = all.link();
    const feed = all.feed(link, "a");
    await all.time.advance(WELCOME_MS + 100);
    expect(link.hasFallenBack).toBe(true);
    all.grow("a", 5);
    await settle();
    all.expectWhole(feed);
    const other = all.feed(link, "a");
    await all.time.advance(100);
    all.expectWhole(other);
    feed.close();
    other.close();
    await settle();
    expect(all.server.streams).toBe(0);
  });

  test("a deleted conversation leaves the others on the stream", async () => {
    for (const isLive of [true, false]) {
      const all = browser(`deleted ${isLive}`, "a", "b", "c");
      const link = all.link();
      const feeds = ["a", "b", "c"].map((id) => all.feed(link, id));
      await all.time.advance(100);
      if (!isLive) all.server.cutAll(false);
      await settle();
      all.server.delete("b");
      await all.time.advance(10_000);
      all.grow("a", 3);
      all.grow("c", 3);
      await settle();
      expect(feeds.map(({ status }) => status.kind)).toEqual(["live", "deleted", "live"]);
      all.expectWhole(feeds[0] as ConversationFeed);
      all.expectWhole(feeds[2] as ConversationFeed);
    }
  });

  test("one that never was is an error for who asked, and for nobody else", async () => {
    const all = browser("unknown", "a");
    const link = all.link();
    const [known, unknown] = [all.feed(link, "a"), all.feed(link, "x")];
    await all.time.advance(1_000);
    expect(known.status.kind).toBe("live");
    expect(unknown.status).toMatchObject({ error: { code: "conversation_not_found" } });
  });

  test("a refusal of the stream is told to all, and a wake-up tries anew", async () => {
    const all = browser("refused", "a", "b");
    const link = all.link();
    const feeds = [all.feed(link, "a"), all.feed(link, "b")];
    await all.time.advance(100);
    all.server.cutAll(true);
    all.server.answers.push(() => refusal(401, "unauthorized"));
    await all.time.advance(5_000);
    for (const feed of feeds) {
      expect(feed.status).toMatchObject({ kind: "refused", error: { code: "unauthorized" } });
    }
    for (const feed of feeds) feed.wake();
    all.grow("a", 2);
    all.grow("b", 2);
    await all.time.advance(100);
    for (const feed of feeds) {
      expect(feed.status.kind).toBe("live");
      all.expectWhole(feed);
    }
  });

  test("more conversations than a stream takes get another, and beyond that one each", async () => {
    const ids = Array.from({ length: 130 }, (_, at) => `c${at}`);
    const all = browser("many", ...ids);
    const link = all.link();
    const feeds = ids.map((id) => all.feed(link, id));
    await all.time.advance(1_000);
    expect(all.hub.counts.streams).toBe(2);
    expect(all.hub.counts.channels).toBe(128);
    expect(all.server.streams).toBe(4);
    for (const id of ids) all.grow(id, 2);
    await settle();
    for (const feed of feeds) all.expectWhole(feed);
  });

  test("an id that no list can name is read by itself", async () => {
    const all = browser("colon", "a:b,c");
    const feed = all.feed(all.link(), "a:b,c");
    await all.time.advance(100);
    all.grow("a:b,c", 3);
    await settle();
    all.expectWhole(feed);
    expect(all.hub.counts.streams).toBe(0);
  });

  test("a gateway that takes fewer at once is asked one by one", async () => {
    const all = browser("few", "a", "b");
    const link = all.link();
    const first = all.feed(link, "a");
    await all.time.advance(100);
    all.server.conversationsMax = 1;
    const second = all.feed(link, "b");
    await all.time.advance(10_000);
    all.grow("a", 2);
    all.grow("b", 2);
    await settle();
    for (const feed of [first, second]) {
      expect(feed.status.kind).toBe("live");
      all.expectWhole(feed);
    }
    expect(all.hub.counts.streams).toBe(0);
    expect(all.server.streams).toBe(2);
  });
});

describe("what does not fit", () => {
  test("is healed for that conversation, and the others are left alone", async () => {
    const all = browser("lost", "a", "b");
    const link = all.link();
    const [first, second] = [all.feed(link, "a"), all.feed(link, "b")];
    await all.time.advance(100);
    all.grow("a", 3);
    all.grow("b", 3);
    await settle();
    const label = `a:${all.server.log("a").head + 1},b:${all.server.log("b").head}`;
    for (const data of ["{", `{"type":"x.y","conversation_id":"a","seq":999,"prev_seq":998}`]) {
      all.server.writeAll(`id: ${label}\nevent: x\ndata: ${data}\n\n`);
      await all.time.advance(5_000);
      all.grow("a", 2);
      all.grow("b", 2);
      await settle();
      for (const feed of [first, second]) {
        expect(feed.status.kind).toBe("live");
        all.expectWhole(feed);
      }
    }
  });

  test("takes a reset, live and for one who comes with a number of before", async () => {
    const all = browser("reset", "a");
    const [one, two] = [all.link(), all.link()];
    const first = all.feed(one, "a");
    const second = all.feed(two, "a");
    await all.time.advance(100);
    all.grow("a", 20);
    await settle();
    two.suspend();
    all.server.cutAll(true);
    all.server.logs.delete("a");
    for (let count = 0; count < 4; count += 1) all.server.log("a").grow(all.dice);
    await all.time.advance(5_000);
    all.expectWhole(first);
    two.resume();
    await all.time.advance(100);
    all.grow("a", 4);
    await settle();
    for (const feed of [first, second]) all.expectWhole(feed);
  });
});

test.each(["1", "2", "3", "4", "5", "6"])(
  "tabs that come and go at random end equal to one who read everything (%s)",
  async (seed) => {
    const ids = ["a", "b", "c"];
    const all = browser(seed, ...ids);
    const { dice, server, time } = all;
    server.cut = (bytes) => dice.pieces(bytes);
    server.onTheWay = () =>
      new Promise((done) => time.schedule(dice.below(4) * 5_000, () => done()));
    const links = [all.link(), all.link(), all.link()];
    const feeds = new Map<ConversationFeed, number[]>();
    for (let round = 0; round < 250; round += 1) {
      const what = dice.below(14);
      if (what === 0) server.cutAll(dice.chance(0.5));
      else if (what === 1) server.isDown = dice.chance(0.3);
      else if (what === 2) dice.pick(links).suspend();
      else if (what === 3) for (const link of links) link.resume();
      else if (what === 4) all.connections[dice.below(all.connections.length)]?.leave();
      else if (what === 5) await time.advance(dice.below(40_000));
      else if (what === 6) all.hub.restart();
      else if (what === 7 && feeds.size > 0) {
        const feed = dice.pick([...feeds.keys()]);
        feeds.delete(feed);
        feed.close();
      } else if (what === 8 && feeds.size < 8) {
        const feed = all.feed(dice.pick(links), dice.pick(ids));
        const numbers: number[] = [];
        feeds.set(feed, numbers);
        feed.subscribe(() => numbers.push(feed.state.seq));
      } else if (what === 9) for (const feed of feeds.keys()) feed.wake();
      else if (what < 12) await time.advance(dice.below(3_000));
      else all.grow(dice.pick(ids), 1 + dice.below(6));
    }
    server.isDown = false;
    for (const link of links) link.resume();
    await time.advance(120_000);
    for (const [feed, numbers] of feeds) {
      expect(feed.status.kind).toBe("live");
      all.expectWhole(feed);
      expect(numbers).toEqual([...numbers].sort((one, other) => one - other));
    }
    expect(server.streams).toBeLessThanOrEqual(1);
  },
);
