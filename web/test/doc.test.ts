import { expect, test } from 'vitest';
import { countQueues, doc, EMPTY, linked, roomRules, runningName, strategyOf, table } from '../src/model/doc';
import { EXAMPLES, example } from '../src/model/examples';
import { namedStrategy } from '../src/model/names';
import { listsOf, listsText } from '../src/model/lists';

test('only readable queues count', () => {
  const brokers = [
    { broker: 'a', readQueues: 4 },
    { broker: 'b', readQueues: 4, readable: false },
  ];
  expect(countQueues({ ...EMPTY, topics: [{ topic: 't', brokers }] })).toBe(4);
});

test('the running strategy is what is said, else what a member runs, else AVG', () => {
  expect(runningName(EMPTY)).toBe('AVG');
  expect(runningName({ ...EMPTY, consumers: [{ id: 'x', strategy: 'AVG_BY_CIRCLE' }] })).toBe('AVG_BY_CIRCLE');
  expect(runningName({ ...EMPTY, consumers: [{ id: 'x', strategy: 'com.example.Own' }] })).toBe('AVG');
  const java = 'org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash';
  expect(runningName({ ...EMPTY, consumers: [{ id: 'x', strategy: java }] })).toBe('CONSISTENT_HASH');
  expect(namedStrategy('hash:32')).toEqual({ name: 'CONSISTENT_HASH', virtualNodes: 32 });
  expect(namedStrategy('constructor')).toBeNull();
});

test('strategies that need settings are there once they have them', () => {
  const now = doc(EMPTY);
  expect(strategyOf(now, 'MACHINE_ROOM')).toBeNull();
  expect(strategyOf({ ...now, settings: { ...now.settings, rooms: ['x'] } }, 'MACHINE_ROOM')).toEqual({
    name: 'MACHINE_ROOM',
    rooms: ['x'],
  });
});

test('a link carries the settings of strategies that are not running, and a document made of them has them', () => {
  const queue = { topic: 't', broker: 'b', id: 0 };
  const roomOf = { kind: 'table', brokers: 'b = r', consumers: 'x@1 = r\ny = s' } as const;
  const settings = { virtualNodes: 40, hash: 'go-crc32', rooms: ['r'], roomOf, lists: { x: [queue] } } as const;
  const now = { ...doc(EMPTY), settings };
  const { strategies } = linked(now);
  expect(strategies.map(({ name }) => name)).toEqual([
    'CONSISTENT_HASH',
    'MACHINE_ROOM',
    'MACHINE_ROOM_NEARBY',
    'CONFIG',
  ]);
  const then = doc(EMPTY, [], strategies);
  for (const { name } of strategies) expect(strategyOf(then, name), name).toEqual(strategyOf(now, name));
  expect(linked(then).strategies).toEqual(strategies);
});

test('a link carries no settings that nobody gave, and the running strategy once', () => {
  expect(linked(doc(EMPTY)).strategies).toEqual([]);
  const running = { name: 'CONSISTENT_HASH', virtualNodes: 40 } as const;
  expect(linked(doc({ ...EMPTY, strategy: running })).strategies).toEqual([]);
});

test('a pattern that is none makes no rules', () => {
  expect(roomRules({ kind: 'pattern', brokers: '(', consumers: '' })).toBeNull();
  expect(table('a@1=x\nb = y \nbad\n=z')).toEqual({ 'a@1': 'x', b: 'y' });
});

test('lists are read and written; lines that do not fit are named', () => {
  const { lists, problems } = listsOf('x t a 0-2,5\nx t b 1\nnonsense\ny t a 9-3');
  expect(lists?.['x']?.map(({ broker, id }) => `${broker}${id}`)).toEqual(['a0', 'a1', 'a2', 'a5', 'b1']);
  expect(problems.map(({ line }) => line)).toEqual([3, 4]);
  expect(listsOf(listsText(lists)).lists).toEqual(lists);
  expect(listsOf('x t a 0-999999').problems).toHaveLength(1);
});

test('the examples are what their names say', () => {
  const sizes = EXAMPLES.map((name) => [
    name,
    countQueues(example(name).snapshot),
    example(name).snapshot.consumers.length,
  ]);
  expect(sizes).toEqual([
    ['first', 16, 3],
    ['wide', 64, 8],
    ['topics', 80, 6],
    ['twins', 16, 3],
    ['mixed', 16, 3],
    ['large', 10_000, 1_000],
  ]);
});
