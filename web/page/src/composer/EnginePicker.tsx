/** Which engine answers, and which of its models. */

import type { RefObject } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { strings } from "../strings.ts";
import { Icon } from "./icons.tsx";
import type { EngineChoice, RecentModels } from "./models.ts";
import type { ComposerRunner } from "./runner.ts";

const words = strings.composer;

/** Models offered as buttons: those that were used last, then those that the gateway names. */
const OFFERED_MAX = 8;
/** Characters of a name, as the gateway bounds it. */
const NAME_CHARS_MAX = 200;

interface Props {
  readonly runner: ComposerRunner;
  readonly engines: readonly EngineChoice[];
  readonly recent: RecentModels;
}

export function EnginePicker({ runner, engines, recent }: Props) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const panelId = useId();
  useClosing(isOpen, root, () => setOpen(false));
  useLayoutEffect(() => {
    if (!isOpen) return;
    const put = (): void => placePanel(panel.current, button.current);
    put();
    // A keyboard on the screen takes room, too.
    addEventListener("resize", put);
    return () => removeEventListener("resize", put);
  }, [isOpen]);
  const { engine, model } = runner.state.value;
  const first = engines[0];
  if (first === undefined) return null;
  const chosen = engine ?? first.name;
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  const leave = (event: KeyboardEvent): void => {
    if (!isOpen || event.key !== "Escape") return;
    // The page must not take it as the first one of two that stop an answer.
    event.stopPropagation();
    close();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button and the panel are in it.
    <div class="co-engine" ref={root} onKeyDown={leave}>
      <button
        ref={button}
        type="button"
        class="co-engine-button"
        aria-label={words.engineOf(chosen, model ?? words.modelDefault)}
        title={words.engine}
        aria-expanded={isOpen}
        aria-controls={panelId}
        onClick={() => setOpen(!isOpen)}
      >
        <span class="co-engine-name" dir="auto">
          {chosen}
        </span>
        {model !== null && (
          <span class="co-engine-model" dir="auto">
            {model}
          </span>
        )}
        <Icon name="down" />
      </button>
      {isOpen && (
        <div
          ref={panel}
          id={panelId}
          class="co-panel"
          popover="manual"
          role="dialog"
          aria-label={words.engine}
        >
          <Engines runner={runner} engines={engines} chosen={chosen} />
          <Models
            // Another engine has other models.
            key={chosen}
            runner={runner}
            engine={chosen}
            listed={engines.find((one) => one.name === chosen)?.models ?? []}
            recent={recent}
            close={close}
          />
        </div>
      )}
    </div>
  );
}

function Engines({
  runner,
  engines,
  chosen,
}: {
  readonly runner: ComposerRunner;
  readonly engines: readonly EngineChoice[];
  readonly chosen: string;
}) {
  const group = useId();
  return (
    <fieldset class="co-choices">
      <legend>{words.engines}</legend>
      {engines.map(({ name, isReplay }, index) => (
        <label key={name} class="co-choice">
          <input
            type="radio"
            name={group}
            checked={name === chosen}
            // Another engine lets go of the model; the default one is named by nothing.
            onChange={() =>
              runner.dispatch({ type: "choose", engine: index === 0 ? null : name, model: null })
            }
          />
          <span dir="auto">{name}</span>
          <span class="co-soft">{noteOf(name, isReplay, index === 0)}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Between the panel and the edge of the window, and the button, CSS pixels. */
const GAP_PX = 8;

/** Show the panel above its button, else below, where all of it has room; else where most has. */
function placePanel(panel: HTMLElement | null, button: HTMLElement | null): void {
  if (panel === null || button === null) return;
  if (!panel.matches(":popover-open")) panel.showPopover();
  const at = button.getBoundingClientRect();
  const { width, height } = panel.getBoundingClientRect();
  const left = Math.max(GAP_PX, Math.min(at.left, innerWidth - width - GAP_PX));
  const above = at.top - height - GAP_PX;
  const below = at.bottom + GAP_PX;
  const top = above >= GAP_PX || below + height > innerHeight - GAP_PX ? above : below;
  panel.style.left = `${left}px`;
  panel.style.top = `${Math.max(GAP_PX, top)}px`;
}

/** What there is to know of an engine beside its name. */
function noteOf(name: string, isReplay: boolean, isDefault: boolean): string {
  const kind = isReplay ? words.isReplay : name === "external" ? words.isExternal : "";
  return [isDefault ? words.isDefault : "", kind].filter(Boolean).join(" · ");
}

function Models({
  runner,
  engine,
  listed,
  recent,
  close,
}: {
  readonly runner: ComposerRunner;
  readonly engine: string;
  readonly listed: readonly string[];
  readonly recent: RecentModels;
  readonly close: () => void;
}) {
  const state = runner.state.value;
  const [typed, setTyped] = useState(state.model ?? "");
  const inputId = useId();
  const hintId = useId();
  const offered = [...new Set([...recent.of(engine), ...listed])].slice(0, OFFERED_MAX);
  const choose = (model: string): void => {
    const name = model.trim();
    setTyped(name);
    if (name !== "") recent.add(engine, name);
    runner.dispatch({ type: "choose", engine: state.engine, model: name === "" ? null : name });
  };
  return (
    <div class="co-models">
      <label for={inputId}>{words.model}</label>
      <input
        id={inputId}
        type="text"
        dir="auto"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        enterkeyhint="done"
        maxLength={NAME_CHARS_MAX}
        placeholder={words.modelDefault}
        aria-describedby={hintId}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onBlur={() => {
          if (typed.trim() !== (state.model ?? "")) choose(typed);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.isComposing) return;
          event.preventDefault();
          choose(typed);
          close();
        }}
      />
      <p id={hintId} class="co-soft">
        {words.modelHint}
      </p>
      {offered.length > 0 && (
        <div class="co-offers">
          {offered.map((model) => (
            <button
              key={model}
              type="button"
              class="co-offer"
              dir="auto"
              aria-pressed={model === state.model}
              onClick={() => {
                choose(model);
                close();
              }}
            >
              {model}
            </button>
          ))}
        </div>
      )}
      <button
        type="button"
        class="co-text-button co-panel-done"
        onClick={() => {
          choose(typed);
          close();
        }}
      >
        {words.done}
      </button>
    </div>
  );
}

/** Close what is open when somebody goes elsewhere, by pointer or by Tab. */
function useClosing(isOpen: boolean, root: RefObject<HTMLElement | null>, close: () => void): void {
  useEffect(() => {
    if (!isOpen) return;
    const leave = (event: Event): void => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) close();
    };
    document.addEventListener("pointerdown", leave, true);
    document.addEventListener("focusin", leave, true);
    return () => {
      document.removeEventListener("pointerdown", leave, true);
      document.removeEventListener("focusin", leave, true);
    };
  }, [isOpen]);
}
