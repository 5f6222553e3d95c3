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
  AllocateMessageQueueByMachineRoom: ({ consumerIdcs }) =>
    consumerIdcs?.every(Boolean) ? { name: 'MACHINE_ROOM', rooms: consumerIdcs } : undefined,
};

/** The queues of a case: written out, or by the rule that makes them. */
function queuesOf(list) {
  if (Array.isArray(list)) return list.map(({ topic, brokerName, queueId }) => ({ topic, broker: brokerName, id: queueId }));
  if (!list) return [];
  const { topic, brokers, perBroker, permute } = list.generator;
  const queues = brokers.flatMap((broker) => Array.from({ length: perBroker }, (_, id) => ({ topic, broker, id })));
  if (!permute) return queues;
  return queues.map((_, at) => queues[(at * permute.stride + permute.offset) % queues.length]);
}

function consumersOf(list) {
  if (Array.isArray(list)) return list;
  if (!list) return [];
  const { prefix, from, count, suffix } = list.generator;
  return Array.from({ length: count }, (_, at) => `${prefix}${from + at}${suffix}`);
}

/** Strings compare by UTF-16 unit, here as in Java. */
const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const inOrder = (list, order) => list.every((entry, at) => at === 0 || order(list[at - 1], entry) <= 0);

/** A case as the package is asked and as Java answered, if it can be put to it. */
function question(item) {
  const { expect, mode, currentCid, group: name } = item;
  const [queues, consumers] = [queuesOf(item.queues), consumersOf(item.consumers)];
  const strategy = STRATEGIES[item.strategy]?.(item.params ?? {});
  if (!strategy || queues.length === 0 || consumers.length === 0 || expect.error || expect.null) return undefined;
  // The package asks for names, and shares the queues of one topic at a time.
  if ([...consumers, ...queues.flatMap(({ topic, broker }) => [topic, broker])].some((text) => !text)) return undefined;
  if (new Set(queues.map(({ topic }) => topic)).size !== 1 || queues.some(({ id }) => id < 0)) return undefined;
  // It sorts what it is given, as clients do before they ask a strategy.
  const byName = (a, b) => compare(a.broker, b.broker) || a.id - b.id;
  if (!item.sortFirst && !(inOrder(queues, byName) && inOrder(consumers, compare))) return undefined;
  const [sorted, members] = [[...queues].sort(byName), [...consumers].sort(compare)];
  const asked = { queues, consumers, strategy, group: name ?? undefined };
  if (mode === 'group') {
    return { ...asked, members, wanted: expect.shares.map((share) => share.map((at) => sorted[at])) };
  }
  return currentCid ? { ...asked, members: [currentCid], wanted: [queuesOf(expect.queues)] } : undefined;
}

for (const [name, least] of [['averagely', 100], ['averagely-by-circle', 100], ['consistent-hash', 40], ['machine-room', 20]]) {
  test(`vectors of ${name}`, () => {
    let compared = 0;
    for (const item of golden(`allocate-${name}`)) {
      const asked = question(item);
      if (!asked) continue;
      const { queues, consumers, strategy, group: of, members, wanted } = asked;
      const answers = members.map((me) => allocateFor(me, queues, consumers, strategy, of));
      assert.deepEqual(answers, wanted, item.id);
      compared += 1;
    }
    assert.ok(compared >= least, `only ${compared} cases were compared`);
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
      // Objects of JavaScript list keys that are numbers first, whatever the order in the text.
      assert.equal(ours, JSON.stringify(JSON.parse(theirs)));
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
