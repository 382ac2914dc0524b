/**
 * The one Trusted Types policy of our own. Policies `blockwire` and `dompurify` are all that the
 * page's content security policy allows; HTML is made only by the latter.
 */

interface ScriptUrlPolicy {
  createScriptURL(url: string): unknown;
}

interface PolicyFactory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): ScriptUrlPolicy;
}

/** The address of a script, checked: only what this page's origin serves. Throws TypeError else. */
function ownScript(url: string): string {
  const address = new URL(url, globalThis.location.href);
  if (address.origin !== globalThis.location.origin) {
    throw new TypeError("scripts come from the page's own origin only");
  }
  return address.href;
}

let policy: ScriptUrlPolicy | null = null;

/**
 * The address of a worker's script as browsers with Trusted Types want it; elsewhere the string.
 *
 * @returns What `new SharedWorker(…)` takes as its first argument.
 */
export function trustedScriptUrl(url: string | URL): URL {
  const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes;
  const address = String(url);
  if (factory === undefined) return new URL(ownScript(address));
  policy ??= factory.createPolicy("blockwire", { createScriptURL: ownScript });
  // The DOM types do not know the wrapper that workers take instead of an address.
  return policy.createScriptURL(address) as URL;
}
