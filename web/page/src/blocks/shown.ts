/**
 * Text of others as it may be shown: what acts without being seen (controls, marks that turn the
 * direction around) has a label, so that no name and no question looks like another one.
 */
import { labelControls } from "../markdown/text.ts";

/** Text of several lines. */
export function shownText(text: string): string {
  return labelControls(normaliseBreaks(text));
}

/** A name, in one line. */
export function shownLine(text: string): string {
  return labelControls(text.replace(/[\r\n\t]+/g, " ").trim());
}

/** Line breaks of every kind as LF, so that what is counted is what is seen. */
export function normaliseBreaks(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}
