/**
 * Where a person writes: questions and their files, what waits in line, what answers.
 *
 * Spec: docs/spec/page/composer.md.
 */

import type { ReadonlySignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { strings } from "../strings.ts";
import { AttachButtons } from "./AttachButtons.tsx";
import { DropArea } from "./DropArea.tsx";
import { deskOf } from "./desks.ts";
import { EnginePicker } from "./EnginePicker.tsx";
import { FileList } from "./FileList.tsx";
import { Input } from "./Input.tsx";
import { Line } from "./Line.tsx";
import { readEngines } from "./models.ts";
import {
  AnsweringBar,
  AskedBar,
  NoticeBar,
  ReplayNote,
  TextButton,
  WantedBar,
} from "./Notices.tsx";
import { type LongPaste, textFile, withoutPaste } from "./pastes.ts";
import { type ComposerFeed, type ComposerPort, member } from "./port.ts";
import type { ComposerRunner } from "./runner.ts";
import type { Bounds } from "./types.ts";
import { sizeText, statusText } from "./words.ts";

const words = strings.composer;

/** The part of the page's `App` that the composer uses. */
export interface ComposerApp {
  readonly gateway: ComposerPort;
  readonly capabilities: ReadonlySignal<unknown>;
  readonly settings: { readonly enterSends: ReadonlySignal<boolean> };
  /** Says that the login is over, so that somebody is asked for it. */
  readonly access?: { expire(): void };
}

export interface ComposerProps {
  readonly app: ComposerApp;
  /** The stream of the conversation; null for a new one, which the first question makes. */
  readonly feed: ComposerFeed | null;
  /** Called when a conversation that was made here has its first question: it is to be shown. */
  readonly onCreated: (conversationId: string) => void;
}

export function Composer({ app, feed, onCreated }: ComposerProps) {
  const desk = deskOf(app);
  const conversationId = feed?.conversationId ?? null;
  const generation = desk.generation.value;
  // A desk that forgot everything has other composers.
  const runner = useMemo(() => desk.of(conversationId), [desk, conversationId, generation]);
  desk.onShow = onCreated;
  useEffect(() => desk.hold(runner), [desk, runner]);
  useEffect(() => (feed === null ? undefined : runner.attach(feed)), [runner, feed]);
  const capabilities = app.capabilities.value;
  useEffect(() => {
    runner.dispatch({ type: "bounds", bounds: readBounds(capabilities) });
  }, [runner, capabilities]);
  if (isReadOnly(capabilities)) {
    return <p class="co-composer co-read-only">{words.readOnly}</p>;
  }
  return <Form key={runner.number} app={app} runner={runner} isFirst={feed === null} />;
}

function Form({
  app,
  runner,
  isFirst,
}: {
  readonly app: ComposerApp;
  readonly runner: ComposerRunner;
  /** Whether it is the first question of a conversation. */
  readonly isFirst: boolean;
}) {
  const state = runner.state.value;
  const engines = readEngines(app.capabilities.value);
  const [paste, setPaste] = useState<LongPaste | null>(null);
  const isTouch = useMedia("(hover: none) and (pointer: coarse)");
  const typing = { enterSends: app.settings.enterSends.value, isTouch };
  const root = useRef<HTMLElement>(null);
  useKeptFocus(root, isTouch);
  const addFiles = (files: readonly File[]): void => runner.addFiles(files);
  const attachText = (text: string, rest: string): void => {
    runner.dispatch({ type: "typed", text: rest });
    runner.addFiles([textFile(text)]);
    runner.dispatch({ type: "dismiss" });
  };
  const rest = paste === null ? null : withoutPaste(state.text, paste);
  return (
    <section ref={root} class="co-composer" aria-label={words.form}>
      <DropArea onFiles={addFiles} />
      <NoticeBar runner={runner} attachText={() => attachText(state.text, "")} />
      <Line runner={runner} />
      <AskedBar runner={runner} />
      <AnsweringBar state={state} runner={runner} />
      {paste !== null && rest !== null && (
        <div class="co-asked">
          <p>{words.pasteOffer(sizeText(paste.text.length))}</p>
          <TextButton
            onClick={() => {
              setPaste(null);
              attachText(paste.text, rest);
            }}
          >
            {words.pasteAttach}
          </TextButton>
          <TextButton onClick={() => setPaste(null)}>{words.pasteKeep}</TextButton>
        </div>
      )}
      <FileList runner={runner} />
      <WantedBar runner={runner} />
      <Input runner={runner} typing={typing} onFiles={addFiles} onLongPaste={setPaste}>
        <AttachButtons isTouch={isTouch} isDisabled={state.isGone} onFiles={addFiles} />
        <EnginePicker runner={runner} engines={engines} recent={deskOf(app).models} />
      </Input>
      <ReplayNote engines={engines} chosen={state.engine} isFirst={isFirst} />
      <p class="co-hidden" role="status">
        {statusText(state)}
      </p>
    </section>
  );
}

/**
 * Gives the field the focus of what goes away with it: a question that was taken back, a file that
 * was removed, the button that stopped an answer. On a touch screen that would open the keyboard.
 */
function useKeptFocus(root: RefObject<HTMLElement | null>, isTouch: boolean): void {
  const last = useRef<Element | null>(null);
  useEffect(() => {
    const note = ({ target }: FocusEvent): void => {
      last.current = target instanceof Element && root.current?.contains(target) ? target : null;
    };
    document.addEventListener("focusin", note);
    return () => document.removeEventListener("focusin", note);
  }, [root]);
  useLayoutEffect(() => {
    const isGone = last.current?.isConnected === false && document.activeElement === document.body;
    if (!isTouch && isGone) root.current?.querySelector("textarea")?.focus();
  });
}

function isReadOnly(capabilities: unknown): boolean {
  const scopes = member(capabilities, "scopes");
  return Array.isArray(scopes) && !scopes.includes("write");
}

function readBounds(capabilities: unknown): Bounds {
  const limits = member(capabilities, "limits");
  return {
    bodyBytes: boundOf(member(limits, "body_bytes_max")),
    attachmentBytes: boundOf(member(limits, "attachment_bytes_max")),
  };
}

function boundOf(value: unknown): number | null {
  return typeof value === "number" && value > 0 ? value : null;
}

function useMedia(query: string): boolean {
  const list = useMemo(() => matchMedia(query), [query]);
  const [matches, setMatches] = useState(list.matches);
  useEffect(() => {
    const change = (): void => setMatches(list.matches);
    list.addEventListener("change", change);
    return () => list.removeEventListener("change", change);
  }, [list]);
  return matches;
}
