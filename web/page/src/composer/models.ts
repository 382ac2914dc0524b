/** Engines and models that can be chosen. */

import type { SafeStore } from "../platform/storage.ts";
import { member } from "./port.ts";

/** Models of one engine that are remembered, the one used last first. */
export const RECENT_MAX = 6;
/** Engines whose models are remembered. */
const ENGINES_MAX = 32;

const NAME = "models";

/** An engine as the gateway tells of it. */
export interface EngineChoice {
  readonly name: string;
  readonly models: readonly string[];
  /** Whether it plays recordings, whatever it is asked. */
  readonly isReplay: boolean;
}

/**
 * Return the engines of the gateway, the default first.
 *
 * @param capabilities What `GET /v1/capabilities` answered: `engines` holds names, or objects with
 *   `name` and `models`; names of models may also be in `models`, by engine. `replays` names the
 *   engines that play recordings.
 */
export function readEngines(capabilities: unknown): EngineChoice[] {
  const engines = member(capabilities, "engines");
  if (!Array.isArray(engines)) return [];
  const byEngine = member(capabilities, "models");
  const replays = texts(member(capabilities, "replays"));
  return engines.flatMap((engine) => {
    const name = typeof engine === "string" ? engine : member(engine, "name");
    if (typeof name !== "string" || name === "") return [];
    const models = [...texts(member(engine, "models")), ...texts(member(byEngine, name))];
    return [{ name, models: [...new Set(models)], isReplay: replays.includes(name) }];
  });
}

/** Models that were asked by name, for each engine, in this browser. */
export class RecentModels {
  readonly #store: SafeStore;

  constructor(store: SafeStore) {
    this.#store = store;
  }

  of(engine: string): string[] {
    return texts(this.#store.getObject(NAME)[engine]);
  }

  add(engine: string, model: string): void {
    const models = [model, ...this.of(engine).filter((one) => one !== model)];
    const others = Object.entries(this.#store.getObject(NAME)).filter(([name]) => name !== engine);
    const entries = [...others.slice(1 - ENGINES_MAX), [engine, models.slice(0, RECENT_MAX)]];
    this.#store.setObject(NAME, Object.fromEntries(entries));
  }
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string" && one !== "") : [];
}
