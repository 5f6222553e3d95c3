/** Everything a user can do to the model. Views and keys call these, and nothing else changes the document. */
import { batch, effect, untracked } from '@preact/signals';
import { addPaste } from './model/merge';
import { doc as newDoc, EMPTY, linked, type Doc } from './model/doc';
import { consumersAfter, setConsumersAfter } from './model/edit';
import { example, type ExampleName } from './model/examples';
import { browserOf, History } from './model/history';
import { t, told } from './i18n';
import { groupNames, readGroup, Unread } from './live';
import { ask, recompute } from './session';
import {
  available,
  canRedo,
  canUndo,
  chosen,
  dialog,
  doc,
  engine,
  isTooLarge,
  liveGroup,
  liveGroups,
  member,
  notice,
  opening,
  outcome,
  pinned,
  rawPaste,
  runState,
  selected,
  untouched,
} from './state';
import type { Refusal, StrategyName } from './types';

let history: History;

/** Takes up the link the page was opened with, and reckons from then on whenever something changes. */
export function begin(): void {
  history = new History(doc.value, browserOf(window));
  window.addEventListener('popstate', (event) => arrive(event.state));
  if (fragment()) void openLink(fragment(), false);
  effect(() => {
    const [broken, waits] = [engine.value.state === 'broken', opening.value];
    void [doc.value, selected.value, available.value, isTooLarge.value];
    if (!broken && !waits) untracked(recompute);
  });
  effect(() => {
    const current = doc.value;
    if (!opening.value && !untouched.value) void writeLink(current);
  });
}

/** `kind` joins edits of one field into one step of undo. */
export function edit(next: Doc | ((doc: Doc) => Doc), kind = ''): void {
  const to = typeof next === 'function' ? next(doc.value) : next;
  if (to === doc.value) return;
  history.edit(to, kind, performance.now());
  show(to);
}

export function undo(): void {
  history.undo();
}

export function redo(): void {
  history.redo();
}

function show(next: Doc): void {
  batch(() => {
    untouched.value = false;
    doc.value = next;
  });
  canUndo.value = history.canUndo;
  canRedo.value = history.canRedo;
  if (member.value !== null && !outcome.value?.picture?.members.some(({ id }) => id === member.value))
    member.value = null;
}

function arrive(place: unknown): void {
  if (history.arrived(place)) show(history.current);
  else if (fragment()) void openLink(fragment(), true);
}

function fragment(): string {
  return window.location.hash.length > 1 ? window.location.hash : '';
}

async function openLink(url: string, behind: boolean): Promise<void> {
  opening.value = true;
  try {
    const { snapshot, changes, strategies } = await ask({ kind: 'open', url });
    const opened = newDoc(snapshot, changes, strategies);
    if (behind) history.opened(opened);
    else history = new History(opened, browserOf(window));
    show(opened);
  } catch (refusal) {
    say(t('link.bad', { why: told((refusal as Refusal).message) }));
  } finally {
    opening.value = false;
  }
}

async function writeLink(current: Doc): Promise<void> {
  try {
    const url = await ask({ kind: 'link', plan: linked(current), redact: false });
    writeFragment(current, url.slice(url.indexOf('#')));
  } catch {
    // Too large for a link. It can be saved as a file; the share dialog says so.
    writeFragment(current, '');
  }
}

/** A link that was typed meanwhile stays until it is read; then this is asked for again, whether it could be read or not. */
function writeFragment(current: Doc, fragment: string): void {
  if (!opening.value) history.linked(current, fragment);
}

// --- what users do ------------------------------------------------------------------------------------------------

export function loadExample(name: ExampleName): void {
  liveGroup.value = null;
  chosen.value = null;
  pinned.value = null;
  edit(example(name));
}

export function clear(): void {
  liveGroup.value = null;
  chosen.value = null;
  pinned.value = null;
  edit(newDoc(EMPTY));
}

export function addConsumers(by: number): void {
  edit((now) => setConsumersAfter(now, consumersAfter(now) + by), 'count');
}

export function choose(name: StrategyName): void {
  chosen.value = name;
}

/** What the first paste is added to: nothing, so that the pastes are all there is. */
const EMPTY_DOC: Doc = { ...newDoc(EMPTY), pasted: EMPTY };

/** Reads pasted text or a file and lays it over the document; `fresh` starts from nothing. */
export async function paste(text: string, fresh: boolean): Promise<void> {
  rawPaste.value = text;
  if (!text.trim()) return;
  try {
    const base = fresh ? EMPTY_DOC : doc.value;
    const before = base.sources.map((source) => source.text);
    const { alone, together } = await ask({ kind: 'parse', before, text });
    // What cannot be read takes nobody's place.
    edit(addPaste(alone.kinds.length > 0 ? base : doc.value, { text, alone, together }));
  } catch (refusal) {
    say(told((refusal as Refusal).message));
  }
}

export async function openFiles(files: Iterable<File>): Promise<void> {
  dialog.value = 'open';
  let fresh = doc.value.sources.length === 0;
  for (const file of files) {
    await paste(await file.text(), fresh);
    fresh = false;
  }
}

function unread(error: unknown): string {
  const why = error instanceof Unread ? t(error.why, { said: error.said }) : (error as Error).message;
  return t('live.failed', { why });
}

/** Asks anew: groups come and go. */
export async function listLiveGroups(): Promise<void> {
  try {
    liveGroups.value = await groupNames();
  } catch (error) {
    say(unread(error));
  }
}

/** Reads a group of the cluster as it is now. What was tried on the same group before is tried on it again. */
export async function openLiveGroup(name: string): Promise<void> {
  if (!name) return;
  const tried = name === liveGroup.value ? doc.value.changes : [];
  try {
    const { snapshot, silent } = await readGroup(name);
    await paste(snapshot, true);
    liveGroup.value = name;
    if (tried.length > 0) edit((now) => ({ ...now, changes: tried }));
    if (silent > 0) say(t('live.silent', { n: silent }));
  } catch (error) {
    say(unread(error));
  }
}

/** What was pasted so far is kept; the first paste takes the place of the example. */
export function isFirstPaste(): boolean {
  return doc.value.sources.length === 0;
}

export function togglePin(): void {
  if (pinned.value) pinned.value = null;
  else if (outcome.value) pinned.value = { doc: doc.value, rows: outcome.value.rows };
}

export function restart(): void {
  runState.value = { state: 'idle' };
  recompute();
}

let silence: ReturnType<typeof setTimeout> | undefined;

/** A word to the user that goes away by itself. */
export function say(text: string): void {
  notice.value = text;
  clearTimeout(silence);
  silence = setTimeout(() => (notice.value = ''), 6000);
}

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(t('copied'));
  } catch {
    say(t('copy.failed'));
  }
}

export function download(name: string, content: string | Blob, type = 'text/plain'): void {
  const blob = typeof content === 'string' ? new Blob([content], { type: `${type};charset=utf-8` }) : content;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export { cancel } from './session';
