import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'size-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const gate = () => spawnSync('node', [join(import.meta.dirname, '../scripts/size.mjs'), folder]).status;

test('control: a page over the budget is refused', () => {
  writeFileSync(join(folder, 'index.js'), randomBytes(60_100));
  expect(gate()).toBe(1);
});

test('control: a folder without a page is refused', () => {
  expect(gate()).toBe(1);
});

test('wasm does not count, and a page under the budget passes', () => {
  writeFileSync(join(folder, 'engine.wasm'), randomBytes(200_000));
  writeFileSync(join(folder, 'index.js'), randomBytes(40_000));
  expect(gate()).toBe(0);
});
