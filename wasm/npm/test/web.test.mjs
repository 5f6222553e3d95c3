// `evenkeel/web` from bytes, from an answer, from a served page's place, and through a bundler.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'vite';
import { installed, node, project, write } from './fresh.mjs';

const ASK = `
import init, { allocate, EvenkeelError } from 'evenkeel/web';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
const bytes = readFileSync(createRequire(import.meta.url).resolve('evenkeel/evenkeel.wasm'));
const group = { schema: 'evenkeel.snapshot/1', topics: [{ topic: 'T', brokers: [{ broker: 'b', readQueues: 10 }] }], consumers: [{ id: 'c1' }, { id: 'c2' }, { id: 'c3' }] };
const counts = () => [...allocate(group).byConsumer.values()].map((queues) => queues.length).join();
`;

test('functions say that init is missing, and work after it', () => {
  const folder = project({
    'a.mjs': `${ASK}
      try { counts(); } catch (error) { console.log(error instanceof EvenkeelError, error.code); }
      await Promise.all([init(bytes), init(bytes)]);
      console.log(counts());`,
  });
  assert.equal(node(folder, 'a.mjs'), 'true NOT_READY\n4,3,3\n');
});

for (const source of [
  'bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)',
  'new WebAssembly.Module(bytes)',
  "new Response(bytes, { headers: { 'content-type': 'application/wasm' } })",
  "Promise.resolve(new Response(bytes, { headers: { 'content-type': 'text/plain' } }))",
]) {
  test(`init from ${source}`, () => {
    assert.equal(node(project({ 'a.mjs': `${ASK} await init(${source}); console.log(counts());` }), 'a.mjs'), '4,3,3\n');
  });
}

test('init that fails says why, and can be called again', () => {
  const folder = project({
    'a.mjs': `${ASK}
      for (const wrong of [new Uint8Array([1, 2, 3]), new Response('', { status: 404 })]) {
        await init(wrong).catch((error) => console.log(error.code));
      }
      await init(bytes);
      console.log(counts());`,
  });
  assert.equal(node(folder, 'a.mjs'), 'NOT_READY\nNOT_READY\n4,3,3\n');
});

test('init from a URL that is served', async () => {
  const wasm = readFileSync(join(installed(), 'dist/evenkeel.wasm'));
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/wasm');
    response.end(wasm);
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const { default: init, allocate } = await import(join(installed(), 'dist/web.js'));
    await init(`http://127.0.0.1:${server.address().port}/sub/path/evenkeel.wasm`);
    assert.equal(typeof allocate, 'function');
  } finally {
    server.close();
  }
});

test('a Vite build carries the wasm file as an asset', async () => {
  const folder = project();
  write(folder, {
    'index.html': '<!doctype html><script type="module" src="/main.js"></script>',
    'main.js': `import init, { allocate } from 'evenkeel/web';
      import url from 'evenkeel/evenkeel.wasm?url';
      await init(url);
      document.title = String(allocate);`,
  });
  await build({ root: folder, logLevel: 'error', base: './', build: { target: 'es2022' } });
  const assets = readdirSync(join(folder, 'dist/assets'));
  assert.ok(assets.some((name) => name.endsWith('.wasm')), String(assets));
  const script = readFileSync(join(folder, 'dist/assets', assets.find((name) => name.endsWith('.js'))), 'utf8');
  assert.doesNotMatch(script, /node:fs|__vite-browser-external/);
});
