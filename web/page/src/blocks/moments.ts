import { strings } from "../strings.ts";

/** Latest time that a calendar has, in milliseconds; later ones are not shown. */
const TIME_MAX = 253_402_300_799_999;

/** A time as a message's head shows it: of today the hour, else the day as well. Local time. */
export function shortTime(timeMs: number, nowMs: number): string {
  if (!hasDate(timeMs)) return "";
  const time = new Date(timeMs);
  const now = new Date(nowMs);
  const clock: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit" };
  if (time.toDateString() === now.toDateString()) return formatter(clock).format(time);
  const day: Intl.DateTimeFormatOptions = { day: "numeric", month: "short" };
  if (time.getFullYear() !== now.getFullYear()) day.year = "numeric";
  return formatter({ ...day, ...clock }).format(time);
}

/** A time in full, with its zone, for whoever points at it. */
export function fullTime(timeMs: number): string {
  if (!hasDate(timeMs)) return "";
  return formatter({ dateStyle: "full", timeStyle: "long" }).format(new Date(timeMs));
}

/** A time for programs; nothing for one that no calendar has. */
export function isoTime(timeMs: number): string {
  return hasDate(timeMs) ? new Date(timeMs).toISOString() : "";
}

function hasDate(timeMs: number): boolean {
  return timeMs >= 0 && timeMs <= TIME_MAX;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Formatters are slow to make, and a long conversation has thousands of times. */
function formatter(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify(options);
  let made = formatters.get(key);
  if (made === undefined) {
    made = new Intl.DateTimeFormat(undefined, options);
    formatters.set(key, made);
  }
  return made;
}

/** How long something took, as exported documents say it; nothing where the times do not tell. */
export function duration(startedMs: unknown, completedMs: unknown): string {
  if (typeof startedMs !== "number" || typeof completedMs !== "number") return "";
  if (completedMs < startedMs) return "";
  const seconds = (completedMs - startedMs) / 1000;
  if (seconds < 60) return strings.blocks.seconds(seconds.toFixed(1));
  return strings.blocks.minutes(Math.floor(seconds / 60), Math.floor(seconds % 60));
}

/** A size for people: 950 B, 8.2 kB, 5.0 MB. */
export function sizeWords(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const [unit, name] = bytes < 1_000_000 ? [1000, "kB"] : [1_000_000, "MB"];
  const value = bytes / unit;
  return `${value < 100 ? value.toFixed(1) : Math.round(value)} ${name}`;
}
