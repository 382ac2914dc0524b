import { readFileSync } from "node:fs";
import createParser from "markdown-it";
import { describe, expect, test } from "vitest";
import { BlockParser } from "../src/markdown/blockparser.ts";
import type { Definition } from "../src/markdown/definitions.ts";
import type { BlockNode, ContainerNode } from "../src/markdown/nodes.ts";

const suites =
  process.env.BLOCKWIRE_SUITES ?? new URL("../../../../shared/suites", import.meta.url).pathname;

// The oracle parses as a whole; it also renders the words, so that only blocks are compared.
const oracle = createParser("commonmark", { html: false });
oracle.enable(["table", "strikethrough"]);
oracle.renderer.rules.fence = (tokens, index) => {
  const token = tokens[index];
  const language = oracle.utils.unescapeAll(token?.info.trim() ?? "").split(/\s+/)[0] ?? "";
  return code(language, token?.content ?? "");
};
oracle.renderer.rules.code_block = (tokens, index) => code("", tokens[index]?.content ?? "");

function code(language: string, text: string): string {
  return `<pre ${oracle.utils.escapeHtml(language)}>${oracle.utils.escapeHtml(text)}</pre>\n`;
}

class Tree {
  readonly #references: Record<string, Definition> = {};
  readonly parser: BlockParser;
  readonly #rendersWords: boolean;

  constructor(pieces: readonly string[], rendersWords = true) {
    this.#rendersWords = rendersWords;
    this.parser = new BlockParser(false, (label, definition) => {
      this.#references[label] ??= definition;
    });
    for (const piece of pieces) this.parser.append(piece);
    this.parser.finish();
  }

  html(node: BlockNode = this.parser.root): string {
    switch (node.kind) {
      case "prose": {
        if (node.isVoid) return "";
        const words = this.#words(node.source.toString());
        return node.role === "heading"
          ? `<h${node.level}>${words}</h${node.level}>\n`
          : `<p>${words}</p>\n`;
      }
      case "code":
        return code(node.language, node.source.toString());
      case "rule":
        return "<hr />\n";
      case "table": {
        const row = (cells: readonly string[], tag: string): string =>
          `<tr>\n${cells
            .map((cell, index) => {
              const align = node.aligns[index] ?? "";
              const style = align === "" ? "" : ` style="text-align:${align}"`;
              return `<${tag}${style}>${this.#words(cell)}</${tag}>\n`;
            })
            .join("")}</tr>\n`;
        const body = node.rows.map((cells) => row(cells, "td")).join("");
        return `<table>\n<thead>\n${row(node.header, "th")}</thead>\n${
          body === "" ? "" : `<tbody>\n${body}</tbody>\n`
        }</table>\n`;
      }
      default:
        return this.#container(node);
    }
  }

  #words(source: string): string {
    const text = source.replace(/[ \t\n]+$/, "");
    if (!this.#rendersWords) return oracle.utils.escapeHtml(text);
    return oracle.renderInline(text, { references: this.#references });
  }

  #container(node: ContainerNode): string {
    const inner = node.children.map((child) => this.html(child)).join("");
    if (node.kind === "document") return inner;
    if (node.kind === "quote") return `<blockquote>\n${inner}</blockquote>\n`;
    if (node.kind === "item") return `<li>${inner}</li>\n`;
    const items = node.isTight
      ? node.children.map((item) => this.#tightItem(item)).join("")
      : inner;
    if (node.start === null) return `<ul>\n${items}</ul>\n`;
    const start = node.start === 1 ? "" : ` start="${node.start}"`;
    return `<ol${start}>\n${items}</ol>\n`;
  }

  #tightItem(item: BlockNode): string {
    if (!("children" in item)) return "";
    const parts = item.children.map((child) =>
      child.kind === "prose" && child.role === "paragraph"
        ? `${child.isVoid ? "" : this.#words(child.source.toString())}\n`
        : this.html(child),
    );
    return `<li>${parts.join("")}</li>\n`;
  }
}

/** White space between tags says nothing. */
function bare(html: string): string {
  return html.replace(
    /\s*(<\/?(?:p|li|ul|ol|blockquote|table|thead|tbody|tr|t[hd])\b[^>]*>)\s*/g,
    "$1",
  );
}

function wholeTree(source: string): string {
  return bare(oracle.render(source.endsWith("\n") ? source : `${source}\n`));
}

/** Seeded: mulberry32. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function cuts(source: string, next: () => number): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < source.length; ) {
    const size = 1 + Math.floor(next() * next() * 12);
    pieces.push(source.slice(from, from + size));
    from += size;
  }
  return pieces;
}

const examples: { example: number; markdown: string; html: string }[] = JSON.parse(
  readFileSync(`${suites}/commonmark/spec.json`, "utf8"),
);
const vectors: { id: string; markdown: string }[] = JSON.parse(
  readFileSync(`${suites}/xss/own_markdown.json`, "utf8"),
).vectors;

/** Longer vectors are not fed character by character. */
const LONG = 3_000;
/** For a busy machine; nothing here waits. */
const PATIENCE_MS = 60_000;

describe("blocks", () => {
  test.each(examples)("example $example of CommonMark", ({ markdown }) => {
    expect(bare(new Tree([markdown]).html())).toBe(wholeTree(markdown));
  });

  test.each(examples)("example $example, character by character", ({ markdown }) => {
    expect(new Tree([...markdown]).html()).toBe(new Tree([markdown]).html());
  });

  test(
    "any cutting of the vectors gives the tree of the whole",
    () => {
      const next = random(5);
      for (const { id, markdown } of vectors) {
        const whole = new Tree([markdown], false).html();
        expect(new Tree(cuts(markdown, next), false).html(), id).toBe(whole);
        if (markdown.length > LONG) continue;
        expect(new Tree([...markdown], false).html(), id).toBe(whole);
      }
    },
    PATIENCE_MS,
  );

  test(
    "any cutting of random mixtures gives the tree of the whole",
    () => {
      const next = random(11);
      const lines = examples.flatMap(({ markdown }) => markdown.split("\n"));
      const marks = [
        "- ",
        "> ",
        "1. ",
        "  ",
        "    ",
        "\t",
        "# ",
        "```",
        "| a | b |",
        "|-|-|",
        "---",
      ];
      for (let round = 0; round < 1_500; round++) {
        let source = "";
        const count = 2 + Math.floor(next() * 9);
        for (let line = 0; line < count; line++) {
          const mark = next() < 0.4 ? (marks[Math.floor(next() * marks.length)] ?? "") : "";
          const blank = next() < 0.25 ? "\n" : "";
          source += `${mark}${lines[Math.floor(next() * lines.length)] ?? ""}\n${blank}`;
        }
        const whole = new Tree([source]).html();
        expect(new Tree(cuts(source, next)).html(), JSON.stringify(source)).toBe(whole);
      }
    },
    PATIENCE_MS,
  );
});
