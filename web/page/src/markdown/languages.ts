/** What languages are called, and where their colours come from: chunks that are loaded on demand. */

import type { StreamParser } from "@codemirror/streamparser";

type Modes = Readonly<Record<string, StreamParser<unknown>>>;
type Family = () => Promise<{ readonly modes: Modes }>;

const web: Family = () => import("./modes/web.ts");
const compiled: Family = () => import("./modes/compiled.ts");
const scripts: Family = () => import("./modes/scripts.ts");
const data: Family = () => import("./modes/data.ts");
const functional: Family = () => import("./modes/functional.ts");

/** Mode, its family, and what people call it. */
const TABLE: readonly (readonly [string, Family, string])[] = [
  ["c", compiled, "c h"],
  ["clojure", functional, "clojure clj cljs cljc edn"],
  ["cpp", compiled, "cpp c++ cc cxx hpp arduino cuda"],
  ["csharp", compiled, "csharp c# cs"],
  ["css", web, "css"],
  ["dart", compiled, "dart"],
  ["diff", data, "diff patch"],
  ["dockerfile", data, "dockerfile docker containerfile"],
  ["go", compiled, "go golang"],
  ["haskell", functional, "haskell hs elm"],
  ["html", web, "html htm xhtml vue svelte"],
  ["ini", data, "ini cfg conf properties env dotenv editorconfig"],
  ["java", compiled, "java groovy gradle"],
  ["javascript", web, "javascript js jsx mjs cjs node"],
  ["json", web, "json jsonc json5 jsonl ndjson"],
  ["kotlin", compiled, "kotlin kt kts"],
  ["less", web, "less"],
  ["lua", scripts, "lua"],
  ["objectivec", compiled, "objectivec objective-c objc"],
  ["perl", scripts, "perl pl pm"],
  ["powershell", scripts, "powershell pwsh ps1 ps"],
  ["protobuf", data, "protobuf proto"],
  ["python", scripts, "python py python3 py3 pyi gyp starlark bazel"],
  ["r", scripts, "r rlang"],
  ["ruby", scripts, "ruby rb rake gemfile"],
  ["rust", compiled, "rust rs"],
  ["scala", compiled, "scala sc"],
  ["scss", web, "scss sass"],
  [
    "shell",
    scripts,
    "shell bash sh zsh ksh console shell-session shellsession terminal makefile make",
  ],
  ["sql", data, "sql mysql postgresql postgres psql sqlite plsql tsql"],
  ["swift", compiled, "swift"],
  ["toml", data, "toml"],
  ["typescript", web, "typescript ts tsx mts cts"],
  ["xml", web, "xml svg rss xsl xslt plist mathml"],
  ["yaml", data, "yaml yml"],
];

const NAMES = new Map<string, readonly [string, Family]>();
for (const [mode, family, names] of TABLE) {
  for (const name of names.split(" ")) NAMES.set(name, [mode, family]);
}

/** All names, in lower case. */
export const LANGUAGE_NAMES: readonly string[] = [...NAMES.keys()];

/** Whether code that is called `language` can be coloured. */
export function isKnownLanguage(language: string): boolean {
  return NAMES.has(language.toLowerCase());
}

/** Loads the mode of `language`; null: unknown, or it could not be loaded. */
export async function loadMode(language: string): Promise<StreamParser<unknown> | null> {
  const found = NAMES.get(language.toLowerCase());
  if (found === undefined) return null;
  const [mode, family] = found;
  try {
    return (await family()).modes[mode] ?? null;
  } catch {
    return null;
  }
}
