/**
 * One run: everything the page shows about a group and its changes, piece by piece, what is looked at first coming
 * first. It gives way between pieces, so that a newer run can take over.
 */
import { allocate, movedByPlace, plan, refusal, verify } from '../engine';
import type { Change, Finding, PlanResult, Snapshot, Strategy, StrategyName } from '../types';
import { apply } from '../model/apply';
import { countQueues } from '../model/doc';
import { picture, type Side } from './picture';
import { idAt, spread } from './places';
import type { Job, Marks, Part, Progress, Rolling, Row, Strip } from './protocol';

type Emit = (part: Part, progress: Progress) => void;

/** Resolves to null if `isCurrent` said no on the way. */
export async function run(job: Job, emit: Emit, isCurrent: () => Promise<boolean>): Promise<Marks | null> {
  const began = performance.now();
  const others = job.strategies.filter(({ name }) => name !== job.selected);
  const selected = job.strategies.find(({ name }) => name === job.selected);
  const of = 2 * job.strategies.length + 3;
  let done = 0;
  const say = (part: Part) => emit(part, { done: (done += 1), of });
  const rows = new Map<StrategyName, Row>();
  let planned = 0;
  const first = (strategies: readonly Strategy[]) => {
    const began = performance.now();
    const found = quick(job, strategies);
    planned += performance.now() - began;
    found.forEach(sayRow);
  };
  const sayRow = (row: Row) => {
    rows.set(row.strategy, row);
    say({ rows: [row] });
  };

  if (selected) first([selected]);
  if (!(await isCurrent())) return null;
  say(pictured(job, selected));
  for (const strategies of inTurn(job, others)) {
    if (!(await isCurrent())) return null;
    first(strategies);
  }
  const marks = { rows: performance.now() - began, planned };
  if (!(await isCurrent())) return null;
  say({ findings: findings(job) });
  for (const strategy of [...(selected ? [selected] : []), ...others]) {
    if (!(await isCurrent())) return null;
    const better = refined(job, strategy, rows.get(strategy.name));
    if (better) sayRow(better);
    else say({});
  }
  const strip = selected ? await places(job, selected, isCurrent) : null;
  if (strip === 'stopped') return null;
  say({ strip });
  return marks;
}

/** So many queues and members are reckoned within a moment. */
const FEW = 2_000;

/**
 * To read a small group is a good part of reckoning it: once for all strategies. Between those of a large one, and of a restart
 * with its many steps, it gives way.
 */
function inTurn({ snapshot, changes }: Job, strategies: readonly Strategy[]): (readonly Strategy[])[] {
  if (strategies.length === 0) return [];
  const isSmall = countQueues(snapshot) + snapshot.consumers.length <= FEW;
  const isQuick = isSmall && !changes.some(({ kind }) => kind === 'roll');
  return isQuick ? [strategies] : strategies.map((strategy) => [strategy]);
}

/** First answers: where ids are not known, by a few trials only. */
function quick(job: Job, strategies: readonly Strategy[]): Row[] {
  try {
    const options = { strategies, samples: fewTrials(job), countsOnly: true };
    const { results } = plan(job.snapshot, job.changes, options);
    return strategies.map((strategy) => {
      const result = results.find((one) => one.strategy === strategy.name);
      return { strategy: strategy.name, ...(result ? { result } : leftOut(job, strategy)) };
    });
  } catch (error) {
    const [strategy] = strategies;
    // Which of several it is that was refused shows when each is asked alone.
    if (strategies.length > 1) return strategies.flatMap((one) => quick(job, [one]));
    return strategy ? [{ strategy: strategy.name, refusal: refusal(error) }] : [];
  }
}

/** Plans leave out a strategy that finds no room for a name. Sharing out by it says which. */
function leftOut(job: Job, strategy: Strategy): Pick<Row, 'refusal'> {
  const { refusal } = pictured(job, strategy);
  return refusal ? { refusal } : {};
}

/** About a twentieth of what the engine does by itself. */
function fewTrials({ snapshot }: Job): number {
  const [queues, members] = [countQueues(snapshot), snapshot.consumers.length];
  const one = queues * (members / 8 + 4) + members * 40;
  return Math.max(4, Math.min(64, Math.floor(50_000 / Math.max(1, one))));
}

/**
 * The answer by as many trials as the engine takes by itself, and what would move if no id were known; null if there is
 * nothing to add to the first one.
 */
function refined({ snapshot, changes }: Job, strategy: Strategy, first: Row | undefined): Row | null {
  if (!first?.result) return null;
  const isFinal = first.result.moved.exact && !first.result.moved.samples;
  const unnamed = blurred(changes);
  if (isFinal && !unnamed) return null;
  const result = isFinal ? first.result : moved(snapshot, changes, strategy);
  const unknown = unnamed ? moved(snapshot, unnamed, strategy)?.moved : undefined;
  if (!result) return null;
  return { strategy: strategy.name, result, ...(unknown && { unknown }) };
}

/** The same changes without the ids that join; null if there are none. */
function blurred(changes: readonly Change[]): Change[] | null {
  if (!changes.some((change) => change.kind === 'add' && 'ids' in change)) return null;
  return changes.map((change) => {
    return change.kind === 'add' && 'ids' in change ? { kind: 'add', count: change.ids.length } : change;
  });
}

function moved(snapshot: Snapshot, changes: readonly Change[], strategy: Strategy): PlanResult | undefined {
  try {
    return plan(snapshot, changes, { strategies: [strategy], countsOnly: true }).results[0];
  } catch {
    return undefined;
  }
}

function pictured({ snapshot, changes }: Job, strategy: Strategy | undefined): Part {
  if (!strategy) return { picture: null };
  try {
    const after = apply(snapshot, changes);
    const then = changes.reduce((now, change) => (change.kind === 'strategy' ? change.to : now), strategy);
    const sides = [side(snapshot, strategy), side(after.snapshot, then)] as const;
    return { picture: picture(strategy.name, ...sides, after.assumed), refusal: null };
  } catch (error) {
    return { picture: null, refusal: refusal(error) };
  }
}

function side(snapshot: Snapshot, strategy: Strategy): Side {
  return { snapshot, allocation: allocate(snapshot, strategy) };
}

function findings({ snapshot }: Job): Finding[] {
  try {
    return verify(snapshot);
  } catch {
    return [];
  }
}

/** So many places are tried at most, and so many cells looked at in all, if the engine does not know them by itself. */
const MOST_PLACES = 101;
const MOST_WORK = 2_000_000;

async function places(
  job: Job,
  strategy: Strategy,
  isCurrent: () => Promise<boolean>,
): Promise<Strip | null | 'stopped'> {
  const { snapshot } = job;
  const ids = [...new Set(snapshot.consumers.map(({ id }) => id))].sort();
  if (ids.length === 0 || countQueues(snapshot) === 0) return null;
  const known = knownPlaces(snapshot, strategy);
  const affordable = Math.floor(MOST_WORK / (countQueues(snapshot) + ids.length * 20));
  const most = known ? MOST_PLACES : Math.max(9, Math.min(MOST_PLACES, affordable));
  const strip: Strip = { strategy: strategy.name, places: [], of: ids.length + 1 };
  for (const at of spread(ids.length, most)) {
    if (!known && !(await isCurrent())) return 'stopped';
    const id = idAt(ids, at);
    if (id === null) continue;
    const count = known ? known[at] : moved(snapshot, [{ kind: 'add', ids: [id] }], strategy)?.moved.typical;
    if (count !== undefined) strip.places.push({ at, id, moved: count });
  }
  return strip;
}

function knownPlaces(snapshot: Snapshot, strategy: Strategy): number[] | null {
  try {
    return movedByPlace(snapshot, strategy);
  } catch {
    return null;
  }
}

/** Both ways to restart all members one by one. */
export function rolling({ snapshot, strategies, selected }: Job): Rolling {
  const strategy = strategies.find(({ name }) => name === selected);
  const steps = (ids: 'stable' | 'new') => {
    if (!strategy) return [];
    return plan(snapshot, [{ kind: 'roll', ids }], { strategies: [strategy] }).results[0]?.steps ?? [];
  };
  return { strategy: selected, stable: steps('stable'), fresh: steps('new') };
}

/** The report that `evenkeel plan --json` prints, all strategies that work with these names. */
export function report({ snapshot, changes, strategies }: Job): string {
  const usable = strategies.filter((strategy) => moved(snapshot, changes, strategy) !== undefined);
  return JSON.stringify(plan(snapshot, changes, { strategies: usable }), null, 2);
}
