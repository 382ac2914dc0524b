/**
 * A conversation to read: a list of messages of which only what is near the window is in the document.
 *
 * Joins the parts: what is listed (`rowlist`, `pages`), where it stands (`stage`, `layout`), what the reader does
 * (`reader`, `follow`), what is said aloud (`live`), what is looked for (`find`). At most one update in a frame.
 *
 * Spec: docs/spec/page/transcript.md.
 */
import { el } from "../platform/dom.ts";
import { strings } from "../strings.ts";
import { copyWhole } from "./copying.ts";
import { FindBar } from "./FindBar.ts";
import { FindController } from "./find.ts";
import { Finder, REVEAL_PX } from "./finder.ts";
import type { FindTarget } from "./findview.ts";
import { isEcho } from "./follow.ts";
import { Follower } from "./follower.ts";
import { heldRows } from "./held.ts";
import { Keys } from "./keys.ts";
import { announcements, LiveRegion } from "./live.ts";
import type { Mounted, Row } from "./mounted.ts";
import { PageLoader } from "./pageloader.ts";
import { Pages } from "./pages.ts";
import { Reader } from "./reader.ts";
import { RowList } from "./rowlist.ts";
import { keepSelection } from "./selectionkeeper.ts";
import { Stage } from "./stage.ts";
import { StatePanel } from "./states.ts";
import type { ScrollPlace, TranscriptOptions } from "./types.ts";

export type { ScrollPlace, TranscriptFeed, TranscriptOptions, TranscriptView } from "./types.ts";

export class Transcript implements FindTarget {
  /** The whole: the list, the bar of the search, the button to the end. */
  readonly element: HTMLElement;
  readonly find: FindController;
  readonly #options: TranscriptOptions;
  readonly #pages: Pages;
  readonly #list: RowList;
  readonly #stage: Stage;
  readonly #reader: Reader;
  readonly #finder: Finder;
  readonly #keys: Keys;
  readonly #panel: StatePanel;
  readonly #loader: PageLoader;
  readonly #live = new LiveRegion();
  readonly #findBar: FindBar;
  readonly #stops: (() => void)[] = [];
  readonly #follower: Follower;
  #frame = 0;
  #isDestroyed = false;
  constructor(options: TranscriptOptions) {
    this.#options = options;
    const words = strings.transcript;
    this.#pages = new Pages(options.gateway, options.conversationId);
    this.#list = new RowList(this.#pages, options.feed.state);
    this.#loader = new PageLoader({
      pages: this.#pages,
      list: this.#list,
      stage: () => this.#stage,
      changed: () => this.#setRows(this.#list.all()),
      schedule: () => this.#schedule(),
    });
    const scroller = el("div", {
      class: "tr-scroll",
      data: { testid: "transcript" },
      attrs: { role: "region", "aria-label": words.region, tabindex: 0 },
    });
    this.#panel = new StatePanel(options);
    this.#follower = new Follower({
      stage: () => this.#stage,
      isJoined: () => this.#pages.isJoined,
      isRunning: () => this.#list.state.running.size > 0,
      follow: () => this.follow(),
      schedule: () => this.#schedule(),
    });
    this.#stage = new Stage(
      {
        makeView: (message) => options.makeView(message),
        newest: (row) => this.#list.newest(row),
        isPinned: () => this.#follower.isPinned,
        isWhole: () => this.#pages.isJoined,
        held: () => heldRows(this.#stage),
        onMounted: (mounted) => this.#mounted(mounted),
        onSettled: () => this.#settled(),
        onUnfinished: () => this.#schedule(),
      },
      scroller,
      this.#loader.head.element,
      this.#loader.foot.element,
    );
    this.#finder = new Finder({
      pages: this.#pages,
      list: this.#list,
      loader: this.#loader,
      stage: this.#stage,
      follower: this.#follower,
      setRows: (rows) => this.#setRows(rows),
      schedule: () => this.#schedule(),
    });
    this.find = new FindController({
      pages: this.#pages,
      state: () => this.#list.state,
      target: this,
    });
    this.#findBar = new FindBar(this.find, () => scroller.focus({ preventScroll: true }));
    this.#keys = new Keys(this.#stage, {
      toStart: () => this.#finder.toStart(),
      toEnd: () => this.follow(),
      reveal: (index) => this.#finder.reveal(index),
    });
    this.element = el(
      "div",
      { class: "tr" },
      this.#findBar.element,
      scroller,
      this.#panel.element,
      this.#follower.jump.element,
      options.announce === undefined && this.#live.element,
    );
    this.#reader = new Reader({
      scroller,
      stand: () => ({
        scrollTop: scroller.scrollTop,
        end: this.#stage.scrollEnd,
        isJoined: this.#pages.isJoined,
      }),
      does: (doing) => this.#follower.does(doing),
      scrolled: () => this.#scrolled(),
      rests: () => this.#rests(),
    });
    this.#stops.push(options.feed.subscribe(() => this.#schedule()));
    this.#stops.push(copyWhole(this.#stage, (row) => this.#list.newest(row)));
    this.#stops.push(keepSelection(scroller));
    this.#stage.append(this.#list.all());
    this.#loader.edges();
    this.#schedule();
  }

  /** Whether the window shows the end of the conversation, and follows it. */
  get isAtEnd(): boolean {
    return this.#follower.isOn;
  }

  /** Calls back when `isAtEnd` changed; returns how to stop that. */
  onAtEnd(listener: (isAtEnd: boolean) => void): () => void {
    return this.#follower.onChange(listener);
  }

  /** Go to the end and follow it: after a question was sent, or when somebody asks for it. */
  follow(): void {
    if (!this.#pages.isJoined) {
      this.#pages.moveToEnd();
      this.#setRows(this.#list.all());
    }
    this.#follower.does({ kind: "follow" });
    this.#follower.newBelow = 0;
    this.#schedule();
  }

  /** Where the reader is; null at the end, which is followed. */
  place(): ScrollPlace | null {
    return this.#finder.place();
  }

  /**
   * Show a message, or a block of it, however far away.
   *
   * @param offset Pixels from the upper edge of the window; of the message if no block is given.
   * @returns false if there is no such message, or it could not be read.
   */
  scrollTo(messageId: string, blockId?: string, offset = REVEAL_PX): Promise<boolean> {
    return this.#finder.scrollTo(messageId, blockId, offset);
  }

  /** Show the bar of the search, and put the cursor into it. */
  openFind(): void {
    this.#findBar.open();
  }

  /** Say something in the live region. */
  announce(text: string): void {
    if (this.#options.announce !== undefined) this.#options.announce(text);
    else this.#live.say(text);
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#finder.destroy();
    cancelAnimationFrame(this.#frame);
    for (const stop of this.#stops) stop();
    this.#loader.destroy();
    this.#reader.destroy();
    this.#keys.destroy();
    this.find.destroy();
    this.#findBar.destroy();
    this.#live.destroy();
    this.#stage.destroy();
    this.element.remove();
  }

  // For the search ----------------------------------------------------------------------------
  /** Lets what shows matches know of what is in the document. */
  mountedBlocks(): Iterable<{ messageId: string; blockElement(id: string): HTMLElement | null }> {
    return this.#stage.mounted.map(({ row, view }) => ({
      messageId: row.id,
      blockElement: (id: string) => view.blockElement(id),
    }));
  }

  /** Put an element that is in the document where it can be read. */
  revealElement(messageId: string, element: Element): void {
    const index = this.#stage.indexOf(messageId);
    if (index < 0) return;
    this.#finder.reveal(index, () => element, Math.round(this.#stage.layout.viewport / 4));
  }

  /** Let a message be in the list, however far away it is. */
  bring(messageId: string): Promise<boolean> {
    return this.#finder.bring(messageId);
  }

  // One frame ---------------------------------------------------------------------------------
  /** Ask for an update. Frames do not come while the page is hidden: then the first one does all. */
  #schedule(): void {
    if (this.#frame !== 0 || this.#isDestroyed) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#update();
    });
  }

  #update(): void {
    const old = this.#list.state;
    const { state } = this.#options.feed;
    const change = this.#list.take(state);
    if (this.#loader.isPaused && change.kind !== "apart") {
      // What is shown is of before; the list is shown anew once the place is found.
    } else if (change.kind === "appended") {
      this.#stage.append(change.rows);
      if (!this.#follower.isOn) this.#follower.newBelow += change.rows.length;
    } else if (change.kind === "rearranged") this.#setRows(change.rows);
    else if (change.kind === "apart") void this.#finder.lostTouch();
    if (old !== state) {
      this.#stage.refresh();
      for (const text of announcements(old, state)) this.announce(text);
      this.find.changed();
    }
    this.#panel.show(this.#options.feed, this.#stage.rows.length > 0 || this.#pages.hasOlder);
    this.#stage.update();
    if (isSettled(this.#options.feed)) this.#finder.begin();
    this.#keys.renumber(this.#pages.hasOlder || !this.#pages.isJoined);
    this.#follower.show();
    this.#loader.loadNear();
  }

  #setRows(rows: Row[]): void {
    this.#stage.setRows(rows);
    this.#loader.edges();
  }

  #mounted(mounted: Mounted): void {
    this.#keys.mounted(mounted);
    this.find.mounted(mounted.row.id);
  }

  /** Sizes changed; what is in the window may be another range of rows. */
  #settled(): void {
    if (this.#stage.isShort) this.#schedule();
    this.#follower.show();
  }

  // The reader --------------------------------------------------------------------------------
  #scrolled(): void {
    const { scroller, scrollEnd, layout } = this.#stage;
    const { scrollTop } = scroller;
    const written = layout.scrollTop;
    if (isEcho(scrollTop, written, scrollEnd)) return;
    const isJoined = this.#pages.isJoined;
    this.#follower.does({ kind: "scrolled", scrollTop, written, end: scrollEnd, isJoined });
    this.#stage.readScroll();
    if (this.#stage.isShort || layout.mustSettle || this.#loader.isNear) this.#schedule();
    this.#follower.show();
  }

  #rests(): void {
    if (this.#follower.isPinned || this.#isDestroyed) return;
    this.#stage.settle();
    this.#loader.dropFar();
  }
}

/** Whether a feed has shown what there is, or that it never will. */
function isSettled({ isLoaded, status }: TranscriptOptions["feed"]): boolean {
  return isLoaded || status.kind === "refused" || status.kind === "deleted";
}
