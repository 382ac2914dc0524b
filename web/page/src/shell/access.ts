/**
 * Who the reader is to the gateway: what the login allows, and whether it is still good.
 *
 * The token passes through here once, from the field to the gateway, and is kept nowhere.
 *
 * Spec: docs/spec/page/shell.md, "Login"; docs/spec/gateway/auth.md.
 */
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";

/**
 * `starting`: not known yet. `open`: the gateway answers. `locked`: it wants a token.
 * `unreachable`: it has never answered, and the page cannot begin.
 */
export type AccessStatus = "starting" | "open" | "locked" | "unreachable";

/** What is read of the gateway's capabilities here. */
export interface Rights {
  readonly scopes: readonly string[];
}

export interface AccessPort<C extends Rights> {
  capabilities(): Promise<C>;
  login(token: string): Promise<unknown>;
  logout(): Promise<void>;
  /** Whether the gateway answers a caller without a cookie, too. */
  isOpenToAll(): Promise<boolean>;
}

export class Access<C extends Rights> {
  readonly status: ReadonlySignal<AccessStatus>;
  readonly capabilities: Signal<C | null> = signal(null);
  readonly canWrite: ReadonlySignal<boolean>;
  /** Whether private reasoning may be shown: the scope `reasoning`. */
  readonly isOwner: ReadonlySignal<boolean>;
  /** Whether somebody logged in, so that there is something to log out of. */
  readonly hasLogin: ReadonlySignal<boolean>;
  /** What the last attempt to begin failed with. */
  readonly error: ReadonlySignal<unknown>;

  /** Called after each login, also the one of another tab: what failed may be tried again. */
  onEntered: () => void = () => {};
  /** Called after the logout, before anything else is asked. */
  onLeft: () => void = () => {};

  readonly #status = signal<AccessStatus>("starting");
  readonly #hasLogin = signal(false);
  readonly #error = signal<unknown>(null);
  #starting: Promise<void> | null = null;
  readonly #port: AccessPort<C>;
  readonly #isLock: (error: unknown) => boolean;

  /** @param isLock Whether an error means that a token is missing or over. */
  constructor(port: AccessPort<C>, isLock: (error: unknown) => boolean) {
    this.#port = port;
    this.#isLock = isLock;
    this.status = this.#status;
    this.hasLogin = this.#hasLogin;
    this.error = this.#error;
    this.canWrite = computed(() => this.capabilities.value?.scopes.includes("write") ?? false);
    this.isOwner = computed(() => this.capabilities.value?.scopes.includes("reasoning") ?? false);
  }

  /**
   * Asks the gateway who we are. Never rejects; `status` and `error` say how it went. Whoever asks
   * while it is being asked waits for the same answer.
   */
  start(): Promise<void> {
    this.#starting ??= this.#ask().finally(() => {
      this.#starting = null;
    });
    return this.#starting;
  }

  async #ask(): Promise<void> {
    const wasOpen = this.#status.value === "open";
    try {
      this.capabilities.value = await this.#port.capabilities();
      this.#error.value = null;
      this.#status.value = "open";
      if (!wasOpen) this.onEntered();
      // That somebody is logged in is seen by what the gateway tells somebody who is not.
      this.#hasLogin.value ||= !(await this.#port.isOpenToAll().catch(() => true));
    } catch (error) {
      this.#error.value = error;
      if (this.#isLock(error)) this.#status.value = "locked";
      else if (this.capabilities.value === null) this.#status.value = "unreachable";
    }
  }

  /**
   * Trades the token for a cookie, then begins.
   *
   * @throws GatewayError when the token is refused, or too many were.
   */
  async enter(token: string): Promise<void> {
    await this.#port.login(token);
    // An answer to a question from before the login is of no use.
    await this.#starting;
    await this.start();
  }

  /** @throws GatewayError when the gateway could not be told; the login is still good then. */
  async leave(): Promise<void> {
    await this.#port.logout();
    await this.#starting;
    this.#forget();
    await this.start();
  }

  /** Says that an answer was 401: the login is over, whatever asked. */
  expire(): void {
    if (this.#status.value === "open") this.#status.value = "locked";
  }

  /** Takes over what another tab did with the login that all tabs share. */
  hear(change: "login" | "logout"): void {
    // A tab may have been answered 401 before it hears why: what it shows goes all the same. What
    // this tab did itself it has taken over already, and holds nothing.
    if (change === "logout" && this.capabilities.value !== null) this.#forget();
    // Whoever logged in elsewhere may see more or less than whom this tab still shows.
    if (change === "login" && this.#status.value === "open") void this.#enterAnew();
    else if (this.#status.value !== "open") void this.start();
  }

  async #enterAnew(): Promise<void> {
    await this.#starting;
    await this.start();
    if (this.#status.value === "open") this.onEntered();
  }

  #forget(): void {
    this.#status.value = "starting";
    this.capabilities.value = null;
    this.#hasLogin.value = false;
    this.onLeft();
  }
}
