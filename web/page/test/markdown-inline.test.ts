import { expect, test } from "vitest";
import { mayDefine, takeDefinitions } from "../src/markdown/definitions.ts";
import { parseInline } from "../src/markdown/inline.ts";
import { isMisleading, LINK_CHARS_MAX, safeTarget } from "../src/markdown/links.ts";
import { GrowingText } from "../src/markdown/nodes.ts";
import { splitRow, tableStart } from "../src/markdown/tables.ts";
import { escapeHtml, LineEnds, labelControls } from "../src/markdown/text.ts";

function html(source: string, maths = false): string {
  return parseInline(source, { maths, definitions: new Map() }).html;
}

const REST = 'target="_blank" rel="noopener noreferrer nofollow"';

test.each([
  ["raw HTML is text", "<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"],
  ["emphasis", "*a* **b** ~~c~~ `d`", "<em>a</em> <strong>b</strong> <s>c</s> <code>d</code>"],
  ["a break", "a  \nb\\\nc", "a<br>\nb<br>\nc"],
  [
    "a link says where it leads",
    "[a](http://e.com/x)",
    `<a class="md-link" href="http://e.com/x" title="http://e.com/x" ${REST}>a</a>`,
  ],
  [
    "a bare address is a link, the name of a file is none",
    "see https://e.com/x, README.md",
    `see <a class="md-link" href="https://e.com/x" title="https://e.com/x" ${REST}>https://e.com/x</a>, README.md`,
  ],
  [
    "other schemes are words with their address",
    "[a](ftp://e.com)",
    '<span class="md-no-link">a</span> <span class="md-target">(ftp://e.com)</span>',
  ],
  ["schemes that run are as written", "[a](javascript:alert)", "[a](javascript:alert)"],
  [
    "addresses without a scheme are words",
    "[a](//e.com/x)",
    '<span class="md-no-link">a</span> <span class="md-target">(//e.com/x)</span>',
  ],
  [
    "a link that says it leads elsewhere",
    "[bank.com](http://e.com)",
    `<a class="md-link" href="http://e.com" title="http://e.com" ${REST}>bank.com</a> <span class="md-target md-warning">(http://e.com)</span>`,
  ],
  [
    "a link with a user",
    "[a](http://bank.com@e.com/)",
    `<a class="md-link md-odd" href="http://bank.com@e.com/" title="http://bank.com@e.com/" ${REST}>a</a> <span class="md-target md-warning">(http://bank.com@e.com/)</span>`,
  ],
  [
    "a picture is a link with what it shows",
    "![a *b*](http://e.com/i.png)",
    `<a class="md-image" href="http://e.com/i.png" title="http://e.com/i.png" ${REST}><span class="md-image-words">a b</span> <span class="md-image-note">Picture at e.com, not loaded. Opens in a new tab</span></a>`,
  ],
  [
    "a picture in a link is its words",
    "[![a](http://e.com/i.png)](http://e.com)",
    `<a class="md-link" href="http://e.com" title="http://e.com" ${REST}><span class="md-no-image">a</span></a>`,
  ],
  ["a data picture is words", "![a](data:image/png;base64,xx)", null],
  ["controls are labels", "a\u202eb\u0007", "a&lt;U+202E&gt;b\u2407"],
])("%s", (_name, source, expected) => {
  if (expected === null) expect(html(source)).not.toMatch(/href|src/);
  else expect(html(source)).toBe(expected);
});

test.each([
  ["$x$", '<span class="md-maths">$x$</span>'],
  ["$$x$$", '<span class="md-maths md-display">$$x$$</span>'],
  ["\\(x\\)", '<span class="md-maths">\\(x\\)</span>'],
  ["\\[x\\]", '<span class="md-maths md-display">\\[x\\]</span>'],
  ["$5 and $6", "$5 and $6"],
  ["it costs $5, not $10.", "it costs $5, not $10."],
  ["\\$x$", "$x$"],
  ["`$x$`", "<code>$x$</code>"],
  ["$a_b*c*d_e$", '<span class="md-maths">$a_b*c*d_e$</span>'],
])("formulas: %s", (source, expected) => {
  expect(html(source, true)).toBe(expected);
  if (expected.includes("md-maths")) expect(html(source)).not.toContain("md-maths");
});

test("a host in Punycode is not decoded", () => {
  expect(html("<https://xn--80ak6aa92e.com/>")).toContain(">https://xn--80ak6aa92e.com/</a>");
});

test("emphasis is nested so deep and not deeper", () => {
  const source = "*a **b ".repeat(40) + "** *".repeat(40);
  const depth =
    html(source)
      .match(/^(?:[^<]*<(?:em|strong)>)*/)?.[0]
      .match(/</g)?.length ?? 0;
  expect(depth).toBeLessThanOrEqual(16);
});

test.each([
  ["http://e.com/", false],
  ["HTTPS://e.com", false],
  ["mailto:a@e.com", false],
  ["http://xn--80ak6aa92e.com/", true],
  ["http://a:b@e.com/", true],
  ["http://e.com\\@f.com/", true],
])("%s may be a link; odd: %s", (address, isOdd) => {
  expect(safeTarget(address)).toMatchObject({ href: address, isOdd });
});

test.each([
  "javascript:alert(1)",
  "data:text/html,x",
  "//e.com",
  "/v1/logout",
  "http:e.com",
  "http://",
  "http://é.com",
  "http://e.com/\u0009x",
  "blob:http://e.com/x",
  `http://e.com/${"x".repeat(LINK_CHARS_MAX)}`,
])("%s may not", (address) => {
  expect(safeTarget(address)).toBeNull();
});

test.each([
  ["https://e.com", "https://e.com/", false],
  ["e.com", "https://www.e.com/path", false],
  ["the docs", "https://e.com", false],
  ["e.com", "https://e.com.evil.org", true],
  ["a@e.com", "mailto:b@e.com", true],
])("the words %s of %s are misleading: %s", (words, address, expected) => {
  expect(isMisleading(words, address)).toBe(expected);
});

test("definitions are those with which a paragraph begins", () => {
  const found = takeDefinitions("[A b]: /x 'y'\n[c]: <z>\nwords [d]: e");
  expect([...found.definitions]).toEqual([
    ["A B", { href: "/x", title: "y" }],
    ["C", { href: "z", title: "" }],
  ]);
  expect(found.length).toBe("[A b]: /x 'y'\n[c]: <z>\n".length);
  expect(takeDefinitions("[^1]: note").length).toBe(0);
  expect(takeDefinitions("x [a]: b").length).toBe(0);
});

test.each([
  ["[a", true],
  ["[a]", true],
  ["[a]: b", true],
  ["[a] b", false],
  ["[^a", false],
  [`[${"a".repeat(1_000)}`, false],
])("%s may be a definition: %s", (source, expected) => {
  expect(mayDefine(source)).toBe(expected);
});

test("rows and tables", () => {
  expect(splitRow("| a \\| b | `c` |")).toEqual(["a | b", "`c`"]);
  expect(tableStart("a | b", ":-: | -:")).toEqual({
    header: ["a", "b"],
    aligns: ["center", "right"],
  });
  expect(tableStart("a | b", "- | -")).toBeNull();
  expect(tableStart("a | b", "-|-|-")).toBeNull();
  expect(tableStart("a", "-|")).toBeNull();
});

test("text of others", () => {
  expect(escapeHtml('<&">')).toBe("&lt;&amp;&quot;&gt;");
  const flag = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
  expect(labelControls(`${flag}\u{e0041}\x7f\ud800\x85`)).toBe(
    `${flag}<U+E0041>\u2421\ufffd<U+0085>`,
  );
  const ends = new LineEnds();
  expect([..."a\r\nb\rc\n\0\r"].map((char) => ends.feed(char)).join("") + ends.finish()).toBe(
    "a\nb\nc\n\u2400\n",
  );
});

test("growing text gives its end without its beginning", () => {
  const text = new GrowingText();
  for (const piece of ["ab", "", "cd", "ef"]) text.append(piece);
  expect(text.since(3)).toBe("def");
  expect(text.since(6)).toBe("");
  expect(String(text)).toBe("abcdef");
  text.append("gh");
  expect(text.since(1)).toBe("bcdefgh");
  text.truncate(4);
  expect([text.length, String(text)]).toEqual([4, "abcd"]);
});
