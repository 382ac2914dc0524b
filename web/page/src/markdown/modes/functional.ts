/** Functional languages. */

import { clojure } from "@codemirror/legacy-modes/mode/clojure";
import { commonLisp } from "@codemirror/legacy-modes/mode/commonlisp";
import { elm } from "@codemirror/legacy-modes/mode/elm";
import { erlang } from "@codemirror/legacy-modes/mode/erlang";
import { groovy } from "@codemirror/legacy-modes/mode/groovy";
import { haskell } from "@codemirror/legacy-modes/mode/haskell";
import { julia } from "@codemirror/legacy-modes/mode/julia";
import { fSharp, oCaml } from "@codemirror/legacy-modes/mode/mllike";
import { scheme } from "@codemirror/legacy-modes/mode/scheme";
import type { StreamParser } from "@codemirror/streamparser";

export const modes: Readonly<Record<string, StreamParser<unknown>>> = {
  clojure,
  elm,
  erlang,
  fsharp: fSharp,
  groovy,
  haskell,
  julia,
  lisp: commonLisp,
  ocaml: oCaml,
  scheme,
};
