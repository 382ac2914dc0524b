/** The gateway as the list and the search ask it, and the `fetch` that notices what it brings. */
import type { Conversation, Gateway, SearchHit } from "@blockwire/core";
import type { ListSource } from "./conversations.ts";
import { hasCode } from "./failures.ts";
import type { FindHits } from "./search.ts";

/** So many turns are looked through for the one that runs; those in line stand before it. */
const TURNS_LOOKED_AT = 20;

export function listSource(gateway: Gateway): ListSource<Conversation> {
  return {
    async page(options, etag) {
      const page = await gateway.conversations(options, etag);
      return page && { items: page.items, nextCursor: page.next_cursor, etag: page.etag };
    },
    async isSuspended(conversationId, turnId) {
      try {
        const { items } = await gateway.turns(conversationId, { limit: TURNS_LOOKED_AT });
        return items.find(({ id }) => id === turnId)?.status === "suspended";
      } catch (error) {
        if (hasCode(error, "conversation_not_found")) return false;
        throw error;
      }
    },
  };
}

export function searchSource(gateway: Gateway): FindHits<SearchHit> {
  return async (query) => {
    const page = await gateway.search(query);
    return {
      items: page.items,
      nextCursor: page.next_cursor,
      isBuilding: page.index === "building",
    };
  };
}

/** Who hears what came of the requests of the page. */
export interface Noticing {
  /** Whether the gateway was reached: an answer of its own came, whatever it says. */
  reached(isReached: boolean): void;
  /** An answer was 401: the login is over. */
  locked(): void;
}

/**
 * Whether the gateway answered, and not what stands before it: a proxy that waits for it, or the page of
 * a network that asks for a login first. A proxy may keep the version from us, so others count as its.
 */
function isOwn({ headers, status }: Response): boolean {
  if (headers.has("blockwire-protocol")) return true;
  const isStandIn = status === 502 || status === 503 || status === 504;
  return !isStandIn && !headers.get("content-type")?.startsWith("text/html");
}

/** `fetch`, which tells of a lost way and a lost login on the side; answers are left as they are. */
export function noticingFetch(noticing: Noticing): typeof fetch {
  return async (input, init) => {
    try {
      const response = await fetch(input, init);
      noticing.reached(isOwn(response));
      const isLogin = String(input).endsWith("/v1/login");
      const hasOwnSecret = new Headers(init?.headers).has("authorization");
      if (response.status === 401 && !isLogin && !hasOwnSecret) noticing.locked();
      return response;
    } catch (error) {
      // One that was given up says nothing about the way.
      if (!init?.signal?.aborted) noticing.reached(false);
      throw error;
    }
  };
}
