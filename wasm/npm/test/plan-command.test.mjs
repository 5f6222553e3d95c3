// `evenkeel-plan` says what `evenkeel plan --from` says: text, JSON and exit codes.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { evenkeel, group, installed, project } from './fresh.mjs';

const { plan, toUrl, verifyReport } = await evenkeel();
const snapshot = {
  ...group(0, ['10.0.3.11@7#812', '10.0.3.12@7#944', '10.0.3.13@7#377']),
  group: 'pay-worker',
  topics: [{ topic: 'orders', brokers: ['broker-a', 'broker-b'].map((broker) => ({ broker, readQueues: 8 })) }],
};
snapshot.consumers.forEach((consumer) => (consumer.strategy = 'AVG'));
const large = group(120, Array.from({ length: 60 }, (_, at) => `c${at + 100}`));
const folder = project({ 'snapshot.json': JSON.stringify(snapshot), 'large.json': JSON.stringify(large) });
const bin = join(folder, 'node_modules/.bin/evenkeel-plan');

const oursOf = (file, ...args) => spawnSync(bin, [file, ...args], { cwd: folder, encoding: 'utf8' });
const theirsOf = (file, ...args) => {
  const program = process.env.EVENKEEL_CLI;
  assert.ok(program, 'EVENKEEL_CLI is not set: run `cargo xtask test-npm`');
  return spawnSync(program, ['plan', '--from', file, ...args], { cwd: folder, encoding: 'utf8' });
};
const ours = (...args) => oursOf('snapshot.json', ...args);
const theirs = (...args) => theirsOf('snapshot.json', ...args);

function alike(mine, native) {
  assert.equal(mine.stdout, native.stdout);
  assert.equal(mine.stderr, native.stderr);
  assert.equal(mine.status, native.status);
  assert.notEqual(mine.stdout + mine.stderr, '');
}

for (const args of [
  ['--add', '1'],
  ['--add', '2', '--max-moves', '20'],
  ['--add', '10.0.3.14@7#120', '--strategy', 'avg', '--moves', '--max-moves', '8'],
  ['--add', '10.0.3.14@7#120', '--json'],
  ['--remove', '10.0.3.11@7#812', '--moves'],
  ['--remove', '1', '--max-skew', '0'],
  ['--queues', '+4', '--max-skew', '0'],
  ['--queues', 'broker-a=12', '--json'],
  ['--drop-broker', 'broker-b', '--moves'],
  ['--roll'],
  ['--roll', '--moves'],
  ['--roll', 'new', '--json'],
  ['--roll', 'new', '--strategy', 'avg', '--moves'],
  ['--add', '1', '--strategy', 'circle', '--moves'],
  ['--roll=new', '--roll', '--switch-to', 'circle', '--moves'],
  ['--switch-to', 'circle'],
  ['--add', 'c9', '--add', 'c8', '--remove', '1', '--json'],
]) {
  test(`evenkeel-plan ${args.join(' ')}`, () => {
    alike(ours(...args), theirs(...args));
  });
}

test('evenkeel-plan of many members: who keeps what it has is only counted', () => {
  const args = ['--remove', 'c159', '--strategy', 'hash', '--moves'];
  const mine = oursOf('large.json', ...args);
  alike(mine, theirsOf('large.json', ...args));
  assert.match(mine.stdout, /\d+ more members? keep what they have/);
});

const settings = [
  { name: 'CONSISTENT_HASH', virtualNodes: 40 },
  { name: 'MACHINE_ROOM_NEARBY', inner: 'AVG', roomOf: { separator: '-' } },
];
const link = toUrl(snapshot, [{ kind: 'add', ids: ['10.0.3.14@7#120'] }], { base: 'https://host/', strategies: settings });

for (const args of [[], ['--json'], ['--strategy', 'hash,avg'], ['--remove', '1'], ['--switch-to', 'hash', '--json']]) {
  test(`evenkeel-plan of a link ${args.join(' ')}`, () => {
    const mine = oursOf(link, ...args);
    alike(mine, theirsOf(link, ...args));
    assert.equal(mine.status, 0);
    writeFileSync(join(folder, 'link.txt'), `${link}\n`);
    assert.deepEqual(oursOf('link.txt', ...args).stdout, mine.stdout);
  });
}

test('the strategies of a link are tried with their settings', () => {
  const { results, skipped } = JSON.parse(oursOf(link, '--json').stdout);
  const ring = results.find(({ strategy }) => strategy === 'CONSISTENT_HASH');
  assert.deepEqual(ring.settings, settings[0]);
  // No room is known of names without a separator, so that it is tried and cannot be computed.
  assert.match(skipped.find(({ strategy }) => strategy === 'MACHINE_ROOM_NEARBY').why, /no machine room is known/);
});

test('a damaged link', () => {
  const mine = oursOf(link.slice(0, 60), '--add', '1');
  alike(mine, theirsOf(link.slice(0, 60), '--add', '1'));
  assert.equal(mine.status, 2);
});

test('exit codes', () => {
  for (const [code, ...args] of [
    [2],
    [2, '--add', '0'],
    [2, '--fly'],
    [2, '--strategy', 'averge', '--add', '1'],
    [4, '--remove', 'stranger'],
    [7, '--add', '1', '--max-moves', '0'],
    [0, '--add', '1', '--max-moves', '16'],
  ]) {
    assert.equal(ours(...args).status, code, args.join(' '));
    assert.equal(theirs(...args).status, code, `native: ${args.join(' ')}`);
  }
});

test('the report is what the command line prints as JSON', () => {
  for (const [args, changes] of [
    [['--add', '3'], [{ kind: 'add', count: 3 }]],
    [['--roll', 'new'], [{ kind: 'roll', ids: 'new' }]],
  ]) {
    assert.equal(`${JSON.stringify(plan(snapshot, changes))}\n`, theirs('--json', ...args).stdout);
  }
});

test('the verdict is what the command line prints as JSON', () => {
  writeFileSync(join(folder, 'sick.json'), JSON.stringify(group(12, ['X', 'X', 'Y'])));
  const args = ['verify', '--from', 'sick.json', '--json'];
  const native = spawnSync(process.env.EVENKEEL_CLI, args, { cwd: folder, encoding: 'utf8' });
  assert.equal(`${JSON.stringify(verifyReport(group(12, ['X', 'X', 'Y'])))}\n`, native.stdout);
  assert.ok(installed());
});
