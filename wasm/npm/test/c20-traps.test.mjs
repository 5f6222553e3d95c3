// No panic crosses the border, and no instance is poisoned.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evenkeel, group } from './fresh.mjs';

const { allocate, plan } = await evenkeel();
const { Simulation, decode } = await evenkeel('./protocol');
const SETTINGS = { group: 'g', client: 'c', nameServers: ['n:1'], subscriptions: [{ topic: 't' }] };

test('a trap is an error, what lived in the instance is lost, and the next call works', () => {
  const before = new Simulation(SETTINGS);
  // Called with hardly any stack left, the code stops wherever it happens to be.
  let seen;
  const dive = () => {
    try {
      dive();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    if (seen) return;
    try {
      new Simulation(SETTINGS).step({ at: 0, type: 'start', wall: 0 });
    } catch (error) {
      if (error.code === 'ABORTED') seen = error;
    }
  };
  dive();
  assert.equal(seen?.name, 'EvenkeelError');
  assert.throws(() => before.step({ at: 0, type: 'start', wall: 0 }), { code: 'ABORTED' });
  const after = new Simulation(SETTINGS);
  assert.equal(after.step({ at: 0, type: 'start', wall: 0 })[0].type, 'call');
  assert.equal(decode('msgid', '7F00000100002A9F000000000001E240').offsetId.port, 10911);
});

test('hostile input is refused or answered, and never traps', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  for (const bytes of [deep, '{"a":', '\u0000', `{"$ref":"$"}`, '🦀'.repeat(1000)]) {
    const data = new TextEncoder().encode(bytes);
    for (const kind of ['frame', 'message', 'properties', 'msgid', 'body TopicRouteData', 'body ResetOffsetBody']) {
      assert.doesNotThrow(() => decode(kind, data), `${kind} ${bytes.slice(0, 20)}`);
    }
  }
  const nested = { name: 'MACHINE_ROOM_NEARBY', roomOf: { separator: '-' } };
  nested.inner = nested;
  assert.throws(() => allocate(group(1, ['c']), nested), { name: 'EvenkeelError' });
  let deepest = 'AVG';
  for (let depth = 0; depth < 500; depth += 1) {
    deepest = { name: 'MACHINE_ROOM_NEARBY', roomOf: { separator: '-' }, inner: deepest };
  }
  assert.throws(() => allocate(group(1, ['c']), deepest), { code: 'BAD_STRATEGY' });
  for (const change of [null, {}, { kind: 'add', count: 1e9 }, { kind: 'add', count: -1 }, { kind: 'queues' }, 5]) {
    assert.throws(() => plan(group(1, ['c']), [change]), { name: 'EvenkeelError' });
  }
  for (const input of [null, [], 'x', { schema: 'evenkeel.snapshot/2' }, { ...group(1, ['c']), topics: 5 }]) {
    assert.throws(() => plan(input, [{ kind: 'add', count: 1 }]), { name: 'EvenkeelError' });
  }
  assert.equal(allocate(group(1, ['c']), 'AVG').byConsumer.size, 1);
});
