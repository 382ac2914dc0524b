/**
 * Colours of code, line by line: what a line costs does not depend on the lines before it, because
 * the mode's state is kept. No DOM in here.
 */

import { type StreamParser, StringStream } from "@codemirror/streamparser";

/** The five colours of code; empty: none. */
export type Role = "" | "keyword" | "string" | "number" | "name" | "comment";

export interface Piece {
  readonly text: string;
  readonly role: Role;
}

/** A longer line is not coloured. */
export const LINE_CHARS_MAX = 2_000;
const TAB = 4;
const INDENT = 2;
/** How often a mode may say nothing before it is taken a character on. */
const IDLE_MAX = 8;

const ROLES = new Map<string, Role>();
for (const [role, names] of [
  [
    "keyword",
    "keyword controlKeyword operatorKeyword definitionKeyword moduleKeyword modifier self tag tagName deleted",
  ],
  ["string", "string string-2 special character regexp escape inserted attributeValue"],
  ["number", "number integer float atom bool null literal unit color"],
  [
    "name",
    "builtin standard def definition function type typeName className namespace macroName attribute attributeName qualifier labelName heading propertyDefinition",
  ],
  [
    "comment",
    "comment lineComment blockComment docComment meta documentMeta processingInstruction",
  ],
] as const) {
  for (const name of names.split(" ")) ROLES.set(name, role);
}

/**
 * The colour of what a mode calls a token, such as `variableName.definition`.
 *
 * @param style - Some modes return nothing at all where they mean null.
 */
export function roleOf(style: string | null | undefined): Role {
  if (style === null || style === undefined) return "";
  for (const name of style.split(" ")) {
    const [base = "", ...modifiers] = name.split(".");
    const role = ROLES.get(base) ?? "";
    if (role !== "") return role;
    for (const modifier of modifiers) {
      if (modifier === "definition" || modifier === "function" || modifier === "standard") {
        return "name";
      }
    }
  }
  return "";
}

function copied(mode: StreamParser<unknown>, state: unknown): unknown {
  if (mode.copyState !== undefined) return mode.copyState(state);
  if (typeof state !== "object" || state === null) return state;
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(state)) {
    copy[name] = Array.isArray(value) ? [...value] : value;
  }
  return copy;
}

export class LineHighlighter {
  readonly #mode: StreamParser<unknown>;
  #state: unknown;
  /** The mode failed: nothing is coloured any more. */
  #isBroken = false;

  constructor(mode: StreamParser<unknown>) {
    this.#mode = mode;
    this.#state = mode.startState?.(INDENT) ?? {};
  }

  /** A twin that goes on from here by itself. */
  copy(): LineHighlighter {
    const twin = new LineHighlighter(this.#mode);
    twin.#isBroken = this.#isBroken;
    try {
      twin.#state = copied(this.#mode, this.#state);
    } catch {
      twin.#isBroken = true;
    }
    return twin;
  }

  /**
   * The next line, in pieces that are together the line, character for character.
   *
   * @param line - Without its end.
   */
  next(line: string): Piece[] {
    if (this.#isBroken || line.length > LINE_CHARS_MAX) return line === "" ? [] : [plain(line)];
    try {
      return this.#pieces(line);
    } catch {
      this.#isBroken = true;
      return [plain(line)];
    }
  }

  #pieces(line: string): Piece[] {
    const mode = this.#mode;
    if (line === "") {
      mode.blankLine?.(this.#state, INDENT);
      return [];
    }
    const stream = new StringStream(line, TAB, INDENT);
    const pieces: Piece[] = [];
    let idle = 0;
    let text = "";
    let role: Role = "";
    while (!stream.eol()) {
      stream.start = stream.pos;
      const style = mode.token(stream, this.#state);
      if (stream.pos === stream.start) {
        idle += 1;
        if (idle < IDLE_MAX) continue;
        stream.next();
      }
      idle = 0;
      const found = roleOf(style);
      const more = line.slice(stream.start, stream.pos);
      // Blanks have no colour that is seen: they go with what stands before them.
      if (found === role || more.trim() === "") text += more;
      else {
        if (text !== "") pieces.push({ text, role });
        text = more;
        role = found;
      }
    }
    if (text !== "") pieces.push({ text, role });
    return pieces;
  }
}

function plain(text: string): Piece {
  return { text, role: "" };
}
