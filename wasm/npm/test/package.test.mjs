// What is in the tarball, and what the tools that look at packages say. Each gate has a control that must fail.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { publint } from 'publint';
import { overBudget } from '../build/sizes.mjs';
import { installed, tarball } from './fresh.mjs';

const folder = installed();
const wasm = (name) => readFileSync(join(folder, `dist/${name}.wasm`));

/** Imports that nobody but wasm-bindgen's own code could answer. */
function foreignImports(bytes, glue) {
  return WebAssembly.Module.imports(new WebAssembly.Module(bytes))
    .map(({ module, name }) => `${module}.${name}`)
    .filter((name) => name !== glue && !name.startsWith(`${glue}.`));
}

for (const name of ['evenkeel', 'protocol']) {
  test(`c20 ${name}.wasm imports nothing of an environment`, () => {
    assert.deepEqual(foreignImports(wasm(name), `./${name}_bg.js`), []);
  });
}

test('c20 control: an import of `env` is seen', () => {
  // (module (import "env" "now" (func)))
  const planted = Buffer.from('0061736d01000000010401600000020b0103656e76036e6f770000', 'hex');
  assert.deepEqual(foreignImports(planted, './evenkeel_bg.js'), ['env.now']);
});

/** Absolute paths of sources, but for those of the standard library, which are the same everywhere. */
function ownPaths(bytes) {
  return bytes.toString('latin1').match(/(?<![\w.-])\/(?!rustc\/|rust\/deps\/)[\w.\-/]+\.rs/g) ?? [];
}

for (const name of ['evenkeel', 'protocol']) {
  test(`${name}.wasm does not say where it was built`, () => {
    assert.deepEqual(ownPaths(wasm(name)), []);
  });
}

test('control: a path of the machine is seen', () => {
  const planted = Buffer.from('\0/rustc/1/library/core/src/a.rs\0/home/me/.cargo/registry/src/x-1.0/src/lib.rs\0');
  assert.deepEqual(ownPaths(planted), ['/home/me/.cargo/registry/src/x-1.0/src/lib.rs']);
});

test('the budgets of sizes are kept', () => {
  assert.deepEqual(overBudget(wasm('evenkeel'), readFileSync(tarball)), []);
});

test('control: what is too large is seen', () => {
  assert.equal(overBudget(randomBytes(1024 * 1024), randomBytes(1024 * 1024)).length, 2);
});

test('the package has the files that it should have, and nothing that runs at installation', () => {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  assert.equal(manifest.type, 'module');
  assert.equal(manifest.sideEffects, false);
  assert.equal(manifest.engines.node, '>=20');
  for (const field of ['scripts', 'dependencies', 'devDependencies', 'optionalDependencies']) {
    assert.equal(manifest[field], undefined, field);
  }
  for (const conditions of Object.values(manifest.exports).filter((entry) => typeof entry === 'object')) {
    for (const condition of Object.values(conditions)) assert.equal(Object.keys(condition)[0], 'types');
  }
  const top = readdirSync(folder).sort();
  assert.deepEqual(top, ['LICENSE', 'README.md', 'dist', 'package.json']);
  const files = readdirSync(join(folder, 'dist'), { recursive: true }).map(String);
  assert.equal(files.filter((file) => file.endsWith('.wasm')).length, 2);
  assert.ok(files.every((file) => /\.(js|cjs|wasm|d\.ts|d\.cts)$/.test(file) || statSync(join(folder, 'dist', file)).isDirectory()));
});

test('the entries for pages have nothing of Node in them', () => {
  for (const entry of ['web.js', 'protocol-web.js']) {
    const seen = new Set([entry]);
    for (const file of seen) {
      const text = readFileSync(join(folder, 'dist', file), 'utf8');
      assert.doesNotMatch(text, /from ["']node:|require\(/, file);
      for (const [, other] of text.matchAll(/from ["']\.\/([^"']+)["']/g)) seen.add(other);
    }
  }
});

test('publint has nothing to say', async () => {
  const { messages } = await publint({ pkgDir: folder, strict: true });
  assert.deepEqual(messages, []);
});

test('are-the-types-wrong has nothing to say', () => {
  const attw = createRequire(import.meta.url).resolve('@arethetypeswrong/cli/package.json').replace(/package\.json$/, 'dist/index.js');
  try {
    execFileSync(process.execPath, [attw, tarball, '--no-emoji', '--profile', 'node16', '--exclude-entrypoints', 'evenkeel.wasm', 'protocol.wasm'], {
      encoding: 'utf8',
    });
  } catch (error) {
    throw new Error(error.stdout + error.stderr);
  }
});
