import { GatewayError } from "@blockwire/core";
import { describe, expect, it } from "vitest";
import { SafeStore, type TextStore } from "../src/platform/storage.ts";
import { Access } from "../src/shell/access.ts";
import { connectionName } from "../src/shell/Connection.tsx";
import { fileName } from "../src/shell/exporting.ts";
import { failureText, hasCode, isAbort, isLock, reasonOf } from "../src/shell/failures.ts";
import { MESSAGE_MS, MESSAGES_MAX, Messages } from "../src/shell/messages.ts";
import { PLACES_MAX, Places } from "../src/shell/places.ts";
import { makeSettings } from "../src/shell/settings.ts";
import { noticingFetch } from "../src/shell/sources.ts";
import { strings } from "../src/strings.ts";

class MapStore implements TextStore {
  readonly kept = new Map<string, string>();
  getItem(name: string) {
    return this.kept.get(name) ?? null;
  }
  setItem(name: string, value: string) {
    this.kept.set(name, value);
  }
  removeItem(name: string) {
    this.kept.delete(name);
  }
}

describe("storage", () => {
  it("that is missing or throws is one that forgets", () => {
    const broken: TextStore = {
      getItem() {
        throw new Error("denied");
      },
      setItem() {
        throw new Error("full");
      },
      removeItem() {
        throw new Error("denied");
      },
    };
    const stores = [
      new SafeStore(() => null),
      new SafeStore(() => broken),
      new SafeStore(() => {
        throw new Error("SecurityError");
      }),
    ];
    for (const store of stores) {
      expect(store.get("a")).toBeNull();
      expect(store.set("a", "b")).toBe(false);
      store.remove("a");
      expect(store.getObject("a")).toEqual({});
    }
  });

  it.each(["{", "[]", "null", "3", '"x"'])("reads %s as nothing", (text) => {
    const kept = new MapStore();
    kept.setItem("blockwire.a", text);
    expect(new SafeStore(() => kept).getObject("a")).toEqual({});
  });
});

describe("settings", () => {
  it("are kept, and read again", () => {
    const kept = new MapStore();
    const settings = makeSettings(new SafeStore(() => kept));
    expect(kept.kept.size).toBe(0);
    settings.theme.value = "dark";
    settings.enterSends.value = false;
    const again = makeSettings(new SafeStore(() => kept));
    expect(again.theme.value).toBe("dark");
    expect(again.enterSends.value).toBe(false);
    expect(again.maths.value).toBe(false);
    settings.maths.value = true;
    again.reload();
    expect(again.maths.value).toBe(true);
  });

  it("that are damaged are as if not set", () => {
    const kept = new MapStore();
    kept.setItem(
      "blockwire.settings",
      '{"theme":"pink","textSize":7,"maths":"yes","sidebar":null}',
    );
    const settings = makeSettings(new SafeStore(() => kept));
    expect(settings.theme.value).toBe("system");
    expect(settings.textSize.value).toBe("normal");
    expect(settings.maths.value).toBe(false);
    expect(settings.sidebar.value).toBe(true);
  });
});

describe("places", () => {
  it("hold ids and distances of the conversations left last", () => {
    const kept = new MapStore();
    const places = new Places(new SafeStore(() => kept));
    for (let no = 0; no <= PLACES_MAX; no += 1) {
      places.set(`c${no}`, { messageId: `m${no}`, offset: 1.4 });
    }
    expect(places.get("c0")).toBeNull();
    expect(places.get("c1")).toEqual({ messageId: "m1", offset: 1 });
    places.set("c1", null);
    expect(places.get("c1")).toBeNull();
    places.clear();
    expect(kept.kept.size).toBe(0);
  });

  it("that are damaged are none", () => {
    const kept = new MapStore();
    kept.setItem("blockwire.places", '{"list":[["a"],7,["b","m",null],["c","m",3]]}');
    const places = new Places(new SafeStore(() => kept));
    expect(places.get("a")).toBeNull();
    expect(places.get("b")).toBeNull();
    expect(places.get("c")).toEqual({ messageId: "m", offset: 3 });
  });
});

describe("messages", () => {
  it("go by themselves when something happened, and stay when something failed", () => {
    const later: { work: () => void; ms: number }[] = [];
    const messages = new Messages((work, ms) => later.push({ work, ms }));
    messages.add("Done.");
    messages.add("Failed.", "error");
    expect(later).toMatchObject([{ ms: MESSAGE_MS }]);
    for (const { work } of later) work();
    expect(messages.shown.value.map(({ text }) => text)).toEqual(["Failed."]);
    messages.close(messages.shown.value[0]?.id ?? -1);
    expect(messages.shown.value).toEqual([]);
  });

  it("are few, and none is there twice", () => {
    const messages = new Messages(() => {});
    for (let no = 0; no < MESSAGES_MAX + 2; no += 1) messages.add(`${no}`, "error");
    expect(messages.shown.value).toHaveLength(MESSAGES_MAX);
    messages.add(`${MESSAGES_MAX + 1}`, "error");
    expect(messages.shown.value).toHaveLength(MESSAGES_MAX);
  });

  it("are said again when they are the same", () => {
    const messages = new Messages(() => {});
    messages.announce("Copied");
    const first = messages.spoken.value;
    messages.announce("Copied");
    expect(messages.spoken.value).not.toBe(first);
    expect(messages.spoken.value.trim()).toBe("Copied");
  });
});

describe("failures", () => {
  it("say what to do, in our words, the gateway's, or that it was unexpected", () => {
    const ours = new GatewayError("conversation_not_found", "raw words", { status: 404 });
    expect(reasonOf(ours)).toBe(strings.errors.byCode.conversation_not_found);
    const theirs = new GatewayError("some_new_code", "the moon is in the way", { status: 400 });
    expect(failureText("It failed.", theirs)).toBe("It failed. The moon is in the way.");
    const wait = new GatewayError("rate_limited", "", { status: 429, retryAfterS: 2.2 });
    expect(reasonOf(wait)).toContain("3 seconds");
    expect(reasonOf(new TypeError("secret internals"))).toBe(strings.errors.unexpected);
    expect(reasonOf(new GatewayError("constructor", "", { status: 400 }))).toBe(
      strings.errors.unexpected,
    );
    expect(reasonOf("text")).toBe(strings.errors.unexpected);
  });

  it("are told apart", () => {
    const lock = new GatewayError("unauthorized", "", { status: 401 });
    expect(isLock(lock)).toBe(true);
    expect(isLock(new Error("401"))).toBe(false);
    expect(hasCode(lock, "other", "unauthorized")).toBe(true);
    expect(isAbort(new DOMException("", "AbortError"))).toBe(true);
    expect(isAbort(lock)).toBe(false);
  });
});

describe("access", () => {
  const lock = new GatewayError("unauthorized", "", { status: 401 });

  function bench() {
    const world = {
      token: "bw_good",
      isIn: false,
      needsToken: true,
      isLost: false,
      scopes: ["read", "write"],
      entered: 0,
      left: 0,
    };
    const access = new Access<{ scopes: readonly string[] }>(
      {
        async capabilities() {
          if (world.isLost) throw new GatewayError("unreachable", "", { status: 0 });
          if (world.needsToken && !world.isIn) throw lock;
          return { scopes: world.scopes };
        },
        async login(token) {
          if (token !== world.token) throw lock;
          world.isIn = true;
        },
        async logout() {
          world.isIn = false;
        },
        isOpenToAll: async () => !world.needsToken,
      },
      isLock,
    );
    access.onEntered = () => {
      world.entered += 1;
    };
    access.onLeft = () => {
      world.left += 1;
    };
    return { world, access };
  }

  it("begins at once where nobody needs a token, and has nothing to log out of", async () => {
    const { world, access } = bench();
    world.needsToken = false;
    world.scopes = ["read", "write", "reasoning"];
    await access.start();
    expect(access.status.value).toBe("open");
    expect([access.canWrite.value, access.isOwner.value]).toEqual([true, true]);
    expect(access.hasLogin.value).toBe(false);
  });

  it("asks for a token, refuses a wrong one, and lets in with a right one", async () => {
    const { world, access } = bench();
    await access.start();
    expect(access.status.value).toBe("locked");
    await expect(access.enter("bw_wrong")).rejects.toBe(lock);
    expect(access.status.value).toBe("locked");
    await access.enter("bw_good");
    expect(access.status.value).toBe("open");
    expect(access.hasLogin.value).toBe(true);
    expect(access.isOwner.value).toBe(false);
    expect(world.entered).toBe(1);
    await access.leave();
    expect(access.status.value).toBe("locked");
    expect(access.capabilities.value).toBeNull();
    expect(world.left).toBe(1);
  });

  it("keeps what is open when the login is over, and goes on after the next one", async () => {
    const { world, access } = bench();
    await access.start();
    await access.enter("bw_good");
    world.isIn = false;
    access.expire();
    expect(access.status.value).toBe("locked");
    expect(access.capabilities.value).not.toBeNull();
    expect(world.left).toBe(0);
    await access.enter("bw_good");
    expect(access.status.value).toBe("open");
    expect(world.entered).toBe(2);
  });

  it("takes over what another tab did", async () => {
    const { world, access } = bench();
    await access.start();
    world.isIn = true;
    access.hear("login");
    await expect.poll(() => access.status.value).toBe("open");
    // Somebody else, perhaps, while this tab had not noticed that the login before was over.
    const entered = world.entered;
    access.hear("login");
    await expect.poll(() => world.entered).toBe(entered + 1);
    world.isIn = false;
    access.hear("logout");
    await expect.poll(() => access.status.value).toBe("locked");
    expect(world.left).toBe(1);
  });

  it("forgets at a logout elsewhere, whether or not an answer was 401 before", async () => {
    const { world, access } = bench();
    world.isIn = true;
    await access.start();
    world.isIn = false;
    access.expire();
    expect(world.left).toBe(0); // who logs in again goes on
    access.hear("logout");
    expect(access.capabilities.value).toBeNull();
    await expect.poll(() => access.status.value).toBe("locked");
    expect(world.left).toBe(1);
    access.hear("logout");
    await access.start();
    expect(world.left).toBe(1);
  });

  it("tells a lost gateway from a locked one", async () => {
    const { world, access } = bench();
    world.isLost = true;
    await access.start();
    expect(access.status.value).toBe("unreachable");
    world.isLost = false;
    await access.start();
    await access.enter("bw_good");
    world.isLost = true;
    await access.start();
    expect(access.status.value).toBe("open"); // what is shown stays; the banner tells
  });
});

describe("what is noticed of requests", () => {
  async function ask(url: string, init: RequestInit, answer: () => Promise<Response>) {
    const noticed: string[] = [];
    const before = globalThis.fetch;
    globalThis.fetch = answer;
    try {
      const noticing = noticingFetch({
        reached: (isReached) => noticed.push(isReached ? "reached" : "lost"),
        locked: () => noticed.push("locked"),
      });
      await noticing(url, init).catch(() => {});
    } finally {
      globalThis.fetch = before;
    }
    return noticed;
  }
  const status = (code: number) => async () => new Response(null, { status: code });
  const broken = async () => {
    throw new TypeError("Failed to fetch");
  };

  it("is a lost way and a lost login, and no more", async () => {
    expect(await ask("/v1/conversations", {}, status(200))).toEqual(["reached"]);
    expect(await ask("/v1/conversations", {}, status(401))).toEqual(["reached", "locked"]);
    // A wrong token in the form, and a link that is over, end no login.
    expect(await ask("/v1/login", {}, status(401))).toEqual(["reached"]);
    const headers = { authorization: "Bearer bws_x" };
    expect(await ask("/v1/conversations/c", { headers }, status(401))).toEqual(["reached"]);
    expect(await ask("/v1/conversations", {}, broken)).toEqual(["lost"]);
    const signal = AbortSignal.abort();
    expect(await ask("/v1/conversations", { signal }, broken)).toEqual([]);
  });

  it("is not the gateway where a proxy or a network answers in its place", async () => {
    const answer = (code: number, headers: Record<string, string>) => async () =>
      new Response("", { status: code, headers });
    const page = { "content-type": "text/html; charset=utf-8" };
    const own = { "blockwire-protocol": "1" };
    const url = "/v1/conversations";
    expect(await ask(url, {}, answer(200, page))).toEqual(["lost"]);
    expect(await ask(url, {}, answer(502, {}))).toEqual(["lost"]);
    expect(await ask(url, {}, answer(503, own))).toEqual(["reached"]);
    expect(await ask(url, {}, answer(200, { ...page, ...own }))).toEqual(["reached"]);
    expect(await ask(url, {}, answer(500, {}))).toEqual(["reached"]);
  });
});

describe("small words", () => {
  it.each([
    ["Why is the sky blue?", "Why is the sky blue"],
    ["a/b\\c:d*e", "a b c d e"],
    ["..", "conversation"],
    ["", "conversation"],
    ["../../etc/passwd", "etc passwd"],
    ["東京 🌸 trip", "東京 trip"],
    ["x".repeat(200), "x".repeat(60)],
  ])("a file of %j is named %j", (title, name) => {
    expect(fileName(title)).toBe(name);
  });

  it.each([
    ["live", true, "live"],
    ["live", false, "live"],
    ["connecting", true, "connecting"],
    ["connecting", false, "offline"],
    ["waiting", true, "waiting"],
    ["waiting", false, "offline"],
    ["refused", true, "waiting"],
    ["deleted", true, null],
  ] as const)("a stream that is %s (network: %s) is called %s", (kind, isOnline, name) => {
    expect(connectionName({ kind }, isOnline)).toBe(name);
  });
});
