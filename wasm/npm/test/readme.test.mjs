// The examples of the README run, and print what their comments say.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { installed, node, project } from './fresh.mjs';

const text = readFileSync(join(installed(), 'README.md'), 'utf8');
const blocks = [...text.matchAll(/(<!-- not run -->\n)?```js\n([\s\S]*?)```/g)].filter(([, skipped]) => !skipped);

test('examples of the README', () => {
  assert.ok(blocks.length >= 4);
  blocks.forEach(([, , code], at) => {
    const printed = node(project({ 'example.mjs': code }), 'example.mjs');
    const expected = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, comment]) => comment);
    for (const line of expected) {
      assert.ok(printed.split('\n').includes(line), `example ${at + 1} does not print ${line}:\n${printed}`);
    }
    assert.notEqual(printed, '');
  });
});
