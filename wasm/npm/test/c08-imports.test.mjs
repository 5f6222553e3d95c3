// C08: the package can be imported, everywhere and from everywhere.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node, project } from './fresh.mjs';

const ASK = `
const group = {
  schema: 'evenkeel.snapshot/1',
  topics: [{ topic: 'T', brokers: [{ broker: 'b', readQueues: 10 }] }],
  consumers: [{ id: 'c1' }, { id: 'c2' }, { id: 'c3' }],
};
const counts = [...allocate(group, 'AVG').byConsumer.values()].map((queues) => queues.length).join();
`;
const ESM = `import { allocate } from 'evenkeel';${ASK}console.log(counts);`;
const CJS = `const { allocate } = require('evenkeel');${ASK}console.log(counts);`;
const WORKER = `
import { Worker, isMainThread, parentPort } from 'node:worker_threads';
import { allocate } from 'evenkeel';
if (isMainThread) {
  new Worker(new URL(import.meta.url)).on('message', (counts) => console.log(counts));
} else {${ASK}parentPort.postMessage(counts);
}`;

test('c08 a static import in an .mjs file', () => {
  assert.equal(node(project({ 'a.mjs': ESM }), 'a.mjs'), '4,3,3\n');
});

test('c08 require in a .cjs file, where Node may not load ESM by require', () => {
  assert.equal(node(project({ 'a.cjs': CJS }), '--no-experimental-require-module', 'a.cjs'), '4,3,3\n');
});

test('c08 a worker thread', () => {
  assert.equal(node(project({ 'a.mjs': WORKER }), 'a.mjs'), '4,3,3\n');
});

for (const name of ['with blanks in it', 'gruppenübersicht', '消费者', '100%25 #1?']) {
  test(`c08 a folder called ${name}`, () => {
    const folder = project({ 'a.mjs': ESM, 'a.cjs': CJS }, { name });
    assert.equal(node(folder, 'a.mjs'), '4,3,3\n');
    assert.equal(node(folder, '--no-experimental-require-module', 'a.cjs'), '4,3,3\n');
  });
}

test('c08 every entry by import and by require', () => {
  const entries = ['evenkeel', 'evenkeel/parse', 'evenkeel/web', 'evenkeel/protocol', 'evenkeel/protocol/web'];
  const esm = entries.map((entry) => `await import('${entry}');`).join('\n');
  const cjs = entries.map((entry) => `require('${entry}');`).join('\n');
  const folder = project({ 'a.mjs': `${esm}console.log('ok');`, 'a.cjs': `${cjs}console.log('ok');` });
  assert.equal(node(folder, 'a.mjs'), 'ok\n');
  assert.equal(node(folder, '--no-experimental-require-module', 'a.cjs'), 'ok\n');
});

test('c08 the wasm file and the manifest are exported', () => {
  const text = `const fs = require('node:fs');
    const bytes = fs.readFileSync(require.resolve('evenkeel/evenkeel.wasm'));
    console.log(WebAssembly.validate(bytes), require('evenkeel/package.json').name);`;
  assert.equal(node(project({ 'a.cjs': text }), 'a.cjs'), 'true evenkeel\n');
});
