/** What stands above a message: who speaks, when, and how it stands. */
import type { MessageState } from "@blockwire/core";
import { append, el, setData, setHidden, setText } from "../platform/dom.ts";
import { strings } from "../strings.ts";
import type { ShowContext } from "./context.ts";
import { type IconName, icon, setIcon } from "./icons.ts";
import { fullTime, isoTime, shortTime } from "./moments.ts";
import { shownLine } from "./shown.ts";
import type { TurnFacts } from "./turnfacts.ts";

const words = strings.blocks;

/** How a message stands beyond being complete; names of {@link strings} and of colours. */
type Standing = keyof typeof words.states;

const STANDING_ICONS: Readonly<Record<Standing, IconName>> = {
  streaming: "running",
  suspended: "question",
  failed: "warning",
  cancelled: "cancelled",
  interrupted: "warning",
};

/** The word for a role. */
export function roleWord(role: string): string {
  return (words.roles as Readonly<Record<string, string>>)[role] ?? role;
}

/** Who speaks, and the role beside an author, so that no author passes for another. */
export function speaker(
  message: MessageState,
  isOwner: boolean,
): { readonly name: string; readonly role: string } {
  const author = shownLine(message.author ?? "");
  const role = roleWord(message.role);
  if (author !== "") return { name: author, role };
  return { name: message.role === "user" && isOwner ? words.you : role, role: "" };
}

/** The name of a message's article. */
export function articleName(message: MessageState, isOwner: boolean, nowMs: number): string {
  const who = speaker(message, isOwner).name;
  const time = shortTime(message.createdAt, nowMs);
  const model = shownLine(message.model ?? "");
  const author = shownLine(message.author ?? "");
  if (message.role === "user") return words.articleNames.user(who, time);
  if (message.role !== "assistant") return words.articleNames.other(who, time);
  return words.articleNames.assistant(author !== "" ? author : model || who, time);
}

/** The head of one message. */
export class Head {
  readonly element: HTMLElement;
  readonly #standing = el("span", { class: "bk-standing" });
  readonly #mark = icon("running");
  readonly #word = el("span");
  readonly #model = el("span", { class: "bk-model", attrs: { dir: "auto" } });

  constructor(context: ShowContext, message: MessageState, nowMs: number) {
    const { name, role } = speaker(message, context.isOwner);
    const time = shortTime(message.createdAt, nowMs);
    append(this.#standing, this.#mark, this.#word);
    this.element = el(
      "header",
      { class: "bk-head" },
      el("h2", { class: "bk-name", attrs: { dir: "auto" } }, name),
      role !== "" && el("span", { class: "bk-role" }, role),
      this.#model,
      time !== "" &&
        el(
          "time",
          {
            class: "bk-time",
            attrs: {
              datetime: isoTime(message.createdAt),
              title: fullTime(message.createdAt),
              dir: "auto",
            },
          },
          time,
        ),
      this.#standing,
    );
  }

  /** Shows what may change of a message. */
  update(message: MessageState, facts: TurnFacts): void {
    const model = shownLine(message.model ?? "");
    setText(this.#model, model);
    setHidden(this.#model, model === "");
    const standing = facts.isInterrupted ? "interrupted" : message.status;
    setHidden(this.#standing, standing === "completed");
    if (standing === "completed") return;
    setData(this.#standing, "standing", standing);
    setIcon(this.#mark, STANDING_ICONS[standing]);
    setText(this.#word, words.states[standing]);
  }
}
