/**
 * Formulas as MathML. The library is loaded with the first formula; until then, and where it cannot
 * read one, the source is shown as it was written.
 */

import { cleanMaths } from "./sanitise.ts";

type Temml = typeof import("temml").default;

/** Sizes that a formula may ask for, in em; and how often macros are replaced. */
const SIZE_MAX = 20;
const EXPANSIONS_MAX = 200;

/**
 * What temml adds for its own style sheet. The page's policy forbids inline styles, and what counts
 * of them is in markdown.css. Quotes in text are entities, so that this is found in tags only.
 */
const STYLING = / style="[^"]*"|<span class="tml-eqn"><\/span>/g;

let temml: Temml | null = null;
let loading: Promise<Temml> | null = null;

async function load(): Promise<Temml> {
  loading ??= import("temml").then((module) => {
    temml = module.default;
    return temml;
  });
  return loading;
}

/** Takes the delimiters off a formula. */
function formula(source: string): string {
  const delimiter = source.startsWith("$") && !source.startsWith("$$") ? 1 : 2;
  return source.slice(delimiter, -delimiter).trim();
}

function show(element: Element, library: Temml): void {
  const source = element.textContent ?? "";
  let mathml: string;
  try {
    mathml = library.renderToString(formula(source), {
      displayMode: element.classList.contains("md-display"),
      throwOnError: true,
      strict: false,
      trust: false,
      annotate: false,
      maxSize: [SIZE_MAX, SIZE_MAX],
      maxExpand: EXPANSIONS_MAX,
    });
  } catch {
    element.classList.add("md-maths-error");
    return;
  }
  element.replaceChildren(cleanMaths(mathml.replace(STYLING, "")));
  element.setAttribute("title", source);
}

/** Replaces the formulas in `root` by MathML, now or once the library is there. */
export function showMaths(root: ParentNode, onHeightChange: () => void): void {
  const found = [...root.querySelectorAll(".md-maths")];
  if (found.length === 0) return;
  if (temml !== null) {
    for (const element of found) show(element, temml);
    return;
  }
  load().then(
    (library) => {
      for (const element of found) show(element, library);
      onHeightChange();
    },
    () => {
      // It could not be loaded: the source stays.
      loading = null;
    },
  );
}
