// C07: results that do not look empty and lose no digits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evenkeel, group } from './fresh.mjs';

const { allocate, diff, plan, redact, verify } = await evenkeel();
const ids = (queues) => queues.map((queue) => queue.id);

test('c07 JSON.stringify names every consumer and queue', () => {
  const shares = allocate(group(4, ['c1', 'c2']), 'AVG');
  const read = JSON.parse(JSON.stringify(shares));
  assert.deepEqual(ids(read.byConsumer.c1), [0, 1]);
  assert.deepEqual(ids(read.byConsumer.c2), [2, 3]);
  assert.deepEqual(JSON.parse(JSON.stringify(shares.byConsumer)), read.byConsumer);
  assert.deepEqual(Object.keys(read), ['strategy', 'byConsumer', 'stats']);
});

test('c07 structuredClone keeps everything', () => {
  const shares = allocate(group(4, ['c1', 'c2']), 'AVG');
  const clone = structuredClone(shares);
  assert.deepEqual(ids(clone.byConsumer.get('c2')), [2, 3]);
  assert.deepEqual(clone.stats, shares.stats);
  const report = plan(group(4, ['c1', 'c2']), [{ kind: 'add', ids: ['c3'] }]);
  assert.deepEqual(structuredClone(report), report);
  assert.deepEqual(JSON.parse(JSON.stringify(report)), report);
});

const queue = { topic: 'T', broker: 'b', id: 0 };
for (const lag of [9007199254740993n, '9007199254740993', 9223372036854775807n]) {
  test(`c07 a lag of ${typeof lag} ${lag} keeps its digits`, () => {
    const seen = redact({ ...group(1, ['c1']), load: [{ queue, lag }] });
    assert.equal(seen.load[0].lag, String(lag));
    assert.equal(redact(seen).load[0].lag, String(lag));
  });
}

test('c07 numbers that JavaScript keeps stay numbers', () => {
  for (const lag of [0, 17, 17n, Number.MAX_SAFE_INTEGER]) {
    assert.equal(redact({ ...group(1, ['c1']), load: [{ queue, lag }] }).load[0].lag, Number(lag));
  }
});

test('c07 a number that has lost its digits already is not guessed at', () => {
  // eslint-disable-next-line no-loss-of-precision
  const given = { ...group(1, ['c1']), load: [{ queue, lag: 1e300 }] };
  assert.throws(() => redact(given), { code: 'BAD_SNAPSHOT' });
});

test('c07 ids that look like numbers, or like what objects have anyway', () => {
  const names = ['10', '9', '__proto__', 'constructor', 'toString', ''].filter(Boolean);
  const shares = allocate(group(5, names), 'AVG');
  assert.deepEqual([...shares.byConsumer.keys()], [...names].sort());
  assert.deepEqual([...shares.byConsumer.values()].map((queues) => queues.length), [1, 1, 1, 1, 1]);
  assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(shares)).byConsumer).sort(), [...names].sort());
  assert.deepEqual(shares.ownersOf({ topic: 'T', broker: 'b', id: 2 }), [[...names].sort()[2]]);
});

test('c07 a difference of allocations', () => {
  const [before, after] = [['c1'], ['c1', 'c2']].map((ids) => allocate(group(2, ids), 'AVG'));
  assert.deepEqual(diff(before, after), [{ queue: { topic: 'T', broker: 'b', id: 1 }, from: 'c1', to: 'c2' }]);
  assert.deepEqual(diff(before, before), []);
});

test('c15 a repeated id and the queues that nobody owns are named', () => {
  const found = verify(group(12, ['X', 'X', 'Y']));
  assert.deepEqual(found.find(({ code }) => code === 'R101').consumers, ['X']);
  assert.deepEqual(ids(allocate(group(12, ['X', 'X', 'Y']), 'AVG').stats.orphaned), [4, 5, 6, 7]);
});
