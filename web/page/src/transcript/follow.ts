/**
 * Whether the window follows the end of the conversation, and what of a reader's doing changes that.
 *
 * Values in, values out. A scroll event alone does not say who scrolled; where it stands does: content grows
 * downwards and is cut by the browser at the end only, so an offset above both the one that was written and
 * the greatest possible one is the reader's. What leads to scrolling (a wheel, a finger, a key) counts before
 * the first event of it comes, so that no update pulls the page back from under it.
 *
 * Spec: docs/spec/page/transcript.md.
 */
import { END_PX } from "./layout.ts";

export type Doing =
  /** A wheel, finger or key that scrolls up, on something that can. */
  | { readonly kind: "up" }
  /** The same downwards: at the end there is no scroll event to tell of it. */
  | {
      readonly kind: "down";
      readonly scrollTop: number;
      readonly end: number;
      readonly isJoined: boolean;
    }
  /** Text was selected: it must not run away. */
  | { readonly kind: "selected" }
  /** A button or finger went down that may hold the scroll bar or the page; and up again. */
  | { readonly kind: "pressed" }
  | { readonly kind: "released" }
  /** A scroll event. `written` is the offset that was written last. */
  | {
      readonly kind: "scrolled";
      readonly scrollTop: number;
      readonly written: number;
      readonly end: number;
      readonly isJoined: boolean;
    }
  /** A question was sent, or "to the end" was pressed. */
  | { readonly kind: "follow" }
  /** A place was looked up. */
  | { readonly kind: "placed" };

export interface Following {
  readonly isOn: boolean;
  /** Something is held down: nothing scrolls by itself meanwhile. */
  readonly isHeld: boolean;
}

export const followingAtFirst: Following = { isOn: true, isHeld: false };

/** Whether a scroll event is the echo of what the page wrote, or of the browser cutting it at the end. */
export function isEcho(scrollTop: number, written: number, end: number): boolean {
  return Math.abs(scrollTop - Math.min(written, end)) <= 1;
}

/** What a doing of the reader makes of following. */
export function afterDoing(following: Following, doing: Doing): Following {
  switch (doing.kind) {
    case "up":
    case "selected":
    case "placed":
      return following.isOn ? { ...following, isOn: false } : following;
    case "follow":
      return { ...following, isOn: true };
    case "pressed":
      return { ...following, isHeld: true };
    case "released":
      return { ...following, isHeld: false };
    case "down":
      return !following.isOn && doing.isJoined && doing.scrollTop >= doing.end - END_PX
        ? { ...following, isOn: true }
        : following;
    case "scrolled": {
      if (following.isOn) {
        const isUp = doing.scrollTop < Math.min(doing.written, doing.end) - 1;
        return isUp ? { ...following, isOn: false } : following;
      }
      const isDown = doing.scrollTop > doing.written;
      const isAtEnd = doing.scrollTop >= doing.end - END_PX;
      return isDown && isAtEnd && doing.isJoined ? { ...following, isOn: true } : following;
    }
  }
}
