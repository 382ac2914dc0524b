/**
 * What a reader does with wheel, fingers, keys, scroll bar and selection, told as what it means for following.
 *
 * All listeners are passive: nothing here delays scrolling.
 */
import type { Doing } from "./follow.ts";

/** Milliseconds without a scroll event after which nothing scrolls any more, where no `scrollend` says so. */
const REST_MS = 160;

export interface ReaderOptions {
  readonly scroller: HTMLElement;
  /** Offset and its greatest value now, and whether what is below is the live state. */
  stand(): { scrollTop: number; end: number; isJoined: boolean };
  does(doing: Doing): void;
  /** A scroll event came. */
  scrolled(): void;
  /** Nothing scrolls, and nothing is held. */
  rests(): void;
}

export class Reader {
  readonly #options: ReaderOptions;
  readonly #gone = new AbortController();
  #restTimer = 0;
  #touchY: number | null = null;
  #isPressed = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
    const { scroller } = options;
    const on = { passive: true, signal: this.#gone.signal };
    scroller.addEventListener("scroll", () => this.#scrolled(), on);
    scroller.addEventListener("scrollend", () => this.#rest(), on);
    scroller.addEventListener("wheel", (event) => this.#wheel(event), on);
    scroller.addEventListener("keydown", (event) => this.#key(event), on);
    scroller.addEventListener("touchstart", (event) => this.#touch(event, true), on);
    scroller.addEventListener("touchmove", (event) => this.#touch(event, false), on);
    scroller.addEventListener("pointerdown", (event) => this.#press(event), on);
    for (const type of ["pointerup", "pointercancel", "blur"]) {
      window.addEventListener(type, () => this.#release(), on);
    }
    for (const type of ["touchend", "touchcancel"] as const) {
      window.addEventListener(
        type,
        (event: TouchEvent) => {
          if (event.touches.length === 0) this.#touchY = null;
          this.#restSoon();
        },
        on,
      );
    }
    document.addEventListener("selectionchange", () => this.#selected(), on);
  }

  destroy(): void {
    this.#gone.abort();
    clearTimeout(this.#restTimer);
  }

  #scrolled(): void {
    this.#options.scrolled();
    this.#restSoon();
  }

  #restSoon(): void {
    clearTimeout(this.#restTimer);
    this.#restTimer = window.setTimeout(() => this.#rest(), REST_MS);
  }

  #rest(): void {
    if (this.#isPressed || this.#touchY !== null) return;
    clearTimeout(this.#restTimer);
    this.#options.rests();
  }

  #wheel(event: WheelEvent): void {
    if (event.ctrlKey || event.deltaY === 0) return;
    this.#turn(event.deltaY < 0, event.target);
  }

  #touch(event: TouchEvent, isStart: boolean): void {
    const y = event.touches[0]?.clientY ?? null;
    const from = this.#touchY;
    this.#touchY = y;
    if (isStart || y === null || from === null || event.touches.length > 1) return;
    if (y !== from) this.#turn(y > from, event.target);
  }

  #key(event: KeyboardEvent): void {
    if (event.target instanceof Element && isField(event.target)) return;
    const isUp =
      ["ArrowUp", "PageUp", "Home"].includes(event.key) || (event.key === " " && event.shiftKey);
    const isDown =
      ["ArrowDown", "PageDown", "End"].includes(event.key) ||
      (event.key === " " && !event.shiftKey);
    if (isUp || isDown) this.#turn(isUp, event.target);
  }

  #turn(isUp: boolean, target: EventTarget | null): void {
    if (this.#takesItself(target, isUp)) return;
    const stand = this.#options.stand();
    if (!isUp) this.#options.does({ kind: "down", ...stand });
    else if (stand.end > 0 && stand.scrollTop > 0) this.#options.does({ kind: "up" });
  }

  /** Whether something inside scrolls instead: a long piece of code, say. */
  #takesItself(target: EventTarget | null, isUp: boolean): boolean {
    let at = target instanceof Element ? target : null;
    for (; at !== null && at !== this.#options.scroller; at = at.parentElement) {
      const left = isUp ? at.scrollTop : at.scrollHeight - at.clientHeight - at.scrollTop;
      if (left < 1) continue;
      const { overflowY } = getComputedStyle(at);
      if (overflowY === "auto" || overflowY === "scroll") return true;
    }
    return false;
  }

  #press(event: PointerEvent): void {
    if (event.pointerType === "touch" || event.button !== 0) return;
    this.#isPressed = true;
    this.#options.does({ kind: "pressed" });
  }

  #release(): void {
    if (!this.#isPressed) return;
    this.#isPressed = false;
    this.#options.does({ kind: "released" });
    this.#restSoon();
  }

  #selected(): void {
    const selection = document.getSelection();
    if (selection === null || selection.isCollapsed || selection.anchorNode === null) return;
    const { scroller } = this.#options;
    if (scroller.contains(selection.anchorNode)) this.#options.does({ kind: "selected" });
  }
}

/** Whether keys are typed into it rather than meant for the page. */
export function isField(element: Element): boolean {
  return element.closest("input, textarea, select, [contenteditable]") !== null;
}
