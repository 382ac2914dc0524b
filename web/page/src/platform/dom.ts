/**
 * Elements made by calls. Text is always a text node: nothing here reads markup, so nothing that a
 * model or a person wrote can become an element, an attribute name or an address.
 */

/** What may stand inside an element. `null`, `undefined` and `false` leave nothing. */
export type Child = Node | string | null | undefined | false;

/** What an element is given when it is made. Names and values are the page's own. */
export interface Props {
  readonly class?: string;
  /** `data-*` attributes, by their camel-cased names. Values may hold anything. */
  readonly data?: Readonly<Record<string, string | undefined>>;
  /** Other attributes; `true` is an attribute without a value, `false` and `undefined` are none. */
  readonly attrs?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly on?: {
    readonly [E in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[E]) => void;
  };
}

/**
 * Makes an element.
 *
 * @throws TypeError for an attribute that would be a program: `on...`, `style`, `srcdoc`.
 */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (props.class !== undefined) element.className = props.class;
  for (const [name, value] of Object.entries(props.data ?? {})) {
    if (value !== undefined) element.dataset[name] = value;
  }
  for (const [name, value] of Object.entries(props.attrs ?? {})) setAttr(element, name, value);
  for (const [name, listener] of Object.entries(props.on ?? {})) {
    element.addEventListener(name, listener as EventListener);
  }
  append(element, ...children);
  return element;
}

/** Sets or removes one attribute, by the rules of {@link Props.attrs}. */
export function setAttr(
  element: Element,
  name: string,
  value: string | number | boolean | undefined,
): void {
  if (/^(on|style$|srcdoc$)/i.test(name)) throw new TypeError(`attribute ${name} is not allowed`);
  if (value === undefined || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : String(value));
}

/** Appends what is there of `children`; strings become text nodes. */
export function append(parent: Node, ...children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.appendChild(typeof child === "string" ? document.createTextNode(child) : child);
  }
}

/** Sets the text of an element, and leaves it alone where it has that text: a selection survives. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Sets a `data-*` attribute (by its camel-cased name) where it is another: a write restyles. */
export function setData(element: HTMLElement | SVGElement, name: string, value: string): void {
  if (element.dataset[name] !== value) element.dataset[name] = value;
}

/** Hides or shows an element, where that is not so already. */
export function setHidden(element: HTMLElement, isHidden: boolean): void {
  if (element.hidden !== isHidden) element.hidden = isHidden;
}

/**
 * The element below `root` with this value of a `data-*` attribute (by its dashed name).
 *
 * For values that others chose: ids of messages and blocks never become `id` attributes, where they
 * could take the place of names of the document (`document.forms`, anchors).
 */
export function findByData(root: ParentNode, name: string, value: string): HTMLElement | null {
  const found = root.querySelector(`[data-${name}="${CSS.escape(value)}"]`);
  return found instanceof HTMLElement ? found : null;
}

let lastId = 0;

/** A fresh `id` for labels and descriptions within the page; never made of anything that came. */
export function freshId(room: string): string {
  lastId += 1;
  return `${room}-${lastId}`;
}
