/** Numbers, days and states in the words of the page. */
import { strings } from "../strings.ts";
import type { DayLabel } from "./listing.ts";

/** The heading of a group of the list. */
export function dayText(label: DayLabel): string {
  if (label.kind !== "month") return strings.shell[label.kind];
  return new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric" }).format(label.at);
}

/** A count with its thousands apart. */
export function countText(count: number | bigint): string {
  return new Intl.NumberFormat().format(count);
}
