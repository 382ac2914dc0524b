import type { ComponentChildren, JSX } from "preact";

/** A page that has something else to say than a conversation: not found, over, not reachable. */
export function State(props: {
  title: string;
  text: string;
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <section class="sh-state">
      <h1 tabIndex={-1} data-focus>
        {props.title}
      </h1>
      <p>{props.text}</p>
      {props.children && <p class="sh-row">{props.children}</p>}
    </section>
  );
}
