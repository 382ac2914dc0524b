/** What is said above the input: what went wrong and what to do, and what the agent waits for. */

import type { ComponentChildren } from "preact";
import { strings } from "../strings.ts";
import { Icon } from "./icons.tsx";
import type { EngineChoice } from "./models.ts";
import type { ComposerRunner } from "./runner.ts";
import type { ComposerState, Notice } from "./types.ts";
import { noticeText } from "./words.ts";

const words = strings.composer;

const GOOD: ReadonlySet<Notice["kind"]> = new Set(["arrived-already", "answered-elsewhere"]);

interface NoticeProps {
  readonly runner: ComposerRunner;
  readonly attachText: () => void;
}

export function NoticeBar({ runner, attachText }: NoticeProps) {
  const { notice, text } = runner.state.value;
  // The region is always there, so that a screen reader is told when something comes into it.
  return (
    <div role="alert">
      {notice !== null && (
        <div class="co-notice" data-kind={notice.kind} data-good={GOOD.has(notice.kind)}>
          <Icon name="warning" />
          <p dir="auto">{noticeText(notice)}</p>
          {notice.fault?.code === "body_too_large" && text !== "" && (
            <TextButton onClick={attachText}>{words.attachText}</TextButton>
          )}
          {notice.kind === "files-failed" && (
            <TextButton onClick={() => runner.send({ withoutFiles: true })}>
              {words.withoutFiles}
            </TextButton>
          )}
          <button
            type="button"
            class="co-icon-button"
            aria-label={words.dismiss}
            onClick={() => runner.dispatch({ type: "dismiss" })}
          >
            <Icon name="close" />
          </button>
        </div>
      )}
    </div>
  );
}

/** Said while a turn waits for a person: the question itself stands in the transcript. */
export function AskedBar({ runner }: { readonly runner: ComposerRunner }) {
  const { running, answering } = runner.state.value;
  const request = running?.request ?? null;
  if (request === null || answering !== null) return null;
  return (
    <div class="co-asked">
      <Icon name="hand" />
      <p>
        {words.asked} <span class="co-soft">{words.askedHint}</span>
      </p>
      <TextButton onClick={showAsked}>{words.showAsked}</TextButton>
      {request.takesText && (
        <TextButton onClick={() => runner.dispatch({ type: "answer-open" })}>
          {words.answerHere}
        </TextButton>
      )}
    </div>
  );
}

/** The prompt above an answer that is written here. */
export function AnsweringBar({ state, runner }: { state: ComposerState; runner: ComposerRunner }) {
  const { answering, running } = state;
  if (answering === null) return null;
  return (
    <div class="co-asked" data-answering="true">
      <Icon name="hand" />
      <p dir="auto">{running?.request?.prompt ?? words.answer}</p>
      <TextButton
        isDisabled={answering.isSending}
        onClick={() => runner.dispatch({ type: "answer-close" })}
      >
        {words.answerLeave}
      </TextButton>
    </div>
  );
}

/** Said while Send waits for files. */
export function WantedBar({ runner }: { readonly runner: ComposerRunner }) {
  const { wanted, files } = runner.state.value;
  if (wanted === null) return null;
  const count = files.filter((file) => file.stage !== "done").length;
  return (
    <div class="co-asked">
      <Icon name="clock" />
      <p>{words.wanted(count)}</p>
      <TextButton onClick={() => runner.send({ withoutFiles: true })}>
        {words.withoutFiles}
      </TextButton>
      <TextButton onClick={() => runner.dispatch({ type: "unwant" })}>{words.wantedNot}</TextButton>
    </div>
  );
}

/**
 * Said while recordings answer, which look like answers and are none to what is asked: at the first
 * question also what to do about it.
 */
export function ReplayNote({
  engines,
  chosen,
  isFirst,
}: {
  readonly engines: readonly EngineChoice[];
  /** By name; null for the default one. */
  readonly chosen: string | null;
  readonly isFirst: boolean;
}) {
  const engine = engines.find(({ name }) => name === chosen) ?? engines[0];
  if (engine?.isReplay !== true) return null;
  // What is posted from outside answers nothing by itself.
  const hasOther = engines.some(({ name, isReplay }) => !isReplay && name !== "external");
  return (
    <p class="co-replay">
      {words.replaying} {isFirst && hasOther && words.replayChoose}
      {isFirst &&
        !hasOther &&
        words.replayServe.map(([what, command]) => (
          <span key={command}>
            {what} <code>{command}</code>{" "}
          </span>
        ))}
    </p>
  );
}

export function TextButton({
  children,
  onClick,
  isDisabled = false,
}: {
  readonly children: ComponentChildren;
  readonly onClick: () => void;
  readonly isDisabled?: boolean;
}) {
  return (
    <button type="button" class="co-text-button" disabled={isDisabled} onClick={onClick}>
      {children}
    </button>
  );
}

function showAsked(): void {
  const asking = document.querySelector('article[data-message-id][data-status="suspended"]');
  if (!(asking instanceof HTMLElement)) return;
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  asking.scrollIntoView({ block: "end", behavior: isCalm ? "auto" : "smooth" });
  asking.querySelector<HTMLElement>("button, input, textarea")?.focus({ preventScroll: true });
}
