import { describe, expect, it } from "vitest";
import {
  ConversationList,
  type ListNews,
  type ListSource,
  type NewsChannel,
  PAGE_ITEMS,
} from "../src/shell/conversations.ts";
import {
  compareListed,
  countTags,
  filterListed,
  groupByDay,
  joinPage,
  type Listed,
  shortAge,
  splitTags,
} from "../src/shell/listing.ts";

function item(no: number, more: Partial<Listed> = {}): Listed {
  return {
    id: `c${String(no).padStart(4, "0")}`,
    title: `Title ${no}`,
    tags: [],
    created_at: 1_000_000 + no,
    updated_at: 1_000_000 + no,
    head_seq: no,
    ...more,
  };
}

/** A gateway that lists what it has, by cursors and ETags. */
class FakeGateway implements ListSource<Listed> {
  items: Listed[] = [];
  suspended = new Set<string>();
  asked: { cursor: string | undefined; isUnchanged: boolean }[] = [];
  turnsAsked = 0;
  failure: Error | null = null;

  async page(options: { cursor?: string; limit: number }, etag: string | null) {
    if (this.failure) throw this.failure;
    const sorted = [...this.items].sort(compareListed);
    const from = options.cursor === undefined ? 0 : this.#behind(sorted, options.cursor);
    const items = sorted.slice(from, from + options.limit);
    const hasMore = from + options.limit < sorted.length;
    const last = items.at(-1);
    const nextCursor = hasMore && last ? `${last.created_at}/${last.id}` : null;
    const now = JSON.stringify([items, nextCursor]);
    this.asked.push({ cursor: options.cursor, isUnchanged: now === etag });
    return now === etag ? null : { items, nextCursor, etag: now };
  }

  async isSuspended(_conversationId: string, turnId: string) {
    this.turnsAsked += 1;
    return this.suspended.has(turnId);
  }

  #behind(sorted: Listed[], cursor: string): number {
    const [at, id = ""] = cursor.split("/");
    const place = { ...item(0), created_at: Number(at), id };
    return sorted.findIndex((one) => compareListed(one, place) > 0);
  }
}

class FakeChannel implements NewsChannel {
  sent: ListNews[] = [];
  onmessage: ((event: MessageEvent<ListNews>) => void) | null = null;
  postMessage(news: ListNews) {
    this.sent.push(news);
  }
  hear(data: ListNews) {
    this.onmessage?.({ data } as MessageEvent<ListNews>);
  }
}

function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

describe("pages", () => {
  it("join to what the gateway has, whatever was made and deleted meanwhile", async () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = randomOf(seed);
      const gateway = new FakeGateway();
      gateway.items = Array.from({ length: 120 }, (_, no) => item(no));
      const list = new ConversationList(gateway);
      await list.refresh();
      let next = 1000;
      for (let round = 0; round < 12; round += 1) {
        const action = random();
        if (action < 0.4) {
          next += 1;
          gateway.items.push(item(next));
        } else if (action < 0.7) {
          gateway.items.splice(Math.floor(random() * gateway.items.length), 1);
        } else {
          const at = Math.floor(random() * gateway.items.length);
          gateway.items[at] = { ...(gateway.items[at] as Listed), title: `New ${round}` };
        }
        if (random() < 0.5) await list.loadMore();
        if (random() < 0.3) await list.refresh();
      }
      while (list.hasMore.value) await list.loadMore();
      await list.refresh({ all: true });
      expect(list.items.value).toEqual([...gateway.items].sort(compareListed));
    }
  });

  it("keep what did not change as it is, so that nothing is drawn again", async () => {
    const gateway = new FakeGateway();
    gateway.items = [item(1), item(2)];
    const list = new ConversationList(gateway);
    await list.refresh();
    const before = list.items.value;
    await list.refresh();
    expect(gateway.asked.at(-1)?.isUnchanged).toBe(true);
    expect(list.items.value).toBe(before);
    gateway.items[0] = { ...item(1), title: "Other" };
    await list.refresh();
    expect(list.items.value[0]).toBe(before[0]);
    expect(list.items.value[1]?.title).toBe("Other");
  });

  it("take out of their own stretch what is not there any more, and of no other", () => {
    const known = [5, 4, 3, 2, 1].map((no) => item(no));
    const page = { items: [item(4)], behind: item(5), isEnd: false };
    expect(joinPage(known, page).map(({ head_seq }) => head_seq)).toEqual([5, 4, 3, 2, 1]);
    const last = { items: [item(2)], behind: item(4), isEnd: true };
    expect(joinPage(known, last).map(({ head_seq }) => head_seq)).toEqual([5, 4, 2]);
    expect(joinPage(known, { items: [], behind: null, isEnd: true })).toEqual([]);
  });

  it("are asked for one after the other", async () => {
    const gateway = new FakeGateway();
    gateway.items = Array.from({ length: PAGE_ITEMS * 3 }, (_, no) => item(no));
    const list = new ConversationList(gateway);
    await Promise.all([list.refresh(), list.loadMore(), list.loadMore(), list.loadMore()]);
    expect(list.items.value).toHaveLength(PAGE_ITEMS * 3);
    expect(gateway.asked).toHaveLength(3);
    expect(list.hasMore.value).toBe(false);
  });
});

describe("changes", () => {
  it("of this tab are shown at once and told to the others", async () => {
    const gateway = new FakeGateway();
    gateway.items = [item(1), item(2)];
    const channel = new FakeChannel();
    const list = new ConversationList(gateway, channel);
    await list.refresh();
    list.put({ ...item(1), title: "Mine" });
    list.remove("c0002");
    expect(list.items.value.map(({ title }) => title)).toEqual(["Mine"]);
    expect(channel.sent).toEqual([
      { kind: "changed" },
      { kind: "deleted", conversationId: "c0002" },
    ]);
  });

  it("of this tab are not undone by an older answer", async () => {
    const gateway = new FakeGateway();
    gateway.items = [item(1), item(2)];
    const list = new ConversationList(gateway);
    await list.refresh();
    const page = gateway.page.bind(gateway);
    gateway.page = async (options, etag) => {
      const answer = await page(options, etag === null ? null : "");
      list.remove("c0002"); // while the answer is on its way
      return answer;
    };
    await list.refresh();
    expect(list.get("c0002")).toBeUndefined();
  });

  it("of another tab are heard", async () => {
    const gateway = new FakeGateway();
    gateway.items = [item(1), item(2)];
    const channel = new FakeChannel();
    const list = new ConversationList(gateway, channel);
    await list.refresh();
    channel.hear({ kind: "deleted", conversationId: "c0001" });
    expect(list.get("c0001")).toBeUndefined();
    gateway.items = [item(2), item(3)];
    channel.hear({ kind: "changed" });
    await list.refresh();
    expect(list.items.value.map(({ id }) => id)).toEqual(["c0003", "c0002"]);
    expect(channel.sent).toEqual([]);
  });

  it("that cannot be read leave what is there, and say so", async () => {
    const gateway = new FakeGateway();
    gateway.items = [item(1)];
    const list = new ConversationList(gateway);
    await list.refresh();
    gateway.failure = new Error("no way");
    await list.refresh();
    expect(list.items.value).toHaveLength(1);
    expect(list.error.value).toBe(gateway.failure);
    gateway.failure = null;
    await list.refresh();
    expect(list.error.value).toBeNull();
  });

  it("of who is logged in empty the list, and an answer to the one before fills it not", async () => {
    const gateway = new FakeGateway();
    gateway.items = [item(1)];
    const list = new ConversationList(gateway);
    const page = gateway.page.bind(gateway);
    gateway.page = async (options, etag) => {
      const answer = await page(options, etag);
      list.clear(); // while the answer is on its way
      return answer;
    };
    const reading = list.refresh();
    await reading;
    expect(list.items.value).toEqual([]);
    expect(list.isLoaded.value).toBe(false);
  });
});

describe("drafts", () => {
  it("are not listed until somebody asks in them, or names them", async () => {
    const gateway = new FakeGateway();
    const draft = item(2, { title: undefined, head_seq: 0, metadata: { page_draft: "m" } });
    gateway.items = [item(1), draft];
    const list = new ConversationList(gateway);
    await list.refresh();
    expect(list.items.value.map(({ id }) => id)).toEqual(["c0001"]);
    expect(list.drafts.value.map(({ id }) => id)).toEqual(["c0002"]);
    for (const more of [
      { head_seq: 3 },
      { running_turn_id: "t" },
      { queued_turn_ids: ["t"] },
      { title: "Mine" },
      { tags: ["a"] },
      { metadata: {} },
    ]) {
      gateway.items = [item(1), { ...draft, ...more }];
      await list.refresh();
      expect(list.items.value.map(({ id }) => id)).toEqual(["c0002", "c0001"]);
      expect(list.drafts.value).toEqual([]);
    }
  });
});

describe("marks", () => {
  it("tell running from waiting for a person, with few questions", async () => {
    const gateway = new FakeGateway();
    const waits = item(2, { running_turn_id: "t2" });
    gateway.items = [item(1, { running_turn_id: "t1" }), waits, item(3)];
    gateway.suspended.add("t2");
    const list = new ConversationList(gateway);
    await list.refresh();
    expect(list.items.value.map((one) => list.mark(one))).toEqual([null, "running", "running"]);
    expect(gateway.turnsAsked).toBe(0);
    gateway.items[0] = item(1, { running_turn_id: "t1", head_seq: 50 });
    await list.refresh();
    expect(gateway.turnsAsked).toBe(1); // the one that did not move
    expect(list.items.value.map((one) => list.mark(one))).toEqual([null, "suspended", "running"]);
    await list.refresh();
    const asked = gateway.turnsAsked;
    await list.refresh();
    expect(gateway.turnsAsked).toBe(asked + 1); // t1 stands, too; t2 is known
    gateway.items[1] = { ...waits, head_seq: 60 };
    await list.refresh();
    expect(list.items.value.map((one) => list.mark(one))).toEqual([null, "running", "running"]);
  });

  it("of what is open come from its stream", async () => {
    const gateway = new FakeGateway();
    gateway.items = [item(1)];
    const list = new ConversationList(gateway);
    await list.refresh();
    const mark = () => list.items.value.map((one) => list.mark(one));
    list.note("c0001", { id: "t1", isSuspended: false });
    expect(mark()).toEqual(["running"]);
    list.note("c0001", { id: "t1", isSuspended: true });
    expect(mark()).toEqual(["suspended"]);
    // What was asked for before the turn stood still and comes behind it changes nothing.
    list.update(item(1, { running_turn_id: "t1", head_seq: 40 }));
    expect(mark()).toEqual(["suspended"]);
    list.left();
    expect(mark()).toEqual(["running"]);
    list.note("c0001", null);
    expect(mark()).toEqual([null]);
    list.note("unknown", null);
  });
});

describe("headings and times", () => {
  const now = new Date(2026, 10, 30, 12, 0).getTime();
  const at = (...parts: [number, number, number, number?]): Listed =>
    item(1, { created_at: new Date(parts[0], parts[1], parts[2], parts[3] ?? 12).getTime() });

  it("are those of a person's days", () => {
    const items = [
      at(2026, 11, 1), // a clock that is ahead
      at(2026, 10, 30, 0),
      at(2026, 10, 29, 23),
      at(2026, 10, 24),
      at(2026, 10, 23),
      at(2026, 10, 1),
      at(2026, 9, 31),
      at(2026, 9, 1),
      at(2025, 9, 1),
    ];
    const groups = groupByDay(items, now);
    expect(groups.map(({ label, items: { length } }) => [label.kind, length])).toEqual([
      ["today", 2],
      ["yesterday", 1],
      ["week", 1],
      ["month30", 2],
      ["month", 2],
      ["month", 1],
    ]);
    expect(new Set(groups.map(({ key }) => key)).size).toBe(groups.length);
  });

  it.each([
    [30_000, "now"],
    [-5_000, "now"],
    [4 * 60_000, "4 min"],
    [3 * 3_600_000, "3 hr"],
    [20 * 3_600_000, "Nov 29"],
    [40 * 86_400_000, "Oct 21"],
    [400 * 86_400_000, "Oct 26, 2025"],
  ])("are short: %d ms ago is %s", (age, text) => {
    expect(shortAge(now - age, now, "en-US")).toBe(text);
  });
});

describe("filters", () => {
  const items = [
    item(1, { title: "Über die Brücke", tags: ["work", "travel"] }),
    item(2, { title: "The bridge", tags: ["work"] }),
    item(3, { title: undefined }),
  ];

  it.each([
    ["uber", null, [1]],
    ["BRUCKE über", null, [1]],
    ["bridge", "work", [2]],
    ["", "travel", [1]],
    ["", null, [1, 2, 3]],
    ["nothing", null, []],
    ["", "none", []],
  ])("find %j with tag %s", (query, tag, found) => {
    expect(filterListed(items, { query, tag }).map(({ head_seq }) => head_seq)).toEqual(found);
  });

  it("count tags, the most used first", () => {
    expect(countTags(items)).toEqual([
      { tag: "work", count: 2 },
      { tag: "travel", count: 1 },
    ]);
  });

  it("read tags as they are typed", () => {
    expect(splitTags(" a, b ,a,, c d ")).toEqual(["a", "b", "c d"]);
    expect(splitTags(" , ")).toEqual([]);
  });
});
