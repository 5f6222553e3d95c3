// C20: time and threads do not exist there. The consumer's machine is stepped from JavaScript, and does what it does
// natively.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { evenkeel } from './fresh.mjs';
import { BROADCASTING, played, SETTINGS } from './play.mjs';

const { Simulation } = await evenkeel('./protocol');
const play = (settings) => played(Simulation, settings);

test('c20 100 rounds from JavaScript, with time as an argument', () => {
  const { outputs } = play();
  const events = outputs.flat().filter(({ type }) => type === 'event');
  const sizes = events.filter(({ event }) => event === 'rebalanced').map(({ assigned }) => assigned.length);
  assert.ok(sizes.includes(8) && sizes.includes(4) && sizes.includes(3), `shares were ${sizes}`);
  const started = events.find(({ event }) => event === 'queueStarted');
  assert.equal(started.offset, '9007199254740993');
  for (const said of outputs) assert.equal(said.at(-1).type, 'idle');
});

test('c20 a broadcasting member has every queue, and keeps its offsets itself', () => {
  const { outputs } = play(BROADCASTING);
  const said = outputs.flat();
  const started = said.filter(({ event }) => event === 'queueStarted');
  assert.deepEqual([started.length, started[3].offset], [8, 41]);
  const saved = said.findLast(({ type }) => type === 'save').offsets.find(({ queue }) => queue.id === 3);
  assert.equal(saved.offset, 42);
});

test('c20 the same inputs give the same trace', () => {
  assert.deepEqual(play(), play());
});

test('c20 the trace is the native one', () => {
  const program = process.env.EVENKEEL_STEPS;
  assert.ok(program, 'EVENKEEL_STEPS is not set: run `cargo xtask test-npm`');
  for (const settings of [SETTINGS, BROADCASTING]) {
    const { inputs, outputs } = play(settings);
    const input = [settings, ...inputs].map((line) => `${JSON.stringify(line)}\n`).join('');
    const native = execFileSync(program, { input, encoding: 'utf8', maxBuffer: 1 << 28 });
    assert.equal(native, outputs.map((said) => `${JSON.stringify(said)}\n`).join(''));
  }
});

test('c20 what cannot be is refused, and the machine has not moved', () => {
  assert.throws(() => new Simulation({ ...SETTINGS, group: 'no group' }), { code: 'BAD_INPUT' });
  assert.throws(() => new Simulation({}), { code: 'BAD_INPUT' });
  const member = new Simulation(SETTINGS);
  for (const input of [{}, { at: 0, type: 'fly' }, { at: -1, type: 'tick' }, { at: 0, type: 'reply', call: 9, command: { code: 0 } }]) {
    assert.throws(() => member.step(input), { code: 'BAD_INPUT' });
  }
  const fresh = new Simulation(SETTINGS);
  const start = { at: 0, type: 'start', wall: 0 };
  assert.deepEqual(member.step(start), fresh.step(start));
});
