// The answers are those of Java's own classes, of the command line, and of a naive model.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { evenkeel, group } from './fresh.mjs';

const { allocate, allocateFor, plan, verifyReport } = await evenkeel();
const { decode } = await evenkeel('./protocol');

const golden = (name) => JSON.parse(readFileSync(new URL(`../../../tests/golden/${name}.json`, import.meta.url), 'utf8')).cases;
const STRATEGIES = {
  AllocateMessageQueueAveragely: () => ({ name: 'AVG' }),
  AllocateMessageQueueAveragelyByCircle: () => ({ name: 'AVG_BY_CIRCLE' }),
  AllocateMessageQueueConsistentHash: ({ virtualNodeCount, hash }) =>
    hash === undefined && (virtualNodeCount === undefined || virtualNodeCount > 0)
      ? { name: 'CONSISTENT_HASH', ...(virtualNodeCount ? { virtualNodes: virtualNodeCount } : {}) }
      : undefined,
  AllocateMessageQueueByMachineRoom: ({ consumeridcs, consumerIdcs = consumeridcs }) =>
    consumerIdcs ? { name: 'MACHINE_ROOM', rooms: consumerIdcs } : undefined,
};

/** A case of the vectors as the package is asked, if it can be: every list written out, every name there. */
function asked(item) {
  const { queues, consumers, currentCid, expect } = item;
  const strategy = STRATEGIES[item.strategy]?.(item.params ?? {});
  if (!strategy || item.mode === 'group' || !Array.isArray(queues) || !Array.isArray(consumers)) return undefined;
  if (!currentCid || queues.length === 0 || consumers.length === 0 || expect.error) return undefined;
  if ([...consumers, ...queues.flatMap((queue) => [queue.topic, queue.brokerName])].some((name) => !name)) return undefined;
  if (new Set(queues.map((queue) => queue.topic)).size !== 1 || queues.some((queue) => queue.queueId < 0)) return undefined;
  const refs = queues.map(({ topic, brokerName, queueId }) => ({ topic, broker: brokerName, id: queueId }));
  return { strategy, refs, consumers, currentCid, group: item.group };
}

for (const name of ['averagely', 'averagely-by-circle', 'consistent-hash', 'machine-room']) {
  test(`vectors of ${name}`, () => {
    let compared = 0;
    for (const item of golden(`allocate-${name}`)) {
      const question = asked(item);
      if (!question) continue;
      const { expect } = item;
      const sorted = [...question.refs].sort(
        (a, b) => (a.broker < b.broker ? -1 : a.broker > b.broker ? 1 : a.id - b.id),
      );
      const inJavasOrder = JSON.stringify(sorted) === JSON.stringify(question.refs) &&
        JSON.stringify([...question.consumers].sort()) === JSON.stringify(question.consumers);
      if (!inJavasOrder && !item.sortFirst) continue;
      const wanted = expect.queues
        ? expect.queues.map(({ topic, brokerName, queueId }) => ({ topic, broker: brokerName, id: queueId }))
        : expect.indices?.map((index) => sorted[index]);
      if (!wanted) continue;
      const mine = allocateFor(question.currentCid, question.refs, question.consumers, question.strategy, question.group);
      assert.deepEqual(mine, wanted, item.id);
      compared += 1;
    }
    assert.ok(compared > 5, `only ${compared} cases were compared`);
  });
}

function cli(args, input) {
  const program = process.env.EVENKEEL_CLI;
  assert.ok(program, 'EVENKEEL_CLI is not set: run `cargo xtask test-npm`');
  return execFileSync(program, args, { input, encoding: 'utf8', maxBuffer: 1 << 28 });
}

for (const [kind, file] of [['frame', 'frames-captured'], ['message', 'messages']]) {
  test(`decode ${kind} answers what the command line prints`, () => {
    const lines = golden(file).map((item) => item.hex).filter((hex) => typeof hex === 'string' && hex !== '');
    const printed = cli(['decode', kind], `${lines.join('\n')}\n`).split('\n').slice(0, -1);
    assert.equal(printed.length, lines.length);
    lines.forEach((line, at) => {
      const ours = JSON.stringify(decode(kind, line));
      // As the package writes them, whole numbers beyond 2^53 are texts.
      const theirs = printed[at].replaceAll(/(?<=[:,[])-?\d{16,}(?=[,\]}])/g, (digits) =>
        Number.isSafeInteger(Number(digits)) ? digits : `"${digits}"`,
      );
      assert.equal(ours, theirs);
    });
    assert.ok(lines.length > 20);
  });
}

test('a naive model of AVG and AVG_BY_CIRCLE agrees', () => {
  const model = {
    AVG: (queues, members, me) => {
      const [each, more] = [Math.floor(queues / members), queues % members];
      const first = me * each + Math.min(me, more);
      return Array.from({ length: each + (me < more ? 1 : 0) }, (_, at) => first + at);
    },
    AVG_BY_CIRCLE: (queues, members, me) =>
      Array.from({ length: queues }, (_, at) => at).filter((at) => at % members === me),
  };
  const ids = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12, unit: 'binary' }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), ids, fc.constantFrom('AVG', 'AVG_BY_CIRCLE'), (queues, members, name) => {
      const shares = allocate(group(queues, members), { name });
      const sorted = [...members].sort();
      assert.deepEqual([...shares.byConsumer.keys()], sorted);
      sorted.forEach((id, me) => {
        assert.deepEqual(shares.byConsumer.get(id).map((queue) => queue.id), model[name](queues, members.length, me));
      });
    }),
  );
});
