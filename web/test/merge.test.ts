import { expect, test } from 'vitest';
import type { Parsed, Snapshot } from '../src/types';
import { doc, EMPTY, type Doc } from '../src/model/doc';
import { setConsumerIds } from '../src/model/edit';
import { addPaste, merge } from '../src/model/merge';

const said = (text: string) => ({ en: text, zh: text });

const queues: Snapshot = { ...EMPTY, topics: [{ topic: 'orders', brokers: [{ broker: 'b', readQueues: 4 }] }] };
const members: Snapshot = { ...EMPTY, group: 'pay', consumers: [{ id: 'x' }, { id: 'y' }] };
const both: Snapshot = { ...members, topics: queues.topics };
const nothing: Doc = { ...doc(EMPTY), pasted: EMPTY };

function parsed(kind: Parsed['kinds'][number] | null, snapshot: Snapshot, problems: Parsed['problems'] = []): Parsed {
  return { kinds: kind ? [kind] : [], snapshot, problems, lines: 2 };
}

function paste(to: Doc, alone: Parsed, together = alone): Doc {
  return addPaste(to, { text: 'text', alone, together });
}

test('pastes without edits between them are what the engine makes of them together', () => {
  let now = paste(nothing, parsed('topicRoute', queues));
  now = paste(now, parsed('consumerConnection', members), parsed('consumerConnection', both));
  expect(now.snapshot).toBe(both);
  expect(now.sources.map(({ queues, consumers }) => [queues, consumers])).toEqual([
    [4, 0],
    [0, 2],
  ]);
});

test('what was typed between two pastes stays', () => {
  let now = paste(nothing, parsed('topicRoute', queues));
  now = setConsumerIds(now, ['mine']);
  now = paste(now, parsed('consumerConnection', members), parsed('consumerConnection', both));
  expect(now.snapshot.consumers.map(({ id }) => id)).toEqual(['mine', 'x', 'y']);
});

test('a paste that is not recognised changes nothing but the list of pastes', () => {
  const before = paste(nothing, parsed('topicRoute', queues));
  const problems = [{ line: 1, text: said('what'), expected: said('a list') }];
  const now = paste(before, parsed(null, EMPTY, problems));
  expect(now.snapshot).toBe(before.snapshot);
  expect(now.sources.at(-1)).toMatchObject({ kinds: [], skipped: 1, problems });
});

test('what is missing is no line that was skipped', () => {
  const problems = [
    { line: 3, lines: 4, text: said('x'), expected: said('y') },
    { line: 0, text: said('consumers'), expected: said('paste consumerConnection') },
  ];
  const now = paste(nothing, parsed('topicRoute', queues, problems));
  expect(now.sources[0]).toMatchObject({ skipped: 4, problems: [problems[0]] });
  expect(now.open).toEqual([problems[1]]);
});

test('a whole snapshot takes the place of what was there', () => {
  const before = paste(nothing, parsed('topicRoute', queues));
  const other: Snapshot = { ...EMPTY, group: 'other', topics: [], consumers: [{ id: 'z' }] };
  const now = paste(before, parsed('snapshot', other));
  expect(now.snapshot).toEqual(other);
  expect(now.sources).toHaveLength(1);
});

test('laying the same over it twice changes nothing', () => {
  const once = merge(merge(EMPTY, queues), members);
  expect(merge(merge(once, queues), members)).toEqual(once);
});

test('an id that one paste names twice is there twice', () => {
  const twins = merge(EMPTY, { consumers: [{ id: 'x' }, { id: 'x' }] });
  expect(twins.consumers).toHaveLength(2);
  expect(merge(twins, { consumers: [{ id: 'x', language: 'JAVA' }] }).consumers).toEqual([
    { id: 'x', language: 'JAVA' },
    { id: 'x', language: 'JAVA' },
  ]);
});

test('a later paste corrects a broker and keeps the others', () => {
  const two = merge(merge(EMPTY, queues), { topics: [{ topic: 'orders', brokers: [{ broker: 'a', readQueues: 2 }] }] });
  const corrected = merge(two, {
    topics: [{ topic: 'orders', brokers: [{ broker: 'b', readQueues: 8, readable: false }] }],
  });
  expect(corrected.topics[0]?.brokers).toEqual([
    { broker: 'a', readQueues: 2 },
    { broker: 'b', readQueues: 8, readable: false },
  ]);
});

test('owners and loads of several pastes are one list by queue', () => {
  const queue = { topic: 'orders', broker: 'b', id: 0 };
  const now = merge(merge(EMPTY, { load: [{ queue, lag: 5 }] }), { load: [{ queue, tps: 2 }] });
  expect(now.load).toEqual([{ queue, lag: 5, tps: 2 }]);
});

test('names that look like properties of objects are names', () => {
  const now = merge(EMPTY, {
    topics: [{ topic: '__proto__', brokers: [{ broker: 'constructor', readQueues: 1 }] }],
    consumers: [{ id: 'toString' }],
  });
  expect(now.topics[0]?.topic).toBe('__proto__');
  expect(now.consumers).toEqual([{ id: 'toString' }]);
});
