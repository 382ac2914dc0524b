/** Questions from the press of Send until their turns begin, and those that others put in line. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { strings } from "../strings.ts";
import { Icon } from "./icons.tsx";
import type { ComposerRunner } from "./runner.ts";
import type { ComposerState, OtherQuestion, Question } from "./types.ts";
import { reason, stageText } from "./words.ts";

const words = strings.composer;

/** Characters of a question that are put into the page here; the list shows two lines of it. */
const SHOWN_CHARS = 400;

export function Line({ runner }: { readonly runner: ComposerRunner }) {
  const state = runner.state.value;
  const { questions, others } = state;
  const list = useRef<HTMLOListElement>(null);
  const newestKey = questions.at(-1)?.key;
  // Whoever asks sees that it waits, also behind many others.
  useLayoutEffect(() => {
    const { current } = list;
    if (current !== null && newestKey !== undefined) current.scrollTop = current.scrollHeight;
  }, [newestKey]);
  if (questions.length === 0 && others.length === 0) return null;
  const placed = others.map((other) => ({ place: other.position, other }));
  // Those that have no place yet come behind those that have one.
  const rows = [
    ...questions.map((own, index) => ({ place: own.position ?? 10_000 + index, own })),
    ...placed,
  ].sort((one, other) => one.place - other.place);
  return (
    <section class="co-line" aria-label={words.line}>
      <ol ref={list}>
        {rows.map((row) =>
          "own" in row ? (
            <OwnRow key={row.own.key} question={row.own} state={state} runner={runner} />
          ) : (
            <OtherRow key={row.other.turnId} other={row.other} runner={runner} />
          ),
        )}
      </ol>
      <HoldRow state={state} runner={runner} />
    </section>
  );
}

function OwnRow({
  question,
  state,
  runner,
}: {
  readonly question: Question;
  readonly state: ComposerState;
  readonly runner: ComposerRunner;
}) {
  const { key, text, files, stage } = question;
  const shown = shownText(text, files.length);
  return (
    <li class="co-row" data-stage={stage} data-key={key}>
      <span class="co-row-stage">{stageText(question, state)}</span>
      <span class="co-row-text" dir="auto">
        {shown}
      </span>
      {stage === "undecided" && (
        <button
          type="button"
          class="co-text-button"
          onClick={() => runner.dispatch({ type: "send-anyway", key })}
        >
          {words.sendAnyway}
        </button>
      )}
      <button
        type="button"
        class="co-text-button"
        aria-label={words.takeBackOf(shown.slice(0, 60))}
        disabled={question.isUnwanted}
        onClick={() => runner.dispatch({ type: "take-back", key })}
      >
        {words.takeBack}
      </button>
    </li>
  );
}

function OtherRow({
  other,
  runner,
}: {
  readonly other: OtherQuestion;
  readonly runner: ComposerRunner;
}) {
  const shown = other.text === null ? words.unread : shownText(other.text, 0);
  return (
    <li class="co-row" data-stage="queued" data-turn-id={other.turnId}>
      <span class="co-row-stage">{`${words.position(other.position)} · ${words.elsewhere}`}</span>
      <span class="co-row-text" dir="auto">
        {shown}
      </span>
      <button
        type="button"
        class="co-text-button"
        aria-label={words.takeOutOf(shown.slice(0, 60))}
        onClick={() => runner.dispatch({ type: "cancel-other", turnId: other.turnId })}
      >
        {words.takeOut}
      </button>
    </li>
  );
}

/** Why nothing is sent now, and when it is tried again. */
function HoldRow({
  state,
  runner,
}: {
  readonly state: ComposerState;
  readonly runner: ComposerRunner;
}) {
  const { hold } = state;
  const seconds = useSecondsUntil(hold?.untilMs ?? null, () => runner.nowMs());
  if (hold === null || !state.questions.some((one) => one.turnId === null)) return null;
  return (
    <p class="co-hold">
      <Icon name="clock" />
      <span>{reason(hold.fault)}</span>
      {hold.untilMs !== null && (
        <span class="co-count" aria-hidden="true">
          {words.heldFor(seconds)}
        </span>
      )}
      <button
        type="button"
        class="co-text-button"
        // Where the login is over, an attempt asks for it again.
        onClick={() => runner.dispatch({ type: hold.untilMs === null ? "logged-in" : "try-now" })}
      >
        {words.tryNow}
      </button>
    </p>
  );
}

function useSecondsUntil(untilMs: number | null, now: () => number): number {
  const [, redraw] = useState(0);
  useEffect(() => {
    if (untilMs === null) return;
    const timer = setInterval(() => redraw((count) => count + 1), 1_000);
    return () => clearInterval(timer);
  }, [untilMs]);
  return untilMs === null ? 0 : Math.max(0, Math.ceil((untilMs - now()) / 1_000));
}

function shownText(text: string, files: number): string {
  const line = text.slice(0, SHOWN_CHARS).trim();
  if (files === 0) return line;
  return line === "" ? words.filesOnly(files) : `${line} · ${words.filesOnly(files)}`;
}
