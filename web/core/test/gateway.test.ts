import { describe, expect, test } from "vitest";
import { RETRY_AFTER_S_MAX, readRetryAfterS } from "../src/failures.ts";
import { CALL_MS_MAX, CALL_TRIES_MAX } from "../src/http.ts";
import { Gateway, type GatewayError, newKey, onAccess } from "../src/index.ts";
import type { Json } from "../src/values.ts";
import { Dice } from "./dice.ts";
import { json, refusal } from "./fakegateway.ts";
import { FakeTime, settle } from "./faketime.ts";

interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: unknown;
}

type Answer = Response | Error | (() => Promise<Response>);

function world(options: { bearer?: string; view?: "public" } = {}) {
  const time = new FakeTime(new Dice("gateway"));
  const asked: Asked[] = [];
  const answers: Answer[] = [];
  const fake: typeof fetch = async (input, init) => {
    const { method = "GET", headers, body } = init ?? {};
    asked.push({ method, url: new URL(String(input)), headers: new Headers(headers), body });
    const answer = answers.shift() ?? new Error("nothing prepared");
    if (answer instanceof Error) throw answer;
    const aborted = new Promise<never>((_, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
    return Promise.race([typeof answer === "function" ? answer() : answer, aborted]);
  };
  const gateway = new Gateway({ baseUrl: "http://g", fetch: fake, timing: time, ...options });
  return { time, asked, answers, gateway };
}

const CONVERSATION: Json = { id: "c", tags: [], created_at: 1, updated_at: 2, head_seq: 3 };
const TURN: Json = { id: "t", conversation_id: "c", status: "running", seq: 1, engine: "e" };

async function failure(call: Promise<unknown>): Promise<GatewayError> {
  return call.then(
    () => {
      throw new Error("it succeeded");
    },
    (error: GatewayError) => error,
  );
}

describe("a request", () => {
  test("names the protocol, and carries the bearer in a header and nowhere else", async () => {
    const { gateway, asked, answers } = world({ bearer: "bws_secret", view: "public" });
    answers.push(json(CONVERSATION));
    await gateway.conversation("a/b ?");
    expect(asked[0]?.url.href).toBe("http://g/v1/conversations/a%2Fb%20%3F?view=public");
    expect(asked[0]?.headers.get("blockwire-protocol")).toBe("1");
    expect(asked[0]?.headers.get("authorization")).toBe("Bearer bws_secret");
    expect(gateway.attachmentUrl("x")).not.toContain("secret");
  });

  test("names half of a surrogate pair by its replacement", async () => {
    const { gateway, asked, answers } = world();
    answers.push(json({ items: [], next_cursor: null }));
    await gateway.search({ q: "a\ud83d b" });
    expect(asked[0]?.url.searchParams.get("q")).toBe("a\ufffd b");
  });

  test("writes integers beyond 2^53 as they are", async () => {
    const { gateway, asked, answers } = world();
    answers.push(json(TURN, { status: 202 }));
    await gateway.submit("c", { content: "x", options: { seed: 2n ** 60n } }, "key_1");
    expect(asked[0]?.body).toBe('{"content":"x","options":{"seed":1152921504606846976}}');
    expect(asked[0]?.headers.get("idempotency-key")).toBe("key_1");
  });

  test("of a list names what is known, and null comes back when nothing has changed", async () => {
    const { gateway, asked, answers } = world();
    answers.push(json({ items: [CONVERSATION], next_cursor: "n" }, { headers: { etag: '"e"' } }));
    const page = await gateway.conversations({ limit: 5 });
    expect(page).toMatchObject({ items: [CONVERSATION], next_cursor: "n", etag: '"e"' });
    answers.push(new Response(null, { status: 304 }));
    expect(await gateway.conversations({ limit: 5 }, page.etag)).toBeNull();
    expect(asked[1]?.headers.get("if-none-match")).toBe('"e"');
  });
});

describe("an answer", () => {
  test.each([
    ["no JSON", "<html>"],
    ["a name twice", '{"id":"a","id":"b"}'],
    ["another shape", '{"id":7}'],
  ])("that is %s is an error of its own", async (_name, text) => {
    const { gateway, answers, time } = world();
    answers.push(...Array.from({ length: CALL_TRIES_MAX }, () => new Response(text)));
    const call = failure(gateway.conversation("c"));
    await time.advance(20_000);
    expect(await call).toMatchObject({ code: "invalid_answer" });
  });

  test("of another protocol is one clear error", async () => {
    const { gateway, answers } = world();
    answers.push(json(CONVERSATION, { headers: { "blockwire-protocol": "2" } }));
    expect(await failure(gateway.conversation("c"))).toMatchObject({ code: "protocol_mismatch" });
  });

  test("that is a refusal keeps code, sentence, place and pause", async () => {
    const { gateway, answers } = world();
    const error = { code: "rate_limited", message: "slowly", retryable: true, pointer: "/q" };
    answers.push(json({ error }, { status: 429, headers: { "retry-after": "9" } }));
    expect(await failure(gateway.conversation("c"))).toMatchObject({
      code: "rate_limited",
      message: "slowly",
      status: 429,
      retryable: true,
      retryAfterS: 9,
      pointer: "/q",
    });
  });

  test("in nobody's words is an HTTP error", async () => {
    const { gateway, answers } = world();
    answers.push(new Response("Bad Gateway", { status: 404 }));
    expect(await failure(gateway.conversation("c"))).toMatchObject({
      code: "http_error",
      status: 404,
    });
  });

  test.each(["", "<html>", '{"id":"c'])(
    "that is cut, or no gateway's, is asked for anew: %j",
    async (text) => {
      const { gateway, answers, time } = world();
      answers.push(new Response(text), json(CONVERSATION));
      const call = gateway.conversation("c");
      await time.advance(5_000);
      expect(await call).toMatchObject({ id: "c" });
    },
  );

  test("with a cursor that leads to itself is refused", async () => {
    const { gateway, answers } = world();
    answers.push(json({ items: [], next_cursor: "same" }));
    const call = gateway.messages("c", { before: "same" });
    expect(await failure(call)).toMatchObject({ code: "invalid_answer" });
  });

  test("with bounds spelled as reals has numbers", async () => {
    const { gateway, answers } = world();
    const text =
      '{"protocol":1,"version":"0","engines":["e"],"scopes":[],"limits":{"wait_s_max":300.0}}';
    answers.push(new Response(text));
    expect((await gateway.capabilities()).limits.wait_s_max).toBe(300);
  });
});

describe("a call that fails on the way", () => {
  test("is repeated when it only reads, and then is unreachable", async () => {
    const { gateway, asked, answers, time } = world();
    answers.push(new TypeError("x"), json(CONVERSATION));
    const first = gateway.conversation("c");
    await time.advance(5_000);
    expect(await first).toMatchObject({ id: "c" });
    const second = failure(gateway.conversation("c"));
    await time.advance(60_000);
    expect(await second).toMatchObject({ code: "unreachable", status: 0, retryable: true });
    expect(asked).toHaveLength(2 + CALL_TRIES_MAX);
  });

  test("is repeated under its key, and never without one", async () => {
    const { gateway, asked, answers, time } = world();
    answers.push(new TypeError("x"), refusal(503, "store_busy"), json(TURN));
    const submit = gateway.submit("c", { content: "x" }, "key_1");
    await time.advance(20_000);
    expect(await submit).toMatchObject({ id: "t" });
    expect(asked.map(({ headers }) => headers.get("idempotency-key"))).toEqual(
      Array(3).fill("key_1"),
    );
    const made = failure(gateway.createConversation({ title: "t" }));
    await time.advance(60_000);
    expect(await made).toMatchObject({ code: "unreachable" });
    expect(asked).toHaveLength(4);
  });

  test("is not repeated where that cannot help", async () => {
    const { gateway, asked, answers } = world();
    answers.push(refusal(409, "idempotency_key_reused"));
    const call = gateway.submit("c", { content: "x" }, "key_1");
    expect(await failure(call)).toMatchObject({ code: "idempotency_key_reused" });
    expect(asked).toHaveLength(1);
  });

  test("ends after a while without an answer", async () => {
    const { gateway, answers, time } = world();
    answers.push(() => new Promise(() => undefined));
    const call = failure(gateway.createConversation());
    await time.advance(CALL_MS_MAX);
    expect(await call).toMatchObject({ code: "unreachable" });
    expect(time.waiting).toBe(0);
  });

  test("is given up by its caller, with the caller's reason", async () => {
    const { gateway, answers, time } = world();
    answers.push(new TypeError("x"));
    const abort = new AbortController();
    const call = failure(gateway.conversation("c", abort.signal));
    await settle();
    abort.abort(new Error("enough"));
    expect(await call).toMatchObject({ message: "enough" });
    expect(time.waiting).toBe(0);
  });
});

test("a snapshot comes as a page, at once", async () => {
  const { gateway, asked, answers } = world();
  answers.push(json({ items: [], next_cursor: "4", at_end: true }));
  expect(await gateway.eventsPage("c", { snapshot: true, after: 7, wait: 5 })).toEqual({
    items: [],
    next_cursor: 4,
    at_end: true,
  });
  expect(asked[0]?.url.search).toBe("?snapshot=1");
});

test("a file is sent as it is, with its name in the query", async () => {
  const { gateway, asked, answers } = world();
  const row = { id: "att", name: "ä.png", media_type: "image/png", size_bytes: 3 };
  answers.push(json(row, { status: 201 }));
  const sent: number[] = [];
  const file = new Blob(["abc"], { type: "image/png" });
  const attachment = await gateway.upload("c", file, "ä.png", {
    onProgress: (bytes, all) => sent.push(bytes, all),
  });
  expect(attachment).toMatchObject({ id: "att" });
  expect(asked[0]?.url.searchParams.get("name")).toBe("ä.png");
  expect(asked[0]?.headers.get("content-type")).toBe("image/png");
  expect(sent).toEqual([3, 3]);
});

test("the bearer goes to no other origin", async () => {
  const { gateway, asked } = world({ bearer: "bws_secret" });
  for (const url of ["http://other/v1/x", "http://g.evil/v1", "//other/x"]) {
    expect(await failure(gateway.blob(url))).toMatchObject({ code: "invalid_answer" });
  }
  const own = new Gateway({ fetch: async () => new Response("x") });
  expect(await failure(own.blob("//other/x"))).toMatchObject({ code: "invalid_answer" });
  expect(asked).toEqual([]);
});

test("a login and a logout are told to the other tabs, and to this one", async () => {
  const { gateway, answers } = world();
  const heard: string[] = [];
  const told = new Promise<void>((resolve) => {
    const stop = onAccess((change) => {
      heard.push(change);
      if (heard.length < 2) return;
      stop();
      resolve();
    });
  });
  answers.push(json({ scopes: ["read"], expires_at: 1 }), new Response(null, { status: 204 }));
  await gateway.login("bw_x");
  await gateway.logout();
  await told;
  expect(heard).toEqual(["login", "logout"]);
});

test("keys are fresh", () => {
  const keys = new Set(Array.from({ length: 1_000 }, newKey));
  expect(keys.size).toBe(1_000);
  expect([...keys][0]).toMatch(/^key_[0-9a-f]{32}$/);
});

test.each([
  [null, undefined],
  ["", undefined],
  ["soon", undefined],
  ["7", 7],
  ["99999999999999999999", RETRY_AFTER_S_MAX],
  ["Tue, 14 Nov 2023 22:13:30 GMT", 10],
  ["Tue, 14 Nov 2020 22:13:30 GMT", 0],
])("Retry-After %j is %j seconds", (value, seconds) => {
  expect(readRetryAfterS(value, 1_700_000_000_000)).toBe(seconds);
});
