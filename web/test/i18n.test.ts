import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { explain } from 'evenkeel';
import { expect, test } from 'vitest';
import { en } from '../src/i18n/en';
import { fill } from '../src/i18n/fill';
import { zh } from '../src/i18n/zh';

const texts = { en, zh } as Record<string, Record<string, string>>;

test('both languages have the same keys, and none is empty', () => {
  expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
  for (const language of Object.values(texts))
    for (const [key, text] of Object.entries(language)) expect(text, key).not.toBe('');
});

test('both languages use the same values in each text', () => {
  const values = (text: string) => [...new Set([...text.matchAll(/\{(\w+)/g)].map(([, name]) => name))].sort();
  for (const [key, text] of Object.entries(en)) {
    const [ours, theirs] = [values(text), values((zh as Record<string, string>)[key] ?? '')];
    expect(theirs, key).toEqual(ours);
  }
});

test('every code of a finding has a title', () => {
  const titled = (codes: readonly string[]) => codes.filter((code) => !(`finding.${code}` in en));
  const codes = Array.from({ length: 1000 }, (_, n) => `R${n}`).filter((code) => explain(code) !== null);
  expect(codes).toContain('R101');
  expect(titled(codes)).toEqual([]);
  // Control: a code without one is noticed.
  expect(titled(['R000'])).toEqual(['R000']);
});

test('every key is used, and every used key exists', () => {
  const source = files(join(import.meta.dirname, '../src'))
    .filter((name) => !/i18n.(en|zh)/.test(name))
    .map((name) => readFileSync(name, 'utf8'))
    .join('\n');
  const used = [...source.matchAll(/\bt\(\s*'([^']+)'/g)].map(([, key]) => key as string);
  expect(used.filter((key) => !(key in en))).toEqual([]);
  const prefixes = [...source.matchAll(/`([\w.]+\.)\$\{/g)].map(([, prefix]) => prefix as string);
  const quotedKeys = new Set([...source.matchAll(/'([\w.]+)'/g)].map(([, key]) => key as string));
  const unused = Object.keys(en).filter(
    (key) => !quotedKeys.has(key) && !prefixes.some((prefix) => key.startsWith(prefix)),
  );
  expect(unused).toEqual([]);
});

test('values and words are filled in', () => {
  expect(fill('{n} {n|move|moves} of {who}', { n: 1, who: 'x' })).toBe('1 move of x');
  expect(fill('{n} {n|move|moves}', { n: 2 })).toBe('2 moves');
  expect(fill('{n}', { n: 1000 }, (n) => n.toLocaleString('en'))).toBe('1,000');
});

test('a value is never read as a pattern', () => {
  expect(fill('{a}', { a: '{b}', b: 'no' })).toBe('{b}');
  expect(fill('{a}', { a: '$& $1' })).toBe('$& $1');
});

function files(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = join(folder, entry.name);
    return entry.isDirectory() ? files(name) : /\.tsx?$/.test(name) ? [name] : [];
  });
}
