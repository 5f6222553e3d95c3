import { expect, test } from 'vitest';
import type { Allocation, QueueRef, Snapshot } from '../src/types';
import { EMPTY } from '../src/model/doc';
import { loadsOf, matrixOf, movesOf, pairsOf } from '../src/derive';
import { picture } from '../src/worker/picture';
import { ABSENT, NOBODY } from '../src/worker/protocol';

const q = (broker: string, id: number): QueueRef => ({ topic: 't', broker, id });

function side(brokers: Record<string, number>, owners: Record<string, QueueRef[]>, ids = Object.keys(owners)) {
  const topics = [
    { topic: 't', brokers: Object.entries(brokers).map(([broker, readQueues]) => ({ broker, readQueues })) },
  ];
  const snapshot: Snapshot = { ...EMPTY, topics, consumers: ids.map((id) => ({ id })) };
  const allocation = { byConsumer: new Map(Object.entries(owners)) } as unknown as Allocation;
  return { snapshot, allocation };
}

test('cells have the owners before and after; a queue that comes or goes does not move', () => {
  const before = side({ a: 3 }, { x: [q('a', 0), q('a', 1)], y: [q('a', 2)] });
  const after = side({ a: 2, b: 1 }, { x: [q('a', 0)], y: [q('a', 1)], z: [q('b', 0)] });
  const shown = picture('AVG', before, after, false);
  expect(shown.members.map(({ id, before, after }) => [id, before, after])).toEqual([
    ['x', true, true],
    ['y', true, true],
    ['z', false, true],
  ]);
  expect([...shown.before]).toEqual([0, 0, 1, ABSENT]);
  expect([...shown.after]).toEqual([0, 1, ABSENT, 2]);
  expect(movesOf(shown).map(({ row, queue, from, to }) => [row.broker, queue, from, to])).toEqual([['a', 1, 0, 1]]);
  expect([...loadsOf(shown, 'after')]).toEqual([1, 1, 1]);
});

test('c15 both processes of a repeated id own its queues, and the other place is nobody’s', () => {
  const twins = side({ a: 3 }, { x: [q('a', 0)], y: [q('a', 2)] }, ['x', 'x', 'y']);
  const shown = picture('AVG', twins, twins, false);
  expect([...shown.before]).toEqual([0, NOBODY, 1]);
  expect(shown.doubledBefore).toEqual([[0, [0, 0]]]);
  expect([...loadsOf(shown, 'before')]).toEqual([1, 1]);
});

test('brokers that cannot be read have no cells', () => {
  const one = side({ a: 1 }, { x: [q('a', 0)] });
  const topics = [
    {
      topic: 't',
      brokers: [
        { broker: 'a', readQueues: 1 },
        { broker: 'b', readQueues: 9, readable: false },
      ],
    },
  ];
  const shown = picture('AVG', one, { ...one, snapshot: { ...one.snapshot, topics } }, false);
  expect(shown.rows.map(({ broker }) => broker)).toEqual(['a']);
});

test('c09 rows and members are in the order of code units', () => {
  const one = side({ b2: 1, b10: 1 }, { '10.0.0.9@1': [q('b2', 0)], '10.0.0.10@1': [q('b10', 0)] });
  const shown = picture('AVG', one, one, false);
  expect(shown.rows.map(({ broker }) => broker)).toEqual(['b10', 'b2']);
  expect(shown.members.map(({ id }) => id)).toEqual(['10.0.0.10@1', '10.0.0.9@1']);
});

test('moves are summed by pair, the biggest first; the matrix counts by topic', () => {
  const before = side({ a: 3 }, { x: [q('a', 0), q('a', 1), q('a', 2)], y: [] });
  const after = side({ a: 3 }, { x: [q('a', 0)], y: [q('a', 1), q('a', 2)] });
  const shown = picture('AVG', before, after, false);
  expect(pairsOf(movesOf(shown))).toEqual([{ from: 0, to: 1, count: 2 }]);
  expect(matrixOf(shown, 'after').counts.map((counts) => [...counts])).toEqual([[1], [2]]);
});
