// C13: more consumers than queues, and nothing at all.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evenkeel, group } from './fresh.mjs';

const { allocate, allocateFor } = await evenkeel();
const members = (count) => Array.from({ length: count }, (_, place) => `c${place + 1}`);
const shares = (queues, consumers, strategy) =>
  [...allocate(group(queues, members(consumers)), strategy).byConsumer.values()].map((list) => list.map(({ id }) => id));

test('c13 shares by position', () => {
  assert.deepEqual(shares(4, 6, 'AVG'), [[0], [1], [2], [3], [], []]);
  assert.deepEqual(shares(1, 5, 'AVG'), [[0], [], [], [], []]);
  assert.deepEqual(shares(10, 3, 'AVG'), [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]);
  assert.deepEqual(shares(8, 3, 'AVG'), [[0, 1, 2], [3, 4, 5], [6, 7]]);
  assert.deepEqual(shares(10, 3, 'AVG_BY_CIRCLE'), [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]]);
});

const queues = [{ topic: 'T', broker: 'b', id: 0 }];

test('c13 an id that is not in the list gets nothing', () => {
  assert.deepEqual(allocateFor('stranger', queues, ['c1'], { name: 'AVG' }), []);
});

test('c13 nothing to share is an error, and the next call works', () => {
  const cases = [
    ['UNKNOWN_CONSUMER', () => allocateFor('', queues, ['c1'], 'AVG')],
    ['EMPTY_QUEUES', () => allocateFor('c1', [], ['c1'], 'AVG')],
    ['EMPTY_CONSUMERS', () => allocateFor('c1', queues, [], 'AVG')],
    ['EMPTY_QUEUES', () => allocate(group(0, ['c1']))],
    ['EMPTY_CONSUMERS', () => allocate(group(1, []))],
    ['BAD_SNAPSHOT', () => allocate(group(1, ['']))],
    ['BAD_STRATEGY', () => allocate(group(1, ['c1']), 'averge')],
    ['BAD_SNAPSHOT', () => allocate({})],
    ['BAD_SNAPSHOT', () => allocate(undefined)],
    ['TOO_LARGE', () => allocate(group(2 ** 40, ['c1']))],
  ];
  for (const [code, call] of cases) {
    assert.throws(call, (error) => {
      assert.ok(error instanceof Error);
      assert.equal(error.name, 'EvenkeelError');
      assert.equal(error.code, code, error.message);
      return true;
    });
    assert.deepEqual(allocateFor('c1', queues, ['c1'], 'AVG'), queues);
  }
});

test('c02 and c09 hash rings and shuffled lists as Java has them', () => {
  const ring = (ids) => [...allocate(group(8, ids), { name: 'CONSISTENT_HASH', virtualNodes: 10 }).byConsumer.values()];
  assert.deepEqual(
    ring(['10.1.1.1@1', '10.1.1.2@1', '10.1.1.3@1', '10.1.1.4@1']).map((list) => list.map(({ id }) => id)),
    [[3, 6, 7], [], [1, 2, 4, 5], [0]],
  );
  const brokers = ['b2', 'b10'].map((broker) => ({ broker, readQueues: 12 }));
  const shuffled = { ...group(0, ['E', 'B', 'D', 'A', 'C']), topics: [{ topic: 'T', brokers }] };
  const text = [...allocate(shuffled, 'AVG').byConsumer].map(
    ([id, list]) => `${id} ${list.map((queue) => `${queue.broker}:${queue.id}`).join(' ')}`,
  );
  assert.deepEqual(text, [
    'A b10:0 b10:1 b10:2 b10:3 b10:4',
    'B b10:5 b10:6 b10:7 b10:8 b10:9',
    'C b10:10 b10:11 b2:0 b2:1 b2:2',
    'D b2:3 b2:4 b2:5 b2:6 b2:7',
    'E b2:8 b2:9 b2:10 b2:11',
  ]);
});
