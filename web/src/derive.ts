/** What the views draw, worked out of a picture once: moves, loads, pairs, the matrix of topics. */
import { computed } from '@preact/signals';
import { member, outcome, showRetry } from './state';
import { ABSENT, NOBODY, type MapRow, type Picture } from './worker/protocol';

export type Side = 'before' | 'after';

export interface MoveRow {
  cell: number;
  row: MapRow;
  /** The queue's number on its broker. */
  queue: number;
  from: number;
  to: number;
}

export const picture = computed(() => outcome.value?.picture ?? null);

/** Queues that are there before and after, and whose owners are not the same. */
export const moves = computed<readonly MoveRow[]>(() => (picture.value ? movesOf(picture.value) : []));
/** The same without retry topics, unless they are to be shown. */
export const listedMoves = computed(() => moves.value.filter(({ row }) => isListed(row)));
export const listedRows = computed<readonly MapRow[]>(() => picture.value?.rows.filter(isListed) ?? []);
export const hasRetry = computed(() => picture.value?.rows.some(({ topic }) => isRetry(topic)) ?? false);
export const loadsBefore = computed(() => (picture.value ? loadsOf(picture.value, 'before') : new Int32Array(0)));
export const loadsAfter = computed(() => (picture.value ? loadsOf(picture.value, 'after') : new Int32Array(0)));
/** The place of the member that stands out, or null. */
export const memberPlace = computed(() => {
  const at = picture.value?.members.findIndex(({ id }) => id === member.value) ?? -1;
  return at < 0 ? null : at;
});

function isListed({ topic }: MapRow): boolean {
  return showRetry.value || !isRetry(topic);
}

function isRetry(topic: string): boolean {
  return topic.startsWith('%RETRY%');
}

export function movesOf(picture: Picture): MoveRow[] {
  const [was, is] = [new Map(picture.doubledBefore), new Map(picture.doubledAfter)];
  const moves: MoveRow[] = [];
  for (const row of picture.rows) {
    for (let queue = 0; queue < row.queues; queue += 1) {
      const cell = row.first + queue;
      const [from, to] = [at(picture.before, cell), at(picture.after, cell)];
      if (from === ABSENT || to === ABSENT) continue;
      if (from !== to || String(was.get(cell)) !== String(is.get(cell))) moves.push({ cell, row, queue, from, to });
    }
  }
  return moves;
}

/** A queue with several owners counts for each. */
export function loadsOf(picture: Picture, side: Side): Int32Array {
  const loads = new Int32Array(picture.members.length);
  const count = (owner: number) => {
    if (owner >= 0) loads[owner] = at(loads, owner) + 1;
  };
  for (const owner of picture[side]) count(owner);
  const doubled = side === 'before' ? picture.doubledBefore : picture.doubledAfter;
  for (const [, owners] of doubled) for (const owner of new Set(owners.slice(1))) if (owner !== owners[0]) count(owner);
  return loads;
}

export interface Pair {
  from: number;
  to: number;
  count: number;
}

/** Moves summed by old and new owner, the biggest first. */
export function pairsOf(moves: readonly MoveRow[]): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const { from, to } of moves) {
    const pair = pairs.get(`${from}>${to}`);
    if (pair) pair.count += 1;
    else pairs.set(`${from}>${to}`, { from, to, count: 1 });
  }
  return [...pairs.values()].sort((a, b) => b.count - a.count || a.from - b.from || a.to - b.to);
}

export interface Matrix {
  topics: string[];
  /** Per member, in the order of the picture: queues of each topic. */
  counts: Int32Array[];
  totals: Int32Array;
}

export function matrixOf(picture: Picture, side: Side): Matrix {
  const topics = [...new Set(picture.rows.map(({ topic }) => topic))];
  const column = new Map(topics.map((topic, i) => [topic, i]));
  const counts = picture.members.map(() => new Int32Array(topics.length));
  for (const row of picture.rows) {
    const topic = column.get(row.topic) ?? 0;
    for (let cell = row.first; cell < row.first + row.queues; cell += 1) {
      const owned = counts[at(picture[side], cell)];
      if (owned) owned[topic] = at(owned, topic) + 1;
    }
  }
  return { topics, counts, totals: loadsOf(picture, side) };
}

export function cellState(picture: Picture, cell: number): 'kept' | 'moved' | 'added' | 'gone' | 'orphan' {
  const [from, to] = [at(picture.before, cell), at(picture.after, cell)];
  if (to === ABSENT) return 'gone';
  if (from === ABSENT) return 'added';
  if (to === NOBODY) return 'orphan';
  return from === to ? 'kept' : 'moved';
}

export function at(array: Int32Array, index: number): number {
  return array[index] ?? ABSENT;
}
