/**
 * Undo, redo and the browser's Back are one thing: each edit is an entry of the browser's history, whose state holds
 * the place of its document in the list here. Undo goes back, redo goes forward, and what comes back is looked up.
 *
 * 1. An edit cuts off what could be redone, is added here and pushed to the browser with its place.
 * 2. Edits of one kind that follow each other quickly (typing a number) replace the entry instead.
 * 3. The link of a document is known a moment later, and is written into the entry if that is still the current one.
 * 4. A place that is not known (the page was loaded again) is read from the link.
 */
import type { Doc } from './doc';

const TYPING_MS = 1000;

export interface Browser {
  push(place: number): void;
  replace(place: number, fragment?: string): void;
  go(by: number): void;
}

export class History {
  #docs: Doc[];
  #at = 0;
  #last = { kind: '', time: -Infinity };
  readonly #browser: Browser;

  constructor(first: Doc, browser: Browser) {
    this.#docs = [first];
    this.#browser = browser;
    browser.replace(0);
  }

  get current(): Doc {
    return this.#docs[this.#at] as Doc;
  }

  get canUndo(): boolean {
    return this.#at > 0;
  }

  get canRedo(): boolean {
    return this.#at < this.#docs.length - 1;
  }

  /** `kind` joins edits that belong together, such as the key strokes of one field; empty if it stands alone. */
  edit(doc: Doc, kind: string, now: number): void {
    const joined = kind !== '' && kind === this.#last.kind && now - this.#last.time < TYPING_MS && this.canUndo;
    this.#last = { kind, time: now };
    this.#docs.length = this.#at + 1;
    if (joined) {
      this.#docs[this.#at] = doc;
      this.#browser.replace(this.#at);
    } else {
      this.#docs.push(doc);
      this.#at += 1;
      this.#browser.push(this.#at);
    }
  }

  undo(): void {
    if (this.canUndo) this.#browser.go(-1);
  }

  redo(): void {
    if (this.canRedo) this.#browser.go(1);
  }

  /** The browser came to an entry. False if its document is not known. */
  arrived(place: unknown): boolean {
    this.#last = { kind: '', time: -Infinity };
    if (typeof place !== 'number' || this.#docs[place] === undefined) return false;
    this.#at = place;
    return true;
  }

  /** A document that came by a link takes the place behind the current one. */
  opened(doc: Doc): void {
    this.#docs.length = this.#at + 1;
    this.#docs.push(doc);
    this.#at += 1;
    this.#browser.replace(this.#at);
  }

  /** The link of a document is known; a document that has been left meanwhile does not get it. */
  linked(doc: Doc, fragment: string): void {
    if (doc === this.current) this.#browser.replace(this.#at, fragment);
  }
}

export function browserOf(window: Window): Browser {
  const { history, location } = window;
  const here = () => location.pathname + location.search;
  return {
    push: (place) => history.pushState(place, '', here()),
    replace: (place, fragment) =>
      history.replaceState(place, '', fragment === undefined ? undefined : here() + fragment),
    go: (by) => history.go(by),
  };
}
