/** The field in which a question, or the answer to one, is written, and its row of controls. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { strings } from "../strings.ts";
import { Icon, StopIcon } from "./icons.tsx";
import { ESCAPE_MS, keyAction, type Typing } from "./keys.ts";
import { filesOf, type LongPaste, PASTE_CHARS_MAX } from "./pastes.ts";
import type { ComposerRunner } from "./runner.ts";
import { hasDraft } from "./state.ts";
import type { ComposerState } from "./types.ts";

const words = strings.composer;

interface Props {
  readonly runner: ComposerRunner;
  readonly typing: Typing;
  readonly onFiles: (files: readonly File[]) => void;
  readonly onLongPaste: (paste: LongPaste) => void;
  /** What stands at the left of the row of controls. */
  readonly children: ComponentChildren;
}

export function Input({ runner, typing, onFiles, onLongPaste, children }: Props) {
  const state = runner.state.value;
  const { answering } = state;
  const area = useRef<HTMLTextAreaElement>(null);
  const [isEscapeArmed, armEscape] = useEscape();
  const inputId = useId();
  const hintId = useId();
  const text = answering?.text ?? state.text;
  useGrowing(area, text);
  const isAnswering = answering !== null;
  useEffect(() => {
    if (isAnswering) area.current?.focus();
  }, [isAnswering]);

  const send = (): void => {
    if (isAnswering) runner.dispatch({ type: "answer-send" });
    else runner.send();
    area.current?.focus();
  };
  const pressEscape = (): boolean => {
    if (isAnswering) {
      runner.dispatch({ type: "answer-close" });
      return true;
    }
    // Who is writing does not mean the answer.
    if (state.running === null || text !== "") return false;
    if (isEscapeArmed) runner.dispatch({ type: "stop" });
    armEscape(!isEscapeArmed);
    return true;
  };
  return (
    <div class="co-box" data-answering={isAnswering}>
      <label class="co-hidden" for={inputId}>
        {isAnswering ? words.answer : words.question}
      </label>
      <textarea
        ref={area}
        id={inputId}
        class="co-input"
        data-testid="composer-input"
        rows={1}
        dir="auto"
        autocapitalize="sentences"
        enterkeyhint={typing.enterSends && !typing.isTouch ? "send" : "enter"}
        placeholder={placeholder(state)}
        aria-describedby={hintId}
        readOnly={answering?.isSending ?? false}
        value={text}
        onInput={(event) => {
          const { value } = event.currentTarget;
          runner.dispatch({ type: isAnswering ? "answer-typed" : "typed", text: value });
        }}
        onKeyDown={(event) => {
          const action = keyAction(event, typing);
          if (action === "escape") {
            // The page must not take the first one as the second.
            event.stopPropagation();
            if (pressEscape()) event.preventDefault();
          } else if (action === "send") {
            event.preventDefault();
            if (!event.repeat) send();
          }
        }}
        onPaste={(event) => {
          if (isAnswering) return;
          const files = filesOf(event.clipboardData);
          const pasted = event.clipboardData?.getData("text/plain") ?? "";
          // What spreadsheets and word processors copy is text, with a picture of it beside.
          if (files.length > 0 && pasted === "") {
            event.preventDefault();
            onFiles(files);
          } else if (pasted.length > PASTE_CHARS_MAX) {
            onLongPaste({
              // As the field holds it.
              text: pasted.replace(/\r\n?/gu, "\n"),
              at: event.currentTarget.selectionStart,
            });
          }
        }}
      />
      <div class="co-bar">
        {!isAnswering && children}
        <span class="co-space" />
        <span id={hintId} class="co-hint">
          {isEscapeArmed ? words.escapeAgain : hint(typing)}
        </span>
        <span class="co-hidden" role="status">
          {isEscapeArmed ? words.escapeAgain : ""}
        </span>
        {state.running !== null && (
          <button
            type="button"
            class="co-stop"
            data-testid="stop"
            aria-label={words.stop}
            title={words.stop}
            // Not `disabled`, which would throw the focus away.
            aria-disabled={state.stoppingId !== null}
            onClick={() => runner.dispatch({ type: "stop" })}
          >
            <StopIcon />
          </button>
        )}
        <button
          type="button"
          class="co-send"
          data-testid="send"
          aria-label={isAnswering ? words.answerSend : words.send}
          title={isAnswering ? words.answerSend : words.send}
          aria-disabled={!canSend(state)}
          onClick={send}
        >
          <Icon name="send" />
        </button>
      </div>
    </div>
  );
}

function canSend(state: ComposerState): boolean {
  if (state.isGone) return false;
  const { answering } = state;
  if (answering !== null) return !answering.isSending && answering.text.trim() !== "";
  return hasDraft(state) && state.wanted === null;
}

function placeholder(state: ComposerState): string {
  if (state.isGone) return words.placeholderGone;
  if (state.answering !== null) return words.answer;
  return state.running === null ? words.placeholder : words.placeholderNext;
}

function hint(typing: Typing): string {
  if (typing.isTouch) return words.hintTouch;
  return typing.enterSends ? words.hintEnter : words.hintModEnter;
}

/** Whether the next Escape stops; for a while only. */
function useEscape(): [boolean, (isArmed: boolean) => void] {
  const [isArmed, arm] = useState(false);
  useEffect(() => {
    if (!isArmed) return;
    const timer = setTimeout(() => arm(false), ESCAPE_MS);
    return () => clearTimeout(timer);
  }, [isArmed]);
  return [isArmed, arm];
}

/** Let the field be as high as its text, where the style sheet cannot. */
function useGrowing(area: { readonly current: HTMLTextAreaElement | null }, text: string): void {
  useLayoutEffect(() => {
    const { current } = area;
    if (current === null || CSS.supports("field-sizing", "content")) return;
    current.style.height = "auto";
    current.style.height = `${current.scrollHeight}px`;
  }, [text]);
}
