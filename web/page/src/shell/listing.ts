/**
 * Pure parts of the list of conversations: joining pages, days, times, filters.
 *
 * Spec: docs/spec/page/shell.md, "Conversations".
 */
import { MARK } from "../composer/port.ts";

/** What the list needs of a conversation; the gateway's answer has more. Times in Unix ms. */
export interface Listed {
  readonly id: string;
  readonly title?: string | undefined;
  readonly tags: readonly string[];
  readonly created_at: number;
  readonly updated_at: number;
  readonly head_seq: number;
  readonly running_turn_id?: string | undefined;
  readonly queued_turn_ids?: readonly string[] | undefined;
  readonly metadata?: { readonly [name: string]: unknown } | undefined;
}

/** Whether it was made for the files of a question that was not asked, and nobody did anything with it. */
export function isDraftOnly(item: Listed): boolean {
  return (
    item.metadata?.[MARK] !== undefined &&
    item.head_seq === 0 &&
    item.running_turn_id === undefined &&
    !item.queued_turn_ids?.length &&
    item.tags.length === 0 &&
    !item.title
  );
}

/** A page of the list, and which stretch of the order it covers. */
export interface ListedPage<T extends Listed> {
  readonly items: readonly T[];
  /** The item just before the page, null for the first page. */
  readonly behind: Listed | null;
  /** Whether nothing comes after it. */
  readonly isEnd: boolean;
}

/** The gateway's order: newest first, by time of creation, then by id. */
export function compareListed(a: Listed, b: Listed): number {
  if (a.created_at !== b.created_at) return b.created_at - a.created_at;
  return a.id === b.id ? 0 : a.id < b.id ? 1 : -1;
}

/**
 * `known` with what `page` says about its stretch: items that should be there and are not have
 * been deleted, others are new or as they are now. Outside of it nothing changes. An item that is
 * as it was keeps its identity.
 */
export function joinPage<T extends Listed>(known: readonly T[], page: ListedPage<T>): T[] {
  const last = page.items.at(-1);
  const isCovered = (item: T): boolean => {
    if (page.behind !== null && compareListed(item, page.behind) <= 0) return false;
    return page.isEnd || (last !== undefined && compareListed(item, last) <= 0);
  };
  const before = new Map(known.map((item) => [item.id, item]));
  const given = new Set(page.items.map((item) => item.id));
  const kept = known.filter((item) => !given.has(item.id) && !isCovered(item));
  const fresh = page.items.map((item) => {
    const old = before.get(item.id);
    return old !== undefined && isSame(old, item) ? old : item;
  });
  return [...kept, ...fresh].sort(compareListed);
}

/** Whether two answers about one conversation say the same. */
export function isSame(a: Listed, b: Listed): boolean {
  return a === b || JSON.stringify(a, plain) === JSON.stringify(b, plain);
}

function plain(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

/** Conversations of one day, week or month, under one heading. */
export interface Group<T> {
  readonly key: string;
  readonly label: DayLabel;
  readonly items: readonly T[];
}

/** What a heading says; the words are in `strings`. `month` is the first moment of a month. */
export type DayLabel =
  | { readonly kind: "today" | "yesterday" | "week" | "month30" }
  | { readonly kind: "month"; readonly at: number };

const DAY_MS = 86_400_000;

/** `items`, which are in order, under headings as a person at `now` would say them. */
export function groupByDay<T extends Listed>(items: readonly T[], now: number): Group<T>[] {
  const groups: { key: string; label: DayLabel; items: T[] }[] = [];
  for (const item of items) {
    const label = dayLabel(item.created_at, now);
    const key = label.kind === "month" ? `month-${label.at}` : label.kind;
    const group = groups.at(-1);
    if (group?.key === key) group.items.push(item);
    else groups.push({ key, label, items: [item] });
  }
  return groups;
}

function dayLabel(at: number, now: number): DayLabel {
  const days = Math.round((startOfDay(now) - startOfDay(at)) / DAY_MS);
  // A clock that is behind shows what is new as of today.
  if (days <= 0) return { kind: "today" };
  if (days === 1) return { kind: "yesterday" };
  if (days < 7) return { kind: "week" };
  if (days < 30) return { kind: "month30" };
  const date = new Date(at);
  return { kind: "month", at: new Date(date.getFullYear(), date.getMonth(), 1).getTime() };
}

function startOfDay(at: number): number {
  const date = new Date(at);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

/** How long ago, as short as the list has room for: "now", "4 min.", "3 hr.", else the day. */
export function shortAge(at: number, now: number, language?: string): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) {
    return new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(0, "second");
  }
  const unit = (value: number, name: "minute" | "hour"): string =>
    new Intl.NumberFormat(language, { style: "unit", unit: name, unitDisplay: "short" }).format(
      value,
    );
  if (minutes < 60) return unit(minutes, "minute");
  if (startOfDay(at) === startOfDay(now) && minutes < 24 * 60) {
    return unit(Math.floor(minutes / 60), "hour");
  }
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return new Intl.DateTimeFormat(language, {
    day: "numeric",
    month: "short",
    ...(isThisYear ? {} : { year: "numeric" }),
  }).format(at);
}

/** A moment in full: for titles of times and for when a link ends. */
export function fullTime(at: number, language?: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(at);
}

/** Text as it is compared: case and accents do not count, as in the gateway's search. */
export function folded(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** `items` whose title has every word of `query`, and the tag when one is asked for. */
export function filterListed<T extends Listed>(
  items: readonly T[],
  { query, tag }: { query: string; tag: string | null },
): T[] {
  const words = folded(query).split(/\s+/u).filter(Boolean);
  return items.filter((item) => {
    if (tag !== null && !item.tags.includes(tag)) return false;
    const title = folded(item.title ?? "");
    return words.every((word) => title.includes(word));
  });
}

/** Every tag of `items` with how often it is there, the most used first. */
export function countTags(items: readonly Listed[]): { tag: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const item of items) {
    for (const tag of item.tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  }
  return [...counts]
    .map(([tag, count]) => ({ tag, count }))
    .sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1));
}

/** Tags as typed, "a, b": trimmed, without blanks and repetitions, in their order. */
export function splitTags(text: string): string[] {
  return [
    ...new Set(
      text
        .split(",")
        .map((tag) => tag.trim())
        .filter(Boolean),
    ),
  ];
}
