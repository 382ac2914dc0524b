/**
 * Code as it arrives, in colours where its language is known.
 *
 * Made of text nodes only. A line is coloured once, when it is complete; the one that is being
 * written is short or plain. Long code stands in groups of lines that browsers lay out only near
 * the view, and what came as a whole is coloured in slices of idle time, where it is near the view.
 */

import { strings } from "../strings.ts";
import { LineHighlighter, type Piece } from "./highlight.ts";
import { idle } from "./idle.ts";
import { isKnownLanguage, loadMode } from "./languages.ts";
import { GrowingText } from "./nodes.ts";
import { labelControls, labelMore } from "./text.ts";

/** Lines of a group. */
const GROUP_LINES = 128;
/** More groups than this are coloured only near the view. */
const EAGER_GROUPS_MAX = 8;
/** The line that is being written is coloured up to this length. */
const OPEN_CHARS_MAX = 240;
/** Lines that are coloured at once; more of them wait for idle time. */
const DIRECT_LINES_MAX = 200;
/** How far from the view code is coloured. */
const NEAR = "1000px";
/** How long the button says that code was copied. */
const COPIED_MS = 2_000;
/** Height of a line, in em of the code; as in markdown.css. */
const LINE_EM = 1.55;

export interface CodeOptions {
  /** As a fence or block names it. */
  readonly language?: string;
  readonly copyCode: (text: string) => void;
}

interface Group {
  readonly element: HTMLElement;
  readonly lines: string[];
  /** The state with which it begins, once that is known. */
  start: LineHighlighter | null;
  isColoured: boolean;
  isNear: boolean;
}

function pieceNodes(pieces: readonly Piece[]): Node[] {
  return pieces.map(({ text, role }) => {
    const shown = document.createTextNode(labelControls(text));
    if (role === "") return shown;
    const span = document.createElement("span");
    span.className = `md-${role}`;
    span.append(shown);
    return span;
  });
}

export class CodeView {
  readonly element: HTMLElement;
  readonly #options: CodeOptions;
  readonly #code: HTMLElement;
  readonly #groups: Group[] = [];
  readonly #source = new GrowingText();
  /** The line that is being written. */
  readonly #open: HTMLElement;
  #openText = "";
  #openParts: string[] = [];
  #openChars = 0;
  #highlighter: LineHighlighter | null = null;
  /** Groups whose lines the highlighter has read; all of them: it reads lines as they come. */
  #readGroups = 0;
  #readLines = 0;
  #observer: IntersectionObserver | null = null;
  #cancelIdle: (() => void) | null = null;
  #copiedTimer = 0;
  #isDestroyed = false;

  constructor(options: CodeOptions) {
    this.#options = options;
    const language = options.language ?? "";
    const name = labelControls(language).slice(0, 40);
    this.element = document.createElement("figure");
    this.element.className = "md-code";
    this.element.dir = "ltr";
    const body = document.createElement("pre");
    body.className = "md-code-body";
    body.tabIndex = 0;
    // No landmark: there may be many.
    body.setAttribute("role", "group");
    body.setAttribute(
      "aria-label",
      name === "" ? strings.markdown.code : strings.markdown.codeIn(name),
    );
    this.#code = document.createElement("code");
    this.#open = document.createElement("span");
    this.#open.className = "md-open-line";
    body.append(this.#code);
    this.element.append(this.#head(name), body);
    if (isKnownLanguage(language)) void this.#load(language);
  }

  /** The code, as it was written. */
  get text(): string {
    return this.#source.toString();
  }

  append(text: string): void {
    this.#source.append(text);
    const last = text.lastIndexOf("\n");
    if (last < 0) {
      this.#growOpen(text);
      return;
    }
    const whole = this.#openParts.join("") + text.slice(0, last);
    this.#openParts = [];
    this.#openChars = 0;
    this.#openText = "";
    this.#open.remove();
    this.#addLines(whole.split("\n"));
    this.#growOpen(text.slice(last + 1));
  }

  /** There will be no more text. */
  finish(): void {
    if (this.#openChars === 0) return;
    const line = this.#openParts.join("");
    this.#openParts = [];
    this.#openChars = 0;
    this.#openText = "";
    this.#open.remove();
    this.#addLines([line]);
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#observer?.disconnect();
    this.#cancelIdle?.();
    clearTimeout(this.#copiedTimer);
  }

  // The head -----------------------------------------------------------------------------

  #head(name: string): HTMLElement {
    const head = document.createElement("figcaption");
    head.className = "md-code-head";
    const shown = document.createElement("bdi");
    shown.className = "md-code-language";
    shown.textContent = name;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "md-copy";
    const words = strings.markdown;
    button.textContent = words.copyCode;
    const label = name === "" ? words.copyPlainCode : words.copyCodeOf(name);
    button.setAttribute("aria-label", label);
    button.addEventListener("click", () => {
      this.#options.copyCode(this.text.replace(/\n$/, ""));
      button.textContent = words.copied;
      button.setAttribute("aria-label", words.copied);
      clearTimeout(this.#copiedTimer);
      this.#copiedTimer = window.setTimeout(() => {
        button.textContent = words.copyCode;
        button.setAttribute("aria-label", label);
      }, COPIED_MS);
    });
    head.append(shown, button);
    return head;
  }

  // Lines --------------------------------------------------------------------------------

  get #isDirect(): boolean {
    const read = this.#readGroups * GROUP_LINES + this.#readLines;
    const last = this.#groups.at(-1);
    const count = (this.#groups.length - 1) * GROUP_LINES + (last?.lines.length ?? GROUP_LINES);
    return this.#highlighter !== null && read === count;
  }

  #growOpen(text: string): void {
    if (text === "") return;
    this.#openParts.push(text);
    this.#openChars += text.length;
    if (!this.#open.isConnected || this.#open.parentNode === null) this.#code.append(this.#open);
    if (this.#openChars <= OPEN_CHARS_MAX) {
      this.#openText += text;
      this.#showOpen();
      return;
    }
    const node = this.#open.lastChild;
    if (node instanceof Text && this.#open.childNodes.length === 1) {
      node.appendData(labelMore(node.data, text));
    } else this.#open.textContent = labelControls(this.#openParts.join(""));
  }

  /** Shows the line that is being written, while it is short. */
  #showOpen(): void {
    if (this.#isDirect && this.#highlighter !== null) {
      this.#open.replaceChildren(...pieceNodes(this.#highlighter.copy().next(this.#openText)));
    } else this.#open.textContent = labelControls(this.#openText);
  }

  #addLines(lines: readonly string[]): void {
    const isDirect = this.#isDirect && lines.length <= DIRECT_LINES_MAX;
    let plain: string[] = [];
    let group = this.#groups.at(-1);
    for (const line of lines) {
      if (group === undefined || group.lines.length >= GROUP_LINES) {
        if (group !== undefined) this.#addPlain(group, plain);
        plain = [];
        group = this.#addGroup();
      }
      group.lines.push(line);
      if (isDirect && this.#highlighter !== null) this.#addColoured(group, line);
      else plain.push(line);
    }
    if (group !== undefined) this.#addPlain(group, plain);
    if (!isDirect) this.#schedule();
  }

  #addPlain(group: Group, lines: readonly string[]): void {
    if (lines.length > 0) group.element.append(`${labelControls(lines.join("\n"))}\n`);
  }

  #addColoured(group: Group, line: string): void {
    const highlighter = this.#highlighter;
    if (highlighter === null) return;
    if (group.lines.length === 1) {
      group.start = highlighter.copy();
      group.isColoured = true;
    }
    const pieces = highlighter.next(line);
    if (group.isColoured) group.element.append(...pieceNodes(pieces), "\n");
    else this.#addPlain(group, [line]);
    this.#countLine();
  }

  #countLine(): void {
    this.#readLines += 1;
    if (this.#readLines === GROUP_LINES) {
      this.#readLines = 0;
      this.#readGroups += 1;
    }
  }

  #addGroup(): Group {
    const before = this.#groups.at(-1);
    if (before !== undefined) {
      // It is full: where it is out of view, it need not be laid out.
      before.element.classList.add("md-lines-full");
      before.element.style.setProperty(
        "contain-intrinsic-block-size",
        `auto ${GROUP_LINES * LINE_EM}em`,
      );
    }
    const element = document.createElement("span");
    element.className = "md-lines";
    const group: Group = { element, lines: [], start: null, isColoured: false, isNear: false };
    this.#groups.push(group);
    this.#code.append(element);
    if (this.#groups.length > EAGER_GROUPS_MAX) this.#observe();
    return group;
  }

  // Colours ------------------------------------------------------------------------------

  async #load(language: string): Promise<void> {
    const mode = await loadMode(language);
    if (mode === null || this.#isDestroyed) return;
    this.#highlighter = new LineHighlighter(mode);
    this.#schedule();
  }

  #observe(): void {
    if (this.#observer === null) {
      this.#observer = new IntersectionObserver((entries) => this.#seen(entries), {
        rootMargin: NEAR,
      });
      for (const group of this.#groups) this.#observer.observe(group.element);
      return;
    }
    const last = this.#groups.at(-1);
    if (last !== undefined) this.#observer.observe(last.element);
  }

  #seen(entries: readonly IntersectionObserverEntry[]): void {
    const near = new Map(entries.map((entry) => [entry.target, entry.isIntersecting]));
    for (const group of this.#groups) {
      const isNear = near.get(group.element);
      if (isNear === undefined) continue;
      group.isNear = isNear;
      if (isNear && group.start !== null && !group.isColoured) this.#colour(group);
    }
  }

  #schedule(): void {
    if (this.#highlighter === null || this.#cancelIdle !== null || this.#isDestroyed) return;
    if (this.#isDirect) {
      if (this.#openChars > 0 && this.#openChars <= OPEN_CHARS_MAX) this.#showOpen();
      return;
    }
    this.#cancelIdle = idle((mayGoOn) => {
      this.#cancelIdle = null;
      do {
        if (!this.#readSome()) break;
      } while (mayGoOn());
      this.#schedule();
    });
  }

  /** Reads up to the end of one group; returns whether there was something to read. */
  #readSome(): boolean {
    const highlighter = this.#highlighter;
    const group = this.#groups[this.#readGroups];
    if (highlighter === null || group === undefined) return false;
    const lines = group.lines.slice(this.#readLines);
    if (lines.length === 0) return false;
    if (this.#readLines === 0) group.start = highlighter.copy();
    for (const line of lines) {
      highlighter.next(line);
      this.#countLine();
    }
    if (this.#groups.length <= EAGER_GROUPS_MAX || group.isNear) this.#colour(group);
    return true;
  }

  /** Colours all lines that a group has. */
  #colour(group: Group): void {
    const highlighter = group.start?.copy();
    if (highlighter === undefined) return;
    const nodes: (Node | string)[] = [];
    for (const line of group.lines) nodes.push(...pieceNodes(highlighter.next(line)), "\n");
    group.element.replaceChildren(...nodes);
    group.isColoured = true;
  }
}
