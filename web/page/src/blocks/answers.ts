/**
 * What is answered to a turn that waits for a person. The same rules as in the terminal
 * (docs/spec/chat/input.md, "Answers"), so that an engine gets the same from everywhere.
 */
import { encodeJson, type Json, type JsonObject } from "@blockwire/core";
import { strings } from "../strings.ts";

/** A request as `turn.suspended` carries it. */
export type AskedRequest = Readonly<JsonObject>;

/** One answer that is offered. */
export interface Choice {
  readonly label: string;
  readonly answer: Json;
}

/** A text that answers nothing; the message says what would. */
export class UnusableAnswer extends Error {}

const YES_WORDS: ReadonlySet<string> = new Set(["y", "yes", "true", "ok"]);
const NO_WORDS: ReadonlySet<string> = new Set(["n", "no", "false"]);

/** What a request offers as answers; a single one is a list of one. */
export function requestOptions(request: AskedRequest): readonly Json[] {
  const options = request.options;
  if (Array.isArray(options)) return options;
  return options === null || options === undefined ? [] : [options];
}

/** Whether anything may be answered; an approval without options takes yes or no alone. */
export function takesText(request: AskedRequest): boolean {
  return request.kind !== "approval" || requestOptions(request).length > 0;
}

/** The answers that have a button of their own. */
export function choicesOf(request: AskedRequest): readonly Choice[] {
  if (!takesText(request)) {
    return [
      { label: strings.blocks.approve, answer: true },
      { label: strings.blocks.decline, answer: false },
    ];
  }
  return requestOptions(request).map((option) => ({
    label: typeof option === "string" ? option : encodeJson(option),
    answer: option,
  }));
}

/**
 * What a text answers: yes or no to an approval, a number takes the option of that number, else
 * the text itself.
 *
 * @throws UnusableAnswer
 */
export function readAnswer(request: AskedRequest, given: string): Json {
  const text = given.trim();
  if (!takesText(request)) {
    if (YES_WORDS.has(text.toLowerCase())) return true;
    if (NO_WORDS.has(text.toLowerCase())) return false;
    throw new UnusableAnswer(strings.blocks.answerYesNo);
  }
  const options = requestOptions(request);
  if (/^\d{1,9}$/.test(text)) {
    const option = options[Number(text) - 1];
    if (option !== undefined) return option;
  }
  if (text === "") throw new UnusableAnswer(strings.blocks.answerEmpty);
  return text;
}
