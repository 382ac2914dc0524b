import { describe, expect, test } from "vitest";
import { encodeJson, GatewayError, type StreamEvent, Subscription } from "../src/index.ts";
import {
  type Effect,
  PAUSE_MS_MAX,
  RESYNCS_MAX,
  RETRY_MS_MAX,
  type StreamHead,
} from "../src/reconnecting.ts";
import { apply } from "../src/reducer.ts";
import { emptyState } from "../src/state.ts";
import { Dice } from "./dice.ts";
import { frameOf, Log, unnumbered } from "./logmodel.ts";

const NOW_MS = 1_700_000_000_000;

function head(status: number, headers: Record<string, string> = {}, body = ""): StreamHead {
  const all: Record<string, string> = { "content-type": "text/event-stream", ...headers };
  return { status, header: (name) => all[name] ?? null, body };
}

function subscription(cursor: number | null = 0, random = () => 1): Subscription {
  return new Subscription({ conversationId: "conv_1", cursor, random });
}

function bytes(...events: (StreamEvent | string)[]): Uint8Array {
  const frames = events.map((event) => (typeof event === "string" ? event : frameOf(event)));
  return new TextEncoder().encode(frames.join(""));
}

function opened(cursor: number | null = 0): Subscription {
  const reader = subscription(cursor);
  expect(reader.receiveResponse(head(200), NOW_MS)).toEqual([]);
  return reader;
}

function items(effects: Effect<StreamEvent>[]): StreamEvent[] {
  return effects.flatMap((effect) => (effect.kind === "item" ? [effect.item] : []));
}

function last(effects: Effect<StreamEvent>[]): Effect<StreamEvent> | undefined {
  return effects.at(-1);
}

function log(eventCount: number, seed: string): Log {
  const dice = new Dice(seed);
  const made = new Log("conv_1");
  for (let count = 0; count < eventCount; count += 1) made.grow(dice);
  return made;
}

describe("the cursor", () => {
  test("without one a snapshot is asked for, with one what follows", () => {
    expect(subscription(null).connect().query).toEqual({ snapshot: "1" });
    expect(subscription(null).connect().headers["last-event-id"]).toBeUndefined();
    expect(subscription(7).connect()).toEqual({
      query: {},
      headers: { accept: "text/event-stream", "last-event-id": "7" },
    });
  });

  test("is moved by events and snapshots and by nothing else", () => {
    const made = log(6, "cursor");
    const reader = opened();
    const ready = unnumbered({ type: "subscription.ready", conversation_id: "conv_1", cursor: 99 });
    const received = items(reader.receiveData(bytes(`id: 99\n${frameOf(ready)}`, ":\n\n")));
    expect(received.map(({ type }) => type)).toEqual(["subscription.ready"]);
    expect(reader.cursor).toBe(0);
    reader.receiveData(bytes(...made.events));
    expect(reader.cursor).toBe(made.head);
    const other = log(2, "other");
    reader.receiveData(bytes(other.snapshot(true)));
    expect(reader.cursor).toBe(other.head);
  });

  test("drops what was here before, and goes over numbers that this view does not get", () => {
    const made = log(12, "seen");
    const reader = opened();
    const all = bytes(...made.events);
    expect(items(reader.receiveData(all))).toHaveLength(12);
    expect(reader.receiveData(all)).toEqual([]);
  });
});

describe("wherever the connection is cut", () => {
  test.each(["a", "b", "c"])(
    "the state is the same and each event comes once (%s)",
    (seed) => {
      const made = log(8, seed);
      const whole = bytes(...made.events);
      const frames = made.events.map((event) => bytes(event));
      const spelled = encodeJson(made.state.spelled());
      for (let cut = 0; cut <= whole.length; cut += 1) {
        const reader = opened();
        const seen: number[] = [];
        let state = emptyState;
        const take = (effects: Effect<StreamEvent>[]): void => {
          for (const event of items(effects)) {
            seen.push(event.seq ?? 0);
            state = apply(state, event);
          }
        };
        take(reader.receiveData(whole.subarray(0, cut)));
        const end = reader.receiveEof();
        take(end);
        expect(last(end)?.kind).toBe("reconnect");
        const cursor = Number(reader.connect().headers["last-event-id"]);
        expect(reader.receiveResponse(head(200), NOW_MS)).toEqual([]);
        for (const [at, frame] of frames.entries()) {
          if ((made.events[at]?.seq ?? 0) > cursor) take(reader.receiveData(frame));
        }
        expect(seen).toEqual(made.events.map(({ seq }) => seq));
        expect(encodeJson(state.spelled())).toBe(spelled);
      }
    },
    30_000,
  );
});

describe("pauses", () => {
  test("grow up to a bound, and begin anew after an event or a heartbeat", () => {
    const reader = subscription();
    const lost = new GatewayError("unreachable", "", { retryable: true });
    const pauses: number[] = [];
    for (let count = 0; count < 10; count += 1) {
      const effect = reader.receiveFailure(lost)[0];
      pauses.push(effect?.kind === "reconnect" ? effect.delayMs : -1);
    }
    expect(pauses.slice(0, 4)).toEqual([1000, 2000, 4000, 8000]);
    expect(pauses.at(-1)).toBe(PAUSE_MS_MAX);
    for (const sign of [":\n\n", frameOf(log(1, "x").events[0] as StreamEvent)]) {
      reader.receiveResponse(head(200), NOW_MS);
      reader.receiveData(bytes(sign));
      expect(reader.receiveEof()[0]).toMatchObject({ kind: "reconnect", delayMs: 1000 });
      reader.receiveFailure(lost);
    }
  });

  test("are spread by the dice", () => {
    const reader = subscription(0, () => 0.25);
    const lost = new GatewayError("unreachable", "", { retryable: true });
    expect(reader.receiveFailure(lost)).toMatchObject([{ delayMs: 250 }]);
  });

  test.each([
    ["retry: 5000\n\n", 5000],
    ["retry: 1\n\n", 100],
    ["retry: 99999999999\n\n", RETRY_MS_MAX],
  ])("are what the stream asks for, within bounds (%j)", (text, delayMs) => {
    const reader = opened();
    reader.receiveData(bytes(text));
    expect(reader.receiveEof()).toMatchObject([{ kind: "reconnect", delayMs }]);
  });

  test("add what the gateway asks to wait", () => {
    const refused = subscription().receiveResponse(head(503, { "retry-after": "7" }), NOW_MS);
    expect(refused).toMatchObject([{ kind: "reconnect", delayMs: 8000 }]);
  });
});

describe("answers", () => {
  test.each([408, 429, 500, 502, 503])("%i is tried again", (status) => {
    const effects = subscription().receiveResponse(head(status), NOW_MS);
    expect(effects).toMatchObject([{ kind: "reconnect", error: { status } }]);
  });

  test.each([400, 401, 403, 404, 406, 301])("%i is an error, never a loop", (status) => {
    const effects = subscription().receiveResponse(head(status), NOW_MS);
    expect(effects).toMatchObject([{ kind: "failed", error: { status } }]);
  });

  test("a refusal keeps the gateway's words", () => {
    const body = '{"error":{"code":"invalid_cursor","message":"no cursor","pointer":"/x"}}';
    expect(subscription().receiveResponse(head(400, {}, body), NOW_MS)).toMatchObject([
      { error: { code: "invalid_cursor", message: "no cursor", pointer: "/x", status: 400 } },
    ]);
  });

  test("204 is the end", () => {
    expect(subscription().receiveResponse(head(204), NOW_MS)).toEqual([{ kind: "finished" }]);
  });

  test("another protocol is one clear error", () => {
    for (const [version, side] of [
      ["2", "reload this page"],
      ["0", "update the gateway"],
      ["x", "update the gateway"],
    ]) {
      const effects = subscription().receiveResponse(
        head(200, { "blockwire-protocol": String(version) }),
        NOW_MS,
      );
      expect(effects).toMatchObject([{ kind: "failed", error: { code: "protocol_mismatch" } }]);
      expect(effects[0]?.kind === "failed" && effects[0].error.message).toContain(side);
    }
  });

  test("a page where a stream was asked for is an error", () => {
    const effects = subscription().receiveResponse(head(200, { "content-type": "text/html" }), 0);
    expect(effects).toMatchObject([{ error: { code: "unexpected_content_type" } }]);
  });

  test("with until=idle the end is confirmed at once", () => {
    const reader = new Subscription({
      conversationId: "conv_1",
      cursor: 3,
      untilIdle: true,
      view: "public",
      random: () => 1,
    });
    expect(reader.connect().query).toEqual({ until: "idle", view: "public" });
    reader.receiveResponse(head(200), NOW_MS);
    expect(reader.receiveEof()).toMatchObject([{ kind: "reconnect", delayMs: 0 }]);
  });
});

describe("what does not fit", () => {
  const broken: [string, string][] = [
    ["no JSON", "data: {\n\n"],
    ["a name twice", 'data: {"type":"x","type":"x"}\n\n'],
    ["no event", 'data: {"type":"turn.started"}\n\n'],
    ["another conversation", 'data: {"type":"x.y","conversation_id":"conv_2","seq":1}\n\n'],
    ["a gap", 'data: {"type":"x.y","conversation_id":"conv_1","seq":9,"prev_seq":5}\n\n'],
  ];
  test.each(broken)("%s asks for a snapshot, at once the first time", (_name, text) => {
    const reader = opened();
    const effects = reader.receiveData(bytes(text));
    expect(effects).toMatchObject([{ kind: "reconnect", delayMs: 0 }]);
    expect(reader.connect().query).toEqual({ snapshot: "1" });
    expect(reader.receiveData(bytes("data: more\n\n"))).toEqual([]);
  });

  test("so does an event that the state refuses", () => {
    const reader = opened();
    expect(reader.refuse("block_not_found")).toMatchObject([{ kind: "reconnect", delayMs: 0 }]);
    expect(reader.connect().query).toEqual({ snapshot: "1" });
  });

  test("what never fits ends in an error", () => {
    const made = log(4, "never");
    const reader = subscription();
    const ends: string[] = [];
    for (let count = 0; count <= RESYNCS_MAX; count += 1) {
      reader.receiveResponse(head(200), NOW_MS);
      // The snapshot alone is no progress, and neither is what is refused with it.
      reader.receiveData(bytes(made.snapshot(false)));
      ends.push(last(reader.receiveData(bytes("data: {\n\n")))?.kind ?? "");
    }
    expect(ends).toEqual([...Array(RESYNCS_MAX).fill("reconnect"), "failed"]);
  });

  test("an event that fits in between begins the count anew", () => {
    const made = log(40, "between");
    const reader = subscription();
    for (const event of made.events) {
      reader.receiveResponse(head(200), NOW_MS);
      expect(items(reader.receiveData(bytes(event)))).toEqual([event]);
      expect(last(reader.receiveData(bytes("data: {\n\n")))).toMatchObject({
        kind: "reconnect",
        delayMs: 0,
      });
    }
  });

  test("a snapshot that is too large is an error; another event is healed by one", () => {
    const options = { conversationId: "conv_1", cursor: 0, random: () => 1, eventBytesMax: 100 };
    const large = "x".repeat(200);
    for (const [type, kind] of [
      ["conversation.snapshot", "failed"],
      ["content.block.delta", "reconnect"],
    ]) {
      const reader = new Subscription(options);
      reader.receiveResponse(head(200), NOW_MS);
      const effects = reader.receiveData(bytes(`id: 4\nevent: ${type}\ndata: ${large}\n\n`));
      expect(effects).toMatchObject([{ kind }]);
    }
  });
});

test("a deletion is handed out, and is the end", () => {
  const deleted = unnumbered({ type: "conversation.deleted", conversation_id: "conv_1" });
  const effects = opened().receiveData(bytes(deleted));
  expect(items(effects)).toHaveLength(1);
  expect(last(effects)).toMatchObject({ kind: "failed", error: { code: "conversation_deleted" } });
});
