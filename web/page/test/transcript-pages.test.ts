import { apply, decodeEvent, emptyState, type Json, messageState } from "@blockwire/core";
import { describe, expect, it } from "vitest";
import {
  KEPT_MESSAGES_MAX,
  KEPT_PAGES_MAX,
  PAGE_MESSAGES,
  type PagePlace,
  Pages,
} from "../src/transcript/pages.ts";
import { RowList } from "../src/transcript/rowlist.ts";

function message(at: number): Json {
  return {
    id: `m_${at}`,
    role: "user",
    status: "completed",
    content: [{ id: "b1", type: "prose", markdown: `Message ${at}` }],
    created_at: 1_740_000_000_000 + at,
  } as unknown as Json;
}

/** A gateway with messages 0 to `count`-1, whose cursors are their numbers. */
class Source {
  asked: PagePlace[] = [];
  fails = 0;
  count: number;
  constructor(count: number) {
    this.count = count;
  }

  async messages(_id: string, options: PagePlace & { limit: number; max_bytes: number }) {
    const { limit, max_bytes: _bytes, ...place } = options;
    this.asked.push(place);
    if (this.fails > 0) {
      this.fails -= 1;
      throw new Error("unreachable");
    }
    if ("before" in place) {
      const end = Number(place.before);
      const begin = Math.max(0, end - limit);
      return this.#page(begin, end, begin > 0 ? begin : null, end - 1);
    }
    if ("after" in place) {
      const begin = place.after === "0" ? 0 : Number(place.after) + 1;
      const end = Math.min(this.count, begin + limit);
      return this.#page(begin, end, end < this.count ? end - 1 : null, begin);
    }
    const at = Number(place.around.slice(2));
    if (at >= this.count) throw new Error("message_not_found");
    const begin = Math.max(0, at - limit / 2);
    const end = Math.min(this.count, begin + limit);
    return this.#page(begin, end, begin > 0 ? begin : null, end < this.count ? end - 1 : null);
  }

  #page(begin: number, end: number, next: number | null, previous: number | null) {
    const items = range(begin, end).map((at) => messageState(message(at)));
    const text = (cursor: number | null) => (cursor === null ? null : String(cursor));
    return { items, next_cursor: text(next), previous_cursor: text(previous) };
  }
}

function snapshot(begin: number, end: number, seq: number) {
  const messages = Array.from({ length: end - begin }, (_, at) => message(begin + at));
  return decodeEvent({
    type: "conversation.snapshot",
    conversation_id: "conv_1",
    seq,
    ts: 1_740_000_000_000,
    messages,
    turns: [],
    open_block_ids: [],
    ...(begin > 0 ? { more_before: String(begin) } : {}),
  } as unknown as Json);
}

function created(at: number, seq: number) {
  return decodeEvent({
    type: "message.created",
    message: message(at),
    conversation_id: "conv_1",
    seq,
    prev_seq: seq - 1,
    ts: 1_740_000_000_000,
  } as unknown as Json);
}

function numbers(list: RowList): number[] {
  return list.all().map(({ id }) => Number(id.slice(2)));
}

function range(begin: number, end: number): number[] {
  return Array.from({ length: end - begin }, (_, at) => begin + at);
}

function begin(count: number) {
  const source = new Source(count);
  const pages = new Pages(source, "conv_1");
  const state = apply(emptyState, snapshot(count - 20, count, 100));
  const list = new RowList(pages, state);
  const isLive = (id: string) => list.state.message(id) !== undefined;
  return { source, pages, state, list, isLive };
}

describe("pages of older messages", () => {
  it("join to the whole, from the end to the beginning", async () => {
    const { pages, list, isLive } = begin(333);
    while (pages.hasOlder) expect(await pages.load("older", isLive)).toBe(true);
    expect(numbers(list)).toEqual(range(0, 333));
    expect(await pages.load("older", isLive)).toBe(false);
  });

  it("are dropped at both ends beyond the bounds, and come again", async () => {
    const { pages, list, isLive } = begin(2000);
    let isDropped = false;
    for (let step = 0; step < 30; step += 1) {
      await pages.load("older", isLive);
      while (pages.isOver) {
        pages.drop("newer");
        isDropped = true;
      }
      expect(pages.messageCount).toBeLessThanOrEqual(KEPT_MESSAGES_MAX);
      expect(pages.loaded.length).toBeLessThanOrEqual(KEPT_PAGES_MAX);
      const rows = numbers(list);
      expect(rows).toEqual(range(rows[0] ?? 0, (rows[0] ?? 0) + rows.length));
    }
    expect(isDropped).toBe(true);
    expect(pages.isJoined).toBe(false);
    while (!pages.isJoined) {
      expect(await pages.load("newer", isLive)).toBe(true);
      while (pages.isOver) pages.drop("older");
      const rows = numbers(list);
      expect(rows).toEqual(range(rows[0] ?? 0, (rows[0] ?? 0) + rows.length));
    }
    expect(numbers(list).at(-1)).toBe(1999);
  });

  it("keep what they had when one could not be read", async () => {
    const { source, pages, list, isLive } = begin(200);
    source.fails = 1;
    await expect(pages.load("older", isLive)).rejects.toThrow("unreachable");
    expect(numbers(list)).toEqual(range(180, 200));
    await pages.load("older", isLive);
    expect(numbers(list)).toEqual(range(180 - PAGE_MESSAGES, 200));
  });

  it("take no answer that was asked for before the chain changed", async () => {
    const { pages, isLive } = begin(200);
    const late = pages.load("older", isLive);
    pages.reset("100");
    expect(await late).toBe(false);
    expect(pages.loaded).toEqual([]);
  });

  it("are found far away by one question, and lead on to both sides", async () => {
    const { source, pages, list, isLive } = begin(1000);
    expect(await pages.moveTo({ around: "m_400" }, isLive)).toBe(true);
    expect(source.asked).toEqual([{ around: "m_400" }]);
    expect(pages.isJoined).toBe(false);
    expect(numbers(list)).toEqual(range(375, 425));
    await pages.load("older", isLive);
    expect(numbers(list)).toEqual(range(325, 425));
    while (!pages.isJoined) await pages.load("newer", isLive);
    expect(numbers(list)).toEqual(range(325, 1000));
    while (pages.hasOlder) await pages.load("older", isLive);
    expect(numbers(list)).toEqual(range(0, 1000));
  });

  it("are joined at once when the live state is near", async () => {
    const { pages, list, isLive } = begin(1000);
    await pages.moveTo({ around: "m_970" }, isLive);
    expect(pages.isJoined).toBe(true);
    expect(numbers(list)).toEqual(range(945, 1000));
  });

  it("begin at the beginning by one question", async () => {
    const { source, pages, list, isLive } = begin(1000);
    await pages.moveTo({ after: "0" }, isLive);
    expect(numbers(list)).toEqual(range(0, 50));
    expect(pages.hasOlder).toBe(false);
    await pages.load("newer", isLive);
    expect(numbers(list)).toEqual(range(0, 100));
    expect(source.asked).toHaveLength(2);
  });

  it("are those that were asked for last", async () => {
    const { pages, list, isLive } = begin(1000);
    const first = pages.moveTo({ around: "m_100" }, isLive);
    const second = pages.moveTo({ around: "m_500" }, isLive);
    expect([await first, await second]).toEqual([false, true]);
    expect(numbers(list)).toEqual(range(475, 525));
  });

  it("are read for a search whatever is loaded, those that are loaded without a question", async () => {
    const { source, pages, isLive } = begin(1000);
    await pages.load("older", isLive);
    const asked = source.asked.length;
    expect((await pages.read(0))?.items[0]?.id).toBe("m_930");
    expect(source.asked).toHaveLength(asked);
    const reading = pages.read(1);
    await pages.moveTo({ around: "m_300" }, isLive);
    expect((await reading)?.items[0]?.id).toBe("m_880");
    expect((await pages.read(2))?.items[0]?.id).toBe("m_830");
  });
});

describe("the list of messages", () => {
  it("knows what was appended without looking at the rest", () => {
    const { list, state } = begin(100);
    const next = apply(state, created(100, 101));
    const change = list.take(next);
    expect(change.kind).toBe("appended");
    if (change.kind === "appended") expect(change.rows.map(({ id }) => id)).toEqual(["m_100"]);
    expect(list.take(next).kind).toBe("same");
  });

  it("keeps what a later snapshot does not hold any more", async () => {
    const { source, pages, list, isLive } = begin(300);
    await pages.load("older", isLive);
    source.count = 310;
    const change = list.take(apply(list.state, snapshot(290, 310, 500)));
    expect(change.kind).toBe("rearranged");
    expect(numbers(list)).toEqual(range(230, 310));
    await pages.load("older", isLive);
    expect(numbers(list)).toEqual(range(180, 310));
    // The page that was kept in place of one is read again as the gateway cuts it.
    while (pages.loaded.length > 1) pages.drop("newer");
    while (!pages.isJoined) await pages.load("newer", isLive);
    const rows = numbers(list);
    expect(rows).toEqual(range(rows[0] ?? 0, 310));
  });

  it("has no hole where more was kept than a page holds", async () => {
    const { source, pages, list, isLive } = begin(300);
    await pages.load("older", isLive);
    source.count = 452;
    let state = list.state;
    for (let at = 300; at < 450; at += 1) state = apply(state, created(at, 101 + at - 300));
    list.take(state);
    list.take(apply(state, snapshot(430, 452, 900)));
    expect(numbers(list)).toEqual(range(230, 452));
    pages.drop("newer");
    expect(numbers(list)).toEqual(range(230, 280));
    while (!pages.isJoined) await pages.load("newer", isLive);
    expect(numbers(list)).toEqual(range(230, 452));
    while (pages.hasOlder) await pages.load("older", isLive);
    expect(numbers(list)).toEqual(range(0, 452));
  });

  it("says so when a snapshot begins after everything that it has", () => {
    const { list } = begin(300);
    expect(list.take(apply(list.state, snapshot(400, 420, 900))).kind).toBe("apart");
    list.begin();
    expect(numbers(list)).toEqual(range(400, 420));
  });
});
