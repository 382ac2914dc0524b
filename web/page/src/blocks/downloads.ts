import { el } from "../platform/dom.ts";
import { strings } from "../strings.ts";
import type { ShowContext } from "./context.ts";
import { icon } from "./icons.ts";

/** How long the address of a file that is being saved stays valid, in milliseconds. */
const SAVING_MS = 60_000;

/**
 * A link that saves a file.
 *
 * A cookie goes along with a link by itself. The token of a share link does not: there the page
 * fetches the file and hands it to the browser.
 */
export function downloadLink(
  context: ShowContext,
  attachmentId: string,
  name: string,
  label: string,
): HTMLElement {
  const children = [icon("download"), el("bdi", { class: "bk-file-name" }, label)];
  const title = strings.blocks.download(name);
  const address = context.gateway.attachmentUrl(attachmentId);
  const link = el(
    "a",
    { class: "bk-download", attrs: { href: address, download: name, "aria-label": title, title } },
    ...children,
  );
  if (!context.gateway.hasBearer) return link;
  link.addEventListener("click", (event) => {
    event.preventDefault();
    save(context, address, name).catch(() => context.announce(strings.blocks.notLoaded(name)));
  });
  return link;
}

async function save(context: ShowContext, address: string, name: string): Promise<void> {
  const blob = await context.gateway.blob(address, AbortSignal.timeout(SAVING_MS));
  const url = URL.createObjectURL(blob);
  el("a", { attrs: { href: url, download: name } }).click();
  setTimeout(() => URL.revokeObjectURL(url), SAVING_MS);
}
