/** Where links lead, and whether their words say so. */

import { escapeHtml } from "./text.ts";

/** Longest address that is a link. */
export const LINK_CHARS_MAX = 2_048;
/** Longest title beside an address. */
const TITLE_CHARS_MAX = 300;
export const LINK_REL = "noopener noreferrer nofollow";

const SCHEMES = /^(?:https?:\/\/|mailto:)/i;
const LOOKS_LIKE_ADDRESS =
  /:\/\/|\bwww\.|[\w-]\.(?:com|org|net|edu|gov|io|dev|app|ai|co|info)\b|\w@\w/i;

export interface Target {
  readonly href: string;
  /** Empty for mail. */
  readonly host: string;
  /** Somebody who reads it may take it for another place. */
  readonly isOdd: boolean;
}

/**
 * An address that may be a link: `http`, `https` or `mailto`, printable ASCII, and readable for
 * browsers. null: it may not.
 */
export function safeTarget(address: string): Target | null {
  if (address.length > LINK_CHARS_MAX || !SCHEMES.test(address)) return null;
  if (!/^[!-~]+$/.test(address)) return null;
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return null;
  }
  if (url.protocol === "mailto:") return { href: address, host: "", isOdd: false };
  if (url.protocol !== "http:" && url.protocol !== "https:") return null;
  if (url.hostname === "") return null;
  const hasUser = url.username !== "" || url.password !== "";
  const isOdd = hasUser || /(?:^|\.)xn--/.test(url.hostname) || address.includes("\\");
  return { href: address, host: url.host, isOdd };
}

function bare(address: string): string {
  return address
    .trim()
    .toLowerCase()
    .replace(/^(?:https?:\/\/|mailto:)?(?:www\.)?/, "")
    .replace(/\/+$/, "");
}

/** Whether the words of a link name an address to which it does not lead. */
export function isMisleading(words: string, address: string): boolean {
  if (!LOOKS_LIKE_ADDRESS.test(words)) return false;
  const named = bare(words);
  const real = bare(address);
  return !(real === named || ["/", "?", "#"].some((end) => real.startsWith(named + end)));
}

/** The value of a link's `title`: its address, with the title that it was given. */
export function linkTitle(address: string, title: string): string {
  const short = title.length > TITLE_CHARS_MAX ? `${title.slice(0, TITLE_CHARS_MAX)}…` : title;
  // What looks like the end of a comment or script in a value is what sanitisers take away.
  const words = short.replaceAll("<", "‹").replaceAll(">", "›");
  return escapeHtml(words === "" ? address : `${words} — ${address}`);
}
