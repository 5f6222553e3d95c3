/** Turns two allocations into arrays that the map, the histogram and the moves are drawn from. */
import type { Allocation, Snapshot, StrategyName } from '../types';
import { byCodeUnit } from '../model/doc';
import { ABSENT, NOBODY, type MapRow, type Member, type Picture } from './protocol';

export interface Side {
  snapshot: Snapshot;
  allocation: Allocation;
}

export function picture(strategy: StrategyName, before: Side, after: Side, assumed: boolean): Picture {
  const members = membersOf(before.snapshot, after.snapshot);
  const rows = rowsOf(before.snapshot, after.snapshot);
  const cells = rows.reduce((sum, row) => sum + row.queues, 0);
  const place = new Map(members.map(({ id }, at) => [id, at]));
  const first = new Map(rows.map((row) => [key(row.topic, row.broker), row.first]));
  const owners = (side: Side) => {
    const array = new Int32Array(cells).fill(ABSENT);
    for (const { topic, broker, readQueues } of readable(side.snapshot)) {
      const from = first.get(key(topic, broker)) ?? 0;
      array.fill(NOBODY, from, from + readQueues);
    }
    const doubled = new Map<number, number[]>();
    for (const [id, queues] of side.allocation.byConsumer) {
      const owner = place.get(id);
      if (owner === undefined) continue;
      for (const { topic, broker, id: number } of queues) {
        const start = first.get(key(topic, broker));
        if (start === undefined) continue;
        const cell = start + number;
        const other = array[cell] ?? ABSENT;
        if (other >= 0) doubled.set(cell, [...(doubled.get(cell) ?? [other]), owner]);
        else array[cell] = owner;
      }
    }
    addRepeats(side.snapshot, place, array, doubled);
    return { array, doubled: [...doubled] };
  };
  const [a, b] = [owners(before), owners(after)];
  return {
    strategy,
    members,
    rows,
    before: a.array,
    after: b.array,
    doubledBefore: a.doubled,
    doubledAfter: b.doubled,
    assumed,
  };
}

/** Every process with a repeated id takes what the id is given, so its queues have several owners of one name. */
function addRepeats(
  snapshot: Snapshot,
  place: Map<string, number>,
  array: Int32Array,
  doubled: Map<number, number[]>,
): void {
  const counts = new Map<string, number>();
  for (const { id } of snapshot.consumers) counts.set(id, (counts.get(id) ?? 0) + 1);
  for (const [id, count] of counts) {
    const owner = place.get(id);
    if (count < 2 || owner === undefined) continue;
    array.forEach((at, cell) => {
      if (at === owner) doubled.set(cell, Array<number>(count).fill(owner));
    });
  }
}

function membersOf(before: Snapshot, after: Snapshot): Member[] {
  const ids = (snapshot: Snapshot) => new Set(snapshot.consumers.map(({ id }) => id));
  const [was, is] = [ids(before), ids(after)];
  const all = [...new Set([...was, ...is])].sort(byCodeUnit);
  return all.map((id) => ({ id, before: was.has(id), after: is.has(id) }));
}

function rowsOf(before: Snapshot, after: Snapshot): MapRow[] {
  const rows = new Map<string, MapRow>();
  for (const { topic, broker, readQueues } of [...readable(before), ...readable(after)]) {
    const row = rows.get(key(topic, broker));
    if (row) row.queues = Math.max(row.queues, readQueues);
    else rows.set(key(topic, broker), { topic, broker, first: 0, queues: readQueues });
  }
  const sorted = [...rows.values()].sort((a, b) => byCodeUnit(a.topic, b.topic) || byCodeUnit(a.broker, b.broker));
  let first = 0;
  for (const row of sorted) {
    row.first = first;
    first += row.queues;
  }
  return sorted;
}

function* readable(snapshot: Snapshot) {
  for (const { topic, brokers } of snapshot.topics) {
    for (const { broker, readQueues, readable } of brokers) {
      if (readable !== false && readQueues > 0) yield { topic, broker, readQueues };
    }
  }
}

/** Names may hold any character, so they are told apart by length. */
function key(topic: string, broker: string): string {
  return `${topic.length}:${topic}${broker}`;
}
