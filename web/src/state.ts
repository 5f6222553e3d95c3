/** The one model of the page: what is looked at, how, and what came out. Views read it, `actions.ts` changes it. */
import { computed, signal } from '@preact/signals';
import { countQueues, MAX_QUEUES, runningName, strategyOf, type Doc } from './model/doc';
import { STRATEGY_NAMES } from './model/names';
import { example } from './model/examples';
import type { Finding, Refusal, StrategyName } from './types';
import type { Marks, Picture, Rolling, Row, Strip, Version } from './worker/protocol';

export const doc = signal<Doc>(example('first'));
export const canUndo = signal(false);
export const canRedo = signal(false);
/** Whether the first visit's example is still untouched, so that a line of help makes sense. */
export const untouched = signal(true);

// --- the engine and its results -----------------------------------------------------------------------------------

export type EngineState =
  { state: 'loading' } | { state: 'ready'; version: Version } | { state: 'broken'; refusal: Refusal };

/** Whether a link is being read: nothing is reckoned until it is. */
export const opening = signal(false);

export const engine = signal<EngineState>({ state: 'loading' });

export type RunState =
  | { state: 'idle' }
  | { state: 'running'; since: number; done: number; of: number }
  | { state: 'cancelled' }
  | { state: 'failed'; refusal: Refusal };

export const runState = signal<RunState>({ state: 'idle' });

/** A row stays until a newer one is there, so it says what it is of. */
export type DatedRow = Row & { of: Doc };

export interface Outcome {
  /** What it was reckoned from; if that is not the current document, it is marked old. */
  doc: Doc;
  selected: StrategyName;
  rows: ReadonlyMap<StrategyName, DatedRow>;
  picture: Picture | null;
  refusal: Refusal | null;
  findings: readonly Finding[];
  strip: Strip | null;
  /** How long all of it took, and parts of it; null until it has ended. */
  milliseconds: number | null;
  marks: Marks | null;
}

/** The groups of the cluster behind `evenkeel serve`, and which of them is looked at. */
export const liveGroups = signal<readonly string[]>([]);
export const liveGroup = signal<string | null>(null);

export const outcome = signal<Outcome | null>(null);
export const rolling = signal<Rolling | null>(null);
/** Whether there is time for more than the verdict: the first one is drawn, or none will come. */
export const isVerdictSeen = signal(false);
export const isOld = computed(() => outcome.value !== null && outcome.value.doc !== doc.value);
/** Which queues there are before and after, and whether that is more than the page takes on. */
export const isTooLarge = computed(() => {
  const planned = doc.value.changes.reduce((sum, c) => sum + (c.kind === 'queues' ? c.readQueues : 0), 0);
  return countQueues(doc.value.snapshot) + planned > MAX_QUEUES;
});

// --- what is looked at --------------------------------------------------------------------------------------------

/** The strategy that map, moves and verdict are about; null for the one that the group runs. */
export const chosen = signal<StrategyName | null>(null);
export const selected = computed<StrategyName>(() => {
  if (chosen.value && strategyOf(doc.value, chosen.value)) return chosen.value;
  const running = runningName(doc.value.snapshot);
  return strategyOf(doc.value, running) ? running : 'AVG';
});
export const available = computed(() => {
  return STRATEGY_NAMES.flatMap((name) => strategyOf(doc.value, name) ?? []);
});

export type MapSide = 'before' | 'after' | 'both';
export const mapSide = signal<MapSide>('after');
/** Points per cell; null for the size that fits. */
export const cellSize = signal<number | null>(null);
/** The member that stands out in the map. */
export const member = signal<string | null>(null);
export const movesFilter = signal('');
/** Retry topics are shared like all others and count in every number, but they have few messages. */
export const showRetry = signal(false);

export type DialogName = 'open' | 'edit' | 'share' | 'export' | 'help' | 'strategy';
export const dialog = signal<DialogName | null>(null);
/** A short word after an action: "copied". */
export const notice = signal('');

/** A scenario that is kept to compare with. */
export interface Pinned {
  doc: Doc;
  rows: ReadonlyMap<StrategyName, DatedRow>;
}
export const pinned = signal<Pinned | null>(null);

/** The last paste, shown as it is if the engine cannot run. */
export const rawPaste = signal('');
