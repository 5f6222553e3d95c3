// C20: time and threads do not exist there. The consumer's machine is stepped from JavaScript, and does what it does
// natively.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { evenkeel } from './fresh.mjs';

const { Simulation } = await evenkeel('./protocol');

const SETTINGS = {
  group: 'pay',
  client: '10.0.0.2@7',
  nameServers: ['ns:9876'],
  subscriptions: [{ topic: 'orders' }],
  strategy: 'avg',
  seed: 7,
};
const QUEUES = 8;

/** What name server and broker answer to a call, given who is in the group. `undefined`: nothing yet. */
function answer({ asks, command }, members) {
  switch (asks) {
    case 'GET_ROUTEINFO_BY_TOPIC': {
      if (command.extFields.topic !== 'orders') return { code: 17, remark: 'no such topic' };
      const route = {
        brokerDatas: [{ brokerAddrs: { 0: 'broker:10911' }, brokerName: 'broker-a', cluster: 'c' }],
        queueDatas: [{ brokerName: 'broker-a', perm: 6, readQueueNums: QUEUES, writeQueueNums: QUEUES, topicSysFlag: 0 }],
      };
      return { code: 0, text: JSON.stringify(route) };
    }
    case 'GET_CONSUMER_LIST_BY_GROUP':
      return { code: 0, text: JSON.stringify({ consumerIdList: members }) };
    case 'QUERY_CONSUMER_OFFSET':
      return { code: 0, extFields: { offset: '9007199254740993' } };
    case 'PULL_MESSAGE':
      return undefined;
    default:
      return { code: 0 };
  }
}

/** Runs the machine for 100 rounds of 20 s. Members come and go. The result is all inputs, all outputs. */
function play() {
  const member = new Simulation(SETTINGS);
  const [inputs, outputs] = [[], []];
  const step = (input, members) => {
    const pending = [input];
    for (const next of pending) {
      inputs.push(next);
      const said = member.step(next);
      outputs.push(said);
      for (const output of said) {
        const command = output.type === 'call' ? answer(output, members) : undefined;
        if (command) pending.push({ at: next.at, type: 'reply', call: output.call, command });
      }
    }
  };
  for (let round = 0; round < 100; round += 1) {
    const others = ['10.0.0.1@7', '10.0.0.3@7'].slice(0, Math.floor(round / 10) % 3);
    const members = [SETTINGS.client, ...others];
    const at = round * 20_000;
    if (round === 0) step({ at, type: 'start', wall: 1_700_000_000_000 }, members);
    step({ at, type: 'tick' }, members);
  }
  return { inputs, outputs };
}

test('c20 100 rounds from JavaScript, with time as an argument', () => {
  const { outputs } = play();
  const events = outputs.flat().filter(({ type }) => type === 'event');
  const sizes = events.filter(({ event }) => event === 'rebalanced').map(({ assigned }) => assigned.length);
  assert.ok(sizes.includes(8) && sizes.includes(4) && sizes.includes(3), `shares were ${sizes}`);
  const started = events.find(({ event }) => event === 'queueStarted');
  assert.equal(started.offset, '9007199254740993');
  for (const said of outputs) assert.equal(said.at(-1).type, 'idle');
});

test('c20 the same inputs give the same trace', () => {
  assert.deepEqual(play(), play());
});

test('c20 the trace is the native one', () => {
  const { inputs, outputs } = play();
  const program = process.env.EVENKEEL_STEPS;
  assert.ok(program, 'EVENKEEL_STEPS is not set: run `cargo xtask test-npm`');
  const input = [SETTINGS, ...inputs].map((line) => `${JSON.stringify(line)}\n`).join('');
  const native = execFileSync(program, { input, encoding: 'utf8', maxBuffer: 1 << 28 });
  assert.equal(native, outputs.map((said) => `${JSON.stringify(said)}\n`).join(''));
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
