import { describe, expect, test } from 'vitest';
import { doc, EMPTY, type Doc } from '../src/model/doc';
import {
  consumersAfter,
  growQueues,
  membership,
  setBroker,
  setConsumerCount,
  setConsumersAfter,
  setJoining,
  setQueuesAfter,
  setRoll,
  setSettings,
  setStrategyAfter,
  toggleBroker,
} from '../src/model/edit';

function group(consumers: number): Doc {
  const topics = [
    {
      topic: 'orders',
      brokers: [
        { broker: 'a', readQueues: 8 },
        { broker: 'b', readQueues: 8 },
      ],
    },
  ];
  return setConsumerCount(doc({ ...EMPTY, topics }), consumers);
}

describe('the number of consumers afterwards', () => {
  test('grows by ids that are not known', () => {
    const next = setConsumersAfter(group(3), 5);
    expect(next.changes).toEqual([{ kind: 'add', count: 2 }]);
    expect(consumersAfter(next)).toBe(5);
  });

  test('shrinks below the group, and comes back to no change', () => {
    const fewer = setConsumersAfter(group(3), 1);
    expect(fewer.changes).toEqual([{ kind: 'remove', count: 2 }]);
    expect(setConsumersAfter(fewer, 3).changes).toEqual([]);
  });

  test('keeps the ids that are known as far as it can', () => {
    const named = setJoining(setConsumersAfter(group(3), 5), ['x', 'y']);
    expect(named.changes).toEqual([{ kind: 'add', ids: ['x', 'y'] }]);
    expect(setConsumersAfter(named, 4).changes).toEqual([{ kind: 'add', ids: ['x'] }]);
    expect(membership(setConsumersAfter(named, 6).changes)).toMatchObject({ joining: ['x', 'y'], joiningUnknown: 1 });
  });

  test('is never negative', () => {
    expect(consumersAfter(setConsumersAfter(group(2), -5))).toBe(0);
  });
});

test('fewer names than new members leave the others unknown', () => {
  const next = setJoining(setConsumersAfter(group(3), 5), ['x']);
  expect(next.changes).toEqual([
    { kind: 'add', ids: ['x'] },
    { kind: 'add', count: 1 },
  ]);
});

test('a number of queues that is as before is no change', () => {
  const more = setQueuesAfter(group(1), 'orders', 'a', 12);
  expect(more.changes).toEqual([{ kind: 'queues', topic: 'orders', broker: 'a', readQueues: 12 }]);
  expect(setQueuesAfter(more, 'orders', 'a', 8).changes).toEqual([]);
});

test('queues grow from what is planned already', () => {
  const twice = growQueues(growQueues(group(1), 1), 1);
  expect(twice.changes.map((change) => change.kind === 'queues' && change.readQueues)).toEqual([10, 10]);
});

test('a lost broker, a roll and a strategy are each there once', () => {
  let next = toggleBroker(group(2), 'a');
  next = setRoll(setRoll(next, 'stable'), 'new');
  next = setStrategyAfter(setStrategyAfter(next, 'AVG_BY_CIRCLE'), 'CONSISTENT_HASH');
  expect(next.changes.map((change) => change.kind)).toEqual(['dropBroker', 'roll', 'strategy']);
  expect(toggleBroker(next, 'a').changes.map((change) => change.kind)).toEqual(['roll', 'strategy']);
});

test('new settings reach a strategy that is in use', () => {
  const planned = setStrategyAfter(group(2), 'CONSISTENT_HASH');
  const [change] = setSettings(planned, { virtualNodes: 32 }).changes;
  expect(change).toMatchObject({ kind: 'strategy', to: { name: 'CONSISTENT_HASH', virtualNodes: 32 } });
});

test('a broker that is not there yet is added in its place', () => {
  const next = setBroker(group(1), 'orders', 'aa', { readQueues: 4 });
  expect(next.snapshot.topics[0]?.brokers.map(({ broker }) => broker)).toEqual(['a', 'aa', 'b']);
});

test('edits leave the document they came from as it was', () => {
  const before = group(3);
  const copy = structuredClone(before);
  setConsumersAfter(before, 9);
  growQueues(before, 1);
  setSettings(before, { rooms: ['x'] });
  expect(before).toEqual(copy);
});
