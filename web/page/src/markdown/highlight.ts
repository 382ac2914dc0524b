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

const ROLES: Readonly<Record<string, Role>> = {
  keyword: "keyword",
  controlKeyword: "keyword",
  operatorKeyword: "keyword",
  definitionKeyword: "keyword",
  moduleKeyword: "keyword",
  modifier: "keyword",
  self: "keyword",
  tag: "keyword",
  tagName: "keyword",
  deleted: "keyword",
  string: "string",
  "string-2": "string",
  special: "string",
  character: "string",
  regexp: "string",
  escape: "string",
  inserted: "string",
  attributeValue: "string",
  number: "number",
  integer: "number",
  float: "number",
  atom: "number",
  bool: "number",
  null: "number",
  literal: "number",
  unit: "number",
  color: "number",
  builtin: "name",
  standard: "name",
  def: "name",
  definition: "name",
  function: "name",
  type: "name",
  typeName: "name",
  className: "name",
  namespace: "name",
  macroName: "name",
  attribute: "name",
  attributeName: "name",
  qualifier: "name",
  labelName: "name",
  heading: "name",
  propertyDefinition: "name",
  comment: "comment",
  lineComment: "comment",
  blockComment: "comment",
  docComment: "comment",
  meta: "comment",
  documentMeta: "comment",
  processingInstruction: "comment",
};

/** The colour of what a mode calls a token, such as `variableName.definition`. */
export function roleOf(style: string | null): Role {
  if (style === null) return "";
  for (const name of style.split(" ")) {
    const [base = "", ...modifiers] = name.split(".");
    const role = ROLES[base] ?? "";
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
