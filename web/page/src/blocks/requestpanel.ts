/** What a suspended turn asks of a person, and how it is answered. */
import type { Json } from "@blockwire/core";
import { append, el, freshId, setData, setHidden } from "../platform/dom.ts";
import { strings } from "../strings.ts";
import {
  type AskedRequest,
  choicesOf,
  readAnswer,
  requestOptions,
  takesText,
  UnusableAnswer,
} from "./answers.ts";
import type { ShowContext } from "./context.ts";
import { literal, wordButton } from "./controls.ts";
import { icon } from "./icons.ts";
import { shownLine } from "./shown.ts";
import { boundedLength } from "./values.ts";

const words = strings.blocks;

/** Longest label of an answer's button, in UTF-16 units. */
const LABEL_CHARS_MAX = 300;

/** So long after it came a panel takes no answer: nobody approves by a click that was meant for something else. */
export const ANSWER_GUARD_MS = 500;

/** Codes that say that the turn does not wait for this answer any more. */
const TOO_LATE: ReadonlySet<string> = new Set([
  "turn_not_suspended",
  "request_mismatch",
  "turn_terminal",
]);

/** Where the panel stands, and what it is about. */
export interface RequestPlace {
  readonly turnId: string;
  /** Name of the tool that the request names; empty where it names none. */
  readonly about: string;
}

export class RequestPanel {
  readonly element: HTMLElement;
  readonly request: AskedRequest;
  readonly #context: ShowContext;
  readonly #place: RequestPlace;
  readonly #controls = el("fieldset", { class: "bk-request-controls" });
  readonly #told = el("p", { class: "bk-request-told", attrs: { dir: "auto" } });
  #isSent = false;
  /** Has the focus of whoever answered, until it is known that the answer was taken. */
  #message: HTMLElement | null = null;
  #guard = 0;

  constructor(context: ShowContext, place: RequestPlace, request: AskedRequest) {
    this.#context = context;
    this.#place = place;
    this.request = request;
    const prompt = literal(String(request.prompt ?? ""), "bk-literal bk-request-prompt");
    prompt.id = freshId("bk-request");
    const isApproval = request.kind === "approval";
    this.element = el(
      "section",
      { class: "bk-request", attrs: { role: "group", "aria-labelledby": prompt.id } },
      el(
        "div",
        { class: "bk-request-head" },
        icon("question"),
        el("span", {}, isApproval ? words.approvalNeeded : words.answerNeeded),
        place.about !== "" && el("bdi", { class: "bk-tool-name" }, place.about),
      ),
      prompt,
      this.#controls,
      this.#told,
    );
    setHidden(this.#told, true);
    this.#addChoices(isApproval);
    if (takesText(request)) this.#addField(prompt.id);
    this.#controls.disabled = true;
    if (context.canWrite) {
      this.#controls.dataset.guard = "true";
      this.#guard = window.setTimeout(() => {
        delete this.#controls.dataset.guard;
        this.#controls.disabled = false;
      }, ANSWER_GUARD_MS);
    } else {
      this.#tell(words.answerByOthers, "soft");
    }
  }

  /** Takes the panel away. */
  destroy(): void {
    clearTimeout(this.#guard);
    this.element.remove();
  }

  #addChoices(isApproval: boolean): void {
    const hasNumbers = requestOptions(this.request).length > 1;
    const row = el("div", { class: "bk-request-choices" });
    for (const [index, choice] of choicesOf(this.request).entries()) {
      const end = boundedLength(choice.label, LABEL_CHARS_MAX);
      const label =
        end < choice.label.length ? `${choice.label.slice(0, end)}\u2026` : choice.label;
      const button = wordButton(
        hasNumbers && takesText(this.request)
          ? `${index + 1}. ${shownLine(label)}`
          : shownLine(label),
        { kind: isApproval && index === 0 ? "main" : "plain" },
        () => this.#send(choice.answer, button),
      );
      button.lastElementChild?.setAttribute("dir", "auto");
      append(row, button);
    }
    if (row.childElementCount > 0) append(this.#controls, row);
  }

  #addField(promptId: string): void {
    const hasOptions = requestOptions(this.request).length > 0;
    const field = el("textarea", {
      class: "bk-request-field",
      attrs: {
        rows: 1,
        dir: "auto",
        "aria-labelledby": promptId,
        placeholder: hasOptions ? words.answerOther : words.answerPlaceholder,
      },
    });
    const send = wordButton(words.answerSend, { kind: hasOptions ? "plain" : "main" }, submit);
    const panel = this;
    function submit(): void {
      try {
        panel.#send(readAnswer(panel.request, field.value), field);
      } catch (error) {
        if (!(error instanceof UnusableAnswer)) throw error;
        panel.#tell(error.message, "bad");
        field.focus();
      }
    }
    field.addEventListener("keydown", (event) => {
      // Enter ends the choosing of characters in some input methods; then it sends nothing.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      submit();
    });
    append(this.#controls, el("div", { class: "bk-request-form" }, field, send));
  }

  #send(answer: Json, from: HTMLElement): void {
    if (this.#isSent || !this.#context.canWrite) return;
    this.#isSent = true;
    // A control that is disabled, and then goes, would leave a keyboard nowhere.
    if (this.element.contains(document.activeElement)) {
      this.#message = this.element.closest<HTMLElement>("article");
      this.#message?.focus({ preventScroll: true });
    }
    this.#controls.disabled = true;
    this.#tell(words.answerSending, "soft");
    const requestId = String(this.request.id ?? "");
    this.#context.answer(this.#place.turnId, requestId, answer).then(
      // The turn goes on when its event comes; until then nothing more can be answered.
      () => this.#tell(words.answerSent, "soft"),
      (error: unknown) => this.#refused(error, from),
    );
  }

  #refused(error: unknown, from: HTMLElement): void {
    const code = codeOf(error);
    const isLate = TOO_LATE.has(code);
    const message = error instanceof Error ? error.message : "";
    const text = isLate ? words.answeredElsewhere : words.answerFailed(message);
    this.#tell(text, isLate ? "soft" : "bad");
    this.#context.announce(text);
    if (isLate) return;
    this.#isSent = false;
    this.#controls.disabled = false;
    // Whoever went on elsewhere meanwhile stays there.
    const focused = document.activeElement;
    if (focused === document.body || focused === null || focused === this.#message) {
      from.focus({ preventScroll: true });
    }
  }

  #tell(text: string, tone: "soft" | "bad"): void {
    this.#told.textContent = text;
    setData(this.#told, "tone", tone);
    setHidden(this.#told, false);
  }
}

function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}
