import { describe, expect, test } from "vitest";
import { tellAccess } from "../src/access.ts";
import {
  ConversationFeed,
  DirectLink,
  encodeJson,
  Gateway,
  type Visibility,
} from "../src/index.ts";
import { SILENCE_MS } from "../src/reconnecting.ts";
import { STALE_MS } from "../src/stream.ts";
import { Dice } from "./dice.ts";
import { FakeGateway, refusal } from "./fakegateway.ts";
import { FakeTime, settle } from "./faketime.ts";
import { unnumbered } from "./logmodel.ts";

const ID = "conv_1";

function world(seed: string, visibility?: Visibility) {
  const dice = new Dice(seed);
  const time = new FakeTime(dice);
  const server = new FakeGateway();
  server.log(ID);
  const gateway = new Gateway({ baseUrl: "http://gateway", fetch: server.fetch, timing: time });
  const link = new DirectLink(
    gateway,
    visibility === undefined ? {} : { closesWhileHidden: true, visibility },
  );
  const open = (): ConversationFeed => new ConversationFeed(gateway, link, ID);
  const grow = (count: number): void => {
    for (let done = 0; done < count; done += 1) server.grow(ID, dice);
  };
  return { dice, time, server, gateway, open, grow };
}

function expectWhole(feed: ConversationFeed, server: FakeGateway): void {
  expect(encodeJson(feed.state.spelled())).toBe(encodeJson(server.log(ID).state.spelled()));
}

describe("a feed", () => {
  test("begins with a snapshot, is live, and goes on by number", async () => {
    const { time, server, open, grow } = world("begin");
    grow(20);
    const feed = open();
    expect(feed.status.kind).toBe("connecting");
    expect(feed.isLoaded).toBe(false);
    await time.advance(10);
    expect(feed.status).toEqual({ kind: "live" });
    expect(feed.isLoaded).toBe(true);
    expect(server.opened[0]?.query.get("snapshot")).toBe("1");
    grow(20);
    await settle();
    expectWhole(feed, server);
    feed.close();
    await settle();
    expect(server.streams).toBe(0);
  });

  test("tells its listeners once a read, after everything has its new value", async () => {
    const { time, server, open, grow } = world("once");
    const feed = open();
    await time.advance(10);
    const seen: number[] = [];
    feed.subscribe(() => seen.push(feed.state.seq));
    server.cut = () => [];
    const events = [];
    for (let count = 0; count < 30; count += 1) {
      grow(1);
      events.push(server.log(ID).events.at(-1));
    }
    server.cut = (bytes) => [bytes];
    const { frameOf } = await import("./logmodel.ts");
    server.writeAll(events.map((event) => (event ? frameOf(event) : "")).join(""));
    await settle();
    expect(seen).toEqual([server.log(ID).head]);
    expectWhole(feed, server);
  });

  test("tells all listeners, also behind one that leaves, and none that has left", async () => {
    const { time, open, grow } = world("listeners");
    const feed = open();
    await time.advance(10);
    const called: string[] = [];
    const leave = feed.subscribe(() => {
      called.push("first");
      leave();
      leaveThird();
    });
    feed.subscribe(() => called.push("second"));
    const leaveThird = feed.subscribe(() => called.push("third"));
    grow(1);
    await settle();
    grow(1);
    await settle();
    expect(called).toEqual(["first", "second", "second"]);
  });

  test.each([true, false])("goes on by its cursor after a cut (clean: %s)", async (isClean) => {
    const { time, server, open, grow } = world(`cut ${isClean}`);
    const feed = open();
    await time.advance(10);
    grow(10);
    await settle();
    server.cutAll(isClean);
    await settle();
    expect(feed.status.kind).toBe("waiting");
    expect(feed.status.error?.retryable).toBe(true);
    grow(10);
    await time.advance(2_000);
    expect(feed.status.kind).toBe("live");
    const again = server.opened.at(-1);
    expect(again?.query.get("snapshot")).toBeNull();
    expect(Number(again?.headers.get("last-event-id"))).toBeGreaterThan(0);
    expectWhole(feed, server);
  });

  test("survives any cuts inside of frames, downtime and wake-ups", async () => {
    for (const seed of ["p", "q", "r", "s"]) {
      const { dice, time, server, open, grow } = world(seed);
      server.cut = (bytes) => dice.pieces(bytes);
      server.beat(time);
      const feed = open();
      const numbers: number[] = [];
      feed.subscribe(() => numbers.push(feed.state.seq));
      for (let round = 0; round < 150; round += 1) {
        const what = dice.below(8);
        if (what === 0) server.cutAll(dice.chance(0.5));
        else if (what === 1) server.isDown = !server.isDown;
        else if (what === 2) feed.wake();
        else if (what === 3) await time.advance(dice.below(40_000));
        else if (what === 4) await settle();
        else grow(1 + dice.below(5));
      }
      server.isDown = false;
      await time.advance(60_000);
      expect(feed.status.kind).toBe("live");
      expectWhole(feed, server);
      expect(numbers).toEqual([...numbers].sort((one, other) => one - other));
      feed.close();
    }
  });

  test("drops a connection that is silent for three heartbeats", async () => {
    const { time, server, open } = world("silence");
    const feed = open();
    await time.advance(10);
    await time.advance(SILENCE_MS - 1_000);
    server.writeAll(":\n\n");
    await time.advance(SILENCE_MS - 1_000);
    expect(feed.status.kind).toBe("live");
    await time.advance(1_001);
    expect(feed.status).toMatchObject({ kind: "waiting", error: { code: "connection_silent" } });
    expect(server.streams).toBe(0);
    await time.advance(2_000);
    expect(feed.status.kind).toBe("live");
  });

  test("a wake-up ends a pause, and a connection that may have died in sleep", async () => {
    const { time, server, open } = world("wake");
    server.isDown = true;
    const feed = open();
    await time.advance(60_000);
    expect(feed.status.kind).toBe("waiting");
    server.isDown = false;
    feed.wake();
    await settle();
    expect(feed.status.kind).toBe("live");
    const { length } = server.opened;
    feed.wake();
    await settle();
    expect(server.opened).toHaveLength(length);
    await time.advance(STALE_MS + 1);
    feed.wake();
    await settle();
    expect(server.opened).toHaveLength(length + 1);
    expect(feed.status.kind).toBe("live");
  });

  test("heals a gap by a snapshot", async () => {
    const { time, server, open, grow } = world("gap");
    const feed = open();
    await time.advance(10);
    grow(4);
    await settle();
    server.cut = () => [];
    grow(3);
    server.cut = (bytes) => [bytes];
    grow(3);
    await time.advance(10);
    expect(server.opened.at(-1)?.query.get("snapshot")).toBe("1");
    expectWhole(feed, server);
  });

  test("heals an event that the state refuses, and ends where nothing fits", async () => {
    const { time, server, open, grow } = world("refused");
    const feed = open();
    await time.advance(10);
    grow(6);
    await settle();
    const bad = (): void => {
      const seq = feed.state.seq + 1;
      const text = `{"type":"content.block.completed","turn_id":"no","block_id":"b","conversation_id":"${ID}","seq":${seq},"prev_seq":${seq - 1},"ts":1}`;
      server.writeAll(`id: ${seq}\nevent: content.block.completed\ndata: ${text}\n\n`);
    };
    bad();
    await time.advance(10);
    expectWhole(feed, server);
    expect(feed.status.kind).toBe("live");
    for (let count = 0; count < 3; count += 1) {
      bad();
      await time.advance(30_000);
    }
    expect(feed.status).toMatchObject({
      kind: "refused",
      error: { code: "stream_inconsistent" },
    });
    const { length } = server.opened;
    await time.advance(600_000);
    expect(server.opened).toHaveLength(length);
    feed.wake();
    await time.advance(10);
    expect(feed.status.kind).toBe("live");
    expectWhole(feed, server);
  });

  test("takes a reset: what it had never was", async () => {
    const { dice, time, server, open, grow } = world("reset");
    const feed = open();
    await time.advance(10);
    grow(30);
    await settle();
    server.cutAll(true);
    server.logs.delete(ID);
    for (let count = 0; count < 5; count += 1) server.log(ID).grow(dice);
    await time.advance(5_000);
    expectWhole(feed, server);
    grow(5);
    await settle();
    expectWhole(feed, server);
  });

  test("ends when the conversation is deleted, also while it was away", async () => {
    for (const isLive of [true, false]) {
      const { time, server, open, grow } = world(`deleted ${isLive}`);
      const feed = open();
      grow(5);
      await time.advance(10);
      if (!isLive) server.cutAll(true);
      await settle();
      server.delete(ID);
      await time.advance(5_000);
      expect(feed.status.kind).toBe("deleted");
      const { length } = server.seen;
      feed.wake();
      await time.advance(60_000);
      expect(server.seen).toHaveLength(length);
    }
  });

  test("a refusal is an error, and no loop; a wake-up tries anew", async () => {
    const { time, server, open } = world("refusal");
    server.answers.push(() => refusal(401, "unauthorized"));
    const feed = open();
    await time.advance(600_000);
    expect(feed.status).toMatchObject({ kind: "refused", error: { code: "unauthorized" } });
    expect(server.opened).toHaveLength(1);
    feed.wake();
    await time.advance(10);
    expect(feed.status.kind).toBe("live");
  });

  test("begins anew when somebody logs in, who may see other things", async () => {
    const { time, server, open, grow } = world("login");
    grow(5);
    const feed = open();
    await time.advance(10);
    server.cutAll(true);
    server.answers.push(() => refusal(401, "unauthorized"));
    await time.advance(5_000);
    expect(feed.status.kind).toBe("refused");
    const isLive = new Promise<void>((resolve) => {
      feed.subscribe(() => {
        if (feed.status.kind === "connecting") void time.advance(10);
        if (feed.status.kind === "live") resolve();
      });
    });
    tellAccess("login");
    await isLive;
    expect(server.opened.at(-1)?.query.get("snapshot")).toBe("1");
    feed.close();
  });

  test("knows who waits in line", async () => {
    const { time, server, open, grow } = world("line");
    server.queued.set(ID, ["t_a", "t_b"]);
    const feed = open();
    await time.advance(10);
    expect(feed.queued).toEqual([
      { turnId: "t_a", position: 1 },
      { turnId: "t_b", position: 2 },
    ]);
    const tell = (members: { [name: string]: string | number }) =>
      server.tell(ID, unnumbered({ conversation_id: ID, ...members }));
    tell({ type: "turn.queued", turn_id: "t_c", position: 3 });
    tell({ type: "turn.dequeued", turn_id: "t_a", reason: "cancelled" });
    await settle();
    expect([...feed.dequeued]).toEqual([["t_a", "cancelled"]]);
    expect(feed.queued).toEqual([
      { turnId: "t_b", position: 1 },
      { turnId: "t_c", position: 2 },
    ]);
    // A restart forgets the line, and the connection after it says so.
    server.queued.clear();
    server.cutAll(true);
    grow(1);
    await time.advance(5_000);
    expect(feed.queued).toEqual([]);
  });

  test("rests while nobody sees the page, and goes on by its cursor", async () => {
    let isHidden = false;
    const listeners = new Set<() => void>();
    const visibility: Visibility = {
      isHidden: () => isHidden,
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    const { time, server, open, grow } = world("hidden", visibility);
    const feed = open();
    await time.advance(10);
    const show = (isShown: boolean): void => {
      isHidden = !isShown;
      for (const listener of listeners) listener();
    };
    show(false);
    await time.advance(100_000);
    expect(server.streams).toBe(0);
    grow(9);
    show(true);
    await time.advance(10);
    expect(server.streams).toBe(1);
    expectWhole(feed, server);
    feed.close();
    expect(listeners.size).toBe(0);
  });
});
