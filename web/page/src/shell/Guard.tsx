import { Component, type ComponentChildren, type JSX } from "preact";
import { strings } from "../strings.ts";

interface GuardProps {
  readonly children: ComponentChildren;
  /** When this changes, what failed is tried again: another conversation is another chance. */
  readonly resetKey?: string;
}

/** Keeps an exception in one part of the page from taking the others along. */
export class Guard extends Component<GuardProps, { readonly isBroken: boolean }> {
  override state = { isBroken: false };

  static override getDerivedStateFromError(): { isBroken: boolean } {
    return { isBroken: true };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override componentDidUpdate(before: GuardProps): void {
    if (this.state.isBroken && before.resetKey !== this.props.resetKey) {
      this.setState({ isBroken: false });
    }
  }

  override render(): ComponentChildren {
    if (!this.state.isBroken) return this.props.children;
    return <Broken onRetry={() => this.setState({ isBroken: false })} />;
  }
}

function Broken({ onRetry }: { onRetry: () => void }): JSX.Element {
  return (
    <section class="sh-state" role="alert">
      <h2>{strings.shell.brokenTitle}</h2>
      <p>{strings.shell.brokenText}</p>
      <p class="sh-row">
        <button type="button" class="sh-button sh-primary" onClick={onRetry}>
          {strings.shell.retry}
        </button>
        <button type="button" class="sh-button" onClick={() => location.reload()}>
          {strings.shell.reload}
        </button>
      </p>
    </section>
  );
}
