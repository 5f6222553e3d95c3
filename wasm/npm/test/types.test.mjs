// C08 (c): TypeScript finds the types, under each way of resolving, and the types are what the README says.

import { execFileSync } from 'node:child_process';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { evenkeel, group, project, write } from './fresh.mjs';
import { BROADCASTING, played, SETTINGS } from './play.mjs';

const tsc = createRequire(import.meta.url).resolve('typescript/package.json').replace(/package\.json$/, 'bin/tsc');

const SOURCE = `
import { allocate, plan, verify, EvenkeelError, type Snapshot, type PlanReport, type Change, type ErrorCode } from 'evenkeel';
import init, { type WasmSource } from 'evenkeel/web';
import { decode, Simulation, type SimulationOutput } from 'evenkeel/protocol';

const snapshot: Snapshot = {
  schema: 'evenkeel.snapshot/1',
  topics: [{ topic: 'T', brokers: [{ broker: 'b', readQueues: 4 }] }],
  consumers: [{ id: 'c1' }],
  load: [{ queue: { topic: 'T', broker: 'b', id: 0 }, lag: 9007199254740993n }],
};
const changes: readonly Change[] = [{ kind: 'add', count: 1 }, { kind: 'roll', ids: 'new' }];
const report: PlanReport = plan(snapshot, changes, { strategies: ['avg', { name: 'CONSISTENT_HASH', virtualNodes: 20 }] });
const moved: number | undefined = report.results[0]?.moved.max;
const shares: ReadonlyMap<string, readonly { id: number }[]> = allocate(snapshot, { name: 'AVG' }).byConsumer;
const code: ErrorCode | undefined = new EvenkeelError('NO_ROOM', '').code;
const levels: ('error' | 'warning' | 'info')[] = verify(snapshot).map((found) => found.level);
const source: WasmSource = new Uint8Array();
const said: SimulationOutput[] = new Simulation({ group: 'g', client: 'c', nameServers: [], subscriptions: [] }).step({ at: 0n, type: 'tick' });
export const all = [moved, shares, code, levels, source, said, decode('frame', ''), init];

// @ts-expect-error a snapshot has a schema
plan({ topics: [], consumers: [] }, changes);
// @ts-expect-error there is no such change
plan(snapshot, [{ kind: 'fly' }]);
// @ts-expect-error either ids or a count
plan(snapshot, [{ kind: 'add' }]);
// @ts-expect-error answers are read-only
report.results = [];
// @ts-expect-error there is no such code
const wrong: ErrorCode = 'NOTHING';
`;

function check(options, files) {
  const folder = project();
  write(folder, {
    ...files,
    'tsconfig.json': JSON.stringify({
      compilerOptions: { strict: true, noEmit: true, target: 'es2022', lib: ['es2022', 'dom'], types: [], ...options },
      include: Object.keys(files),
    }),
  });
  try {
    execFileSync(process.execPath, [tsc, '--project', folder], { encoding: 'utf8' });
  } catch (error) {
    throw new Error(`tsc: ${error.stdout}`);
  }
}

for (const module of ['node16', 'nodenext']) {
  test(`c08 types of ESM and of CommonJS by ${module}`, () => {
    check({ module, moduleResolution: module }, { 'a.mts': SOURCE, 'a.cts': SOURCE });
  });
}
test('c08 types by bundler', () => {
  check({ module: 'esnext', moduleResolution: 'bundler' }, { 'a.ts': SOURCE });
});

// What Rust answers, as TypeScript literals: a field that the types do not have is refused, and one that they require and
// is missing as well.

const queue = (id) => ({ topic: 'T', broker: 'b', id });
const sick = {
  ...group(4, ['X', 'X', 'Y', 'Z', 'Go']),
  takenAt: '2026-01-01T00:00:00Z',
  strategy: { name: 'CONSISTENT_HASH', virtualNodes: 20, hash: 'java-md5' },
  owned: [{ queue: queue(0), owners: ['X', 'X'] }, { queue: queue(1), owners: [] }],
  load: [{ queue: queue(0), lag: '9007199254740993', tps: 1.5 }],
};
sick.topics[0].brokers.push({ broker: 'c', readQueues: 2, readable: false });
Object.assign(sick.consumers[2], {
  address: '10.0.0.1:5', language: 'JAVA', version: '5.3.1', strategy: 'AVG', topics: ['T'], subscriptions: { T: '*' },
  answered: true, listed: [queue(2)],
});
sick.consumers[4].language = 'GO';

async function answers() {
  const { allocate, explain, parse, plan, redact, verifyReport } = await evenkeel();
  const healthy = group(6, ['a', 'b']);
  return {
    Snapshot: [sick, redact(sick, 'salt'), redact(healthy)],
    VerifyReport: [verifyReport(sick), verifyReport(healthy)],
    PlanReport: [
      plan(sick, [{ kind: 'remove', ids: ['Y'] }], { maxMoves: 1, maxSkew: 0 }),
      plan(healthy, [{ kind: 'add', count: 2 }], { strategies: ['hash:20', 'avg', 'draft'] }),
      plan(healthy, [{ kind: 'roll', ids: 'new' }]),
      plan(healthy, [{ kind: 'roll', ids: 'stable' }, { kind: 'strategy', to: 'circle' }]),
      plan(healthy, [{ kind: 'dropBroker', broker: 'b' }, { kind: 'queues', topic: 'T', broker: 'd', readQueues: 3 }]),
      plan({ ...healthy, consumers: healthy.consumers.map((seen) => ({ ...seen, strategy: 'com.example.Mine' })) }, [{ kind: 'add', ids: ['c'] }]),
    ],
    AllocationStats: [allocate(sick).stats],
    Explanation: [explain('R101')],
    Parsed: [parse('orders: broker-a=8\nc1\nwhat is this\n'), parse(['c1', 'c2\n???\n???'])],
  };
}

function literals(answers, entry = 'evenkeel') {
  const lines = Object.entries(answers).flatMap(([type, list]) =>
    list.map((answer, at) => `export const ${type}${at}: import('${entry}').${type} = ${JSON.stringify(answer)};`),
  );
  return { 'a.mts': `${lines.join('\n')}\n` };
}

test('the types are those of the answers', async () => {
  check({ module: 'nodenext', moduleResolution: 'nodenext' }, literals(await answers()));
});

/** The first output of each kind, and the first event of each name, of a member that shares and one that broadcasts. */
async function outputs() {
  const { Simulation } = await evenkeel('./protocol');
  const all = [SETTINGS, BROADCASTING].flatMap((settings) => played(Simulation, settings).outputs.flat());
  return [...new Map(all.reverse().map((output) => [`${output.type} ${output.event}`, output])).values()];
}

const kinds = (outputs) => [...new Set(outputs.map(({ type }) => type))].sort();

test('the types of what a simulation says are those of the answers, and every kind is among them', async () => {
  const said = await outputs();
  check({ module: 'nodenext', moduleResolution: 'nodenext' }, literals({ SimulationOutput: said }, 'evenkeel/protocol'));
  // The kinds that Rust knows: a new one that is not played here fails here.
  const rust = readFileSync(new URL('../../src/simulation/output.rs', import.meta.url), 'utf8');
  const known = [...rust.matchAll(/\("type"(?:\.into\(\))?, "(\w+)"/g)].map(([, kind]) => kind);
  assert.deepEqual(kinds(said), [...new Set(known)].sort());
});

test('control: an output of a kind that the types do not have', async () => {
  const files = literals({ SimulationOutput: [{ type: 'fly', offsets: [] }] }, 'evenkeel/protocol');
  assert.throws(() => check({ module: 'nodenext', moduleResolution: 'nodenext' }, files), /fly/);
});

test('control: a field that the types do not have, and one that is missing', async () => {
  const [report] = (await answers()).PlanReport;
  const { warnings, ...less } = report;
  const more = { ...report, results: report.results.map((result) => ({ ...result, surprise: 1 })) };
  for (const wrong of [less, more]) {
    const files = literals({ PlanReport: [wrong] });
    assert.throws(() => check({ module: 'nodenext', moduleResolution: 'nodenext' }, files), /warnings|surprise/);
  }
});
