import { expect, test } from 'vitest';
import type { Snapshot } from '../src/types';
import { EMPTY } from '../src/model/doc';
import { apply } from '../src/model/apply';

const group: Snapshot = {
  ...EMPTY,
  topics: [
    {
      topic: 't',
      brokers: [
        { broker: 'a', readQueues: 4 },
        { broker: 'b', readQueues: 4 },
      ],
    },
  ],
  consumers: [{ id: 'x' }, { id: 'y' }, { id: 'y' }],
};

test('ids that are not known sort behind all others, and are said to be made up', () => {
  const { snapshot, assumed } = apply(group, [{ kind: 'add', count: 2 }]);
  const ids = snapshot.consumers.map(({ id }) => id);
  expect(assumed).toBe(true);
  expect(ids).toHaveLength(5);
  expect([...ids].sort().slice(0, 3)).toEqual(['x', 'y', 'y']);
});

test('of two processes with one id, one leaves', () => {
  expect(apply(group, [{ kind: 'remove', ids: ['y'] }]).snapshot.consumers.map(({ id }) => id)).toEqual(['x', 'y']);
});

test('changes follow each other', () => {
  const { snapshot, assumed } = apply(group, [
    { kind: 'queues', topic: 't', broker: 'a', readQueues: 1 },
    { kind: 'queues', topic: 'u', broker: 'c', readQueues: 2 },
    { kind: 'dropBroker', broker: 'b' },
    { kind: 'strategy', to: { name: 'AVG_BY_CIRCLE' } },
  ]);
  expect(assumed).toBe(false);
  expect(snapshot.topics).toEqual([
    { topic: 't', brokers: [{ broker: 'a', readQueues: 1 }] },
    { topic: 'u', brokers: [{ broker: 'c', readQueues: 2 }] },
  ]);
  expect(snapshot.strategy).toEqual({ name: 'AVG_BY_CIRCLE' });
});

test('a restart with the same ids changes nothing in the end', () => {
  expect(apply(group, [{ kind: 'roll', ids: 'stable' }]).snapshot).toBe(group);
});
