// A plan as a link.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { evenkeel, group } from './fresh.mjs';

const { fromUrl, parse, plan, toUrl } = await evenkeel();
const ids = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 12 });

test('what goes in comes out, and equal input gives equal links', () => {
  fc.assert(
    fc.property(ids, fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 9 }), (names, queues, count) => {
      const snapshot = group(queues, names);
      const changes = [{ kind: 'add', count }, { kind: 'remove', ids: [names[0]] }];
      const url = toUrl(snapshot, changes);
      assert.equal(toUrl(snapshot, changes), url);
      assert.match(url, /^#evenkeel=1\.[\w-]+$/);
      assert.deepEqual(fromUrl(url), { snapshot, changes, strategies: [] });
      assert.deepEqual(fromUrl(`https://host/sub/path/?a=b${url}`), { snapshot, changes, strategies: [] });
    }),
    { numRuns: 50 },
  );
});

const STRATEGIES = [
  { name: 'CONSISTENT_HASH', virtualNodes: 40, hash: 'go-crc32' },
  { name: 'MACHINE_ROOM', rooms: ['secret-room'] },
  { name: 'MACHINE_ROOM_NEARBY', inner: { name: 'AVG' }, roomOf: { brokers: { b: 'r' }, consumers: { c1: 'r' } } },
  { name: 'CONFIG', queues: { c1: [{ topic: 'T', broker: 'b', id: 0 }] } },
];

test('strategies that are not running keep their settings', () => {
  const snapshot = group(4, ['c1']);
  assert.deepEqual(fromUrl(toUrl(snapshot, [], { strategies: STRATEGIES })).strategies, STRATEGIES);
  const pattern = { ...STRATEGIES[2], roomOf: { brokers: /^./, consumers: /^c(.)/ } };
  assert.deepEqual(fromUrl(toUrl(snapshot, [], { strategies: [pattern] })).strategies[0].roomOf, {
    brokers: { b: 'b' },
    consumers: { c1: '1' },
  });
});

test('a redacted link leaves out strategies whose settings are names', () => {
  const { strategies } = fromUrl(toUrl(group(4, ['c1']), [], { redact: true, strategies: STRATEGIES }));
  assert.deepEqual(strategies, [STRATEGIES[0]]);
});

test('a base keeps its query and loses its fragment', () => {
  assert.match(toUrl(group(1, ['c']), [], { base: 'https://host/p/?a=b#old' }), /^https:\/\/host\/p\/\?a=b#evenkeel=1\./);
});

test('a redacted link names nobody, and plans alike', () => {
  const snapshot = { ...group(16, ['10.0.0.1@7', '10.0.0.3@7']), group: 'secret-group' };
  const changes = [
    { kind: 'add', ids: ['10.0.0.2@7'] },
    { kind: 'remove', ids: ['10.0.0.3@7'] },
    { kind: 'queues', topic: 'T', broker: 'secret-broker', readQueues: 4 },
  ];
  const read = fromUrl(toUrl(snapshot, changes, { redact: true }));
  assert.doesNotMatch(JSON.stringify(read), /secret|10\.0\.0/);
  const moved = (asked) => plan(asked.snapshot, asked.changes, { strategies: ['avg', 'circle'] }).results.map((result) => result.moved);
  assert.deepEqual(moved(read), moved({ snapshot, changes }));
});

test('too large a group, and links that carry none', () => {
  const names = Array.from({ length: 3000 }, (_, at) => `10.${at % 251}.${(at * 7919) % 253}.${(at * 104729) % 255}@${at * 31}#${at * 1299709}`);
  assert.throws(() => toUrl(group(4, names)), { code: 'TOO_LARGE' });
  for (const url of ['', 'https://host/', '#evenkeel=1.AAAA', '#evenkeel=9.x', '#evenkeel=1.%00', `#evenkeel=1.${'_'.repeat(9000)}`]) {
    assert.throws(() => fromUrl(url), { code: 'BAD_LINK' }, url.slice(0, 40));
  }
});

test('what a page shows is said in Chinese, too', () => {
  const ofLink = caught(() => fromUrl('#evenkeel=1.AAAA'));
  assert.equal(ofLink.message, 'the link is damaged: it may have been cut off');
  assert.match(ofLink.details.zh, /^链接已损坏/);
  const ofField = caught(() => plan(group(-1, ['c1']), []));
  assert.match(ofField.message, /^topics\[0\]\.brokers\[0\]\.readQueues: -1 is negative$/);
  assert.match(ofField.details.zh, /^topics\[0\]\.brokers\[0\]\.readQueues：-1 是负数$/);
  // What the reader of JSON says of a shape is said in English only.
  assert.equal(caught(() => plan({ topics: 7 }, [])).details.zh, undefined);
  const [english, chinese] = ['en', 'zh'].map((language) => parse('? ?', { language }).problems[0]);
  assert.match(english.expected, /^a client id/);
  assert.match(chinese.expected, /^客户端 ID/);
  assert.deepEqual({ ...chinese, expected: '' }, { ...english, expected: '' });
  assert.deepEqual(parse('? ?').problems, [english]);
});

function caught(code) {
  try {
    code();
  } catch (error) {
    return error;
  }
  return assert.fail('nothing was thrown');
}
