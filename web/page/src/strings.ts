/**
 * Every word of the page that is the page's own, in one place.
 *
 * A section for each room of the page. Functions take what varies. No markup in here.
 */
export const strings = {
  markdown: {},
  blocks: {},
  transcript: {},
  shell: {},
  composer: {},
  /** What to say of a code of the gateway, where its own message is not enough: what to do next. */
  errors: {},
} as const;
