/** Messages and their blocks as elements. */
export type { ShowContext } from "./context.ts";
export { MessageView } from "./messageview.ts";
