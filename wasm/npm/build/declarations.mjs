// Declarations of the entries, for ESM (.d.ts) and for CommonJS (.d.cts).

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Writes the declarations of these entries, and of the modules that they name, into `dist`. */
export function writeDeclarations(source, dist, entries) {
  const made = mkdtempSync(join(tmpdir(), 'evenkeel-types-'));
  try {
    const tsc = join(source, 'node_modules/typescript/bin/tsc');
    execFileSync(process.execPath, [tsc, '--project', source, '--outDir', made], { stdio: 'inherit' });
    for (const name of reachable(made, entries)) {
      const text = readFileSync(join(made, `${name}.d.ts`), 'utf8');
      writeFileSync(join(dist, `${name}.d.ts`), text);
      writeFileSync(join(dist, `${name}.d.cts`), text.replaceAll(/(from ["']\.\/[\w-]+)\.js(["'])/g, '$1.cjs$2'));
    }
  } finally {
    rmSync(made, { recursive: true });
  }
}

function reachable(folder, entries) {
  const names = new Set(entries);
  for (const name of names) {
    const text = readFileSync(join(folder, `${name}.d.ts`), 'utf8');
    for (const [, other] of text.matchAll(/from ["']\.\/([\w-]+)\.js["']/g)) names.add(other);
  }
  return names;
}
