/** The first word of a page to the hub's worker: the name of the lock that it holds as it lives. */
export interface PageName {
  readonly page: string;
}

/** Tells that word from those of the hub. */
export function isPageName(data: unknown): data is PageName {
  return typeof data === "object" && data !== null && "page" in data;
}
