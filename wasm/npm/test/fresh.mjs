// Fresh projects outside of the repository, with the packed tarball installed.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The tarball that all tests are about. */
export const tarball = process.env.EVENKEEL_TARBALL;
if (!tarball) throw new Error('EVENKEEL_TARBALL is not set: run `cargo xtask test-npm`');

let template;

/**
 * A folder with the package installed. It is gone when the process ends. npm installs into the first one and into those
 * with a name of their own; the others get a copy of what it made, which takes a tenth of the time.
 */
export function project(files = {}, { name } = {}) {
  const outer = realpathSync(mkdtempSync(join(tmpdir(), 'evenkeel-')));
  process.on('exit', () => rmSync(outer, { recursive: true, force: true }));
  const folder = join(outer, name ?? 'project');
  mkdirSync(folder);
  write(folder, { 'package.json': '{"private":true}', ...files });
  if (name === undefined && template !== undefined) {
    cpSync(join(template, 'node_modules'), join(folder, 'node_modules'), { recursive: true, verbatimSymlinks: true });
    return folder;
  }
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  execFileSync(npm, ['install', '--silent', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', tarball], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (name === undefined) template = folder;
  return folder;
}

export function write(folder, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Runs Node in a folder, and returns what it prints. */
export function node(folder, ...args) {
  return execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** A group with one topic on one broker. */
export function group(queues, ids) {
  return {
    schema: 'evenkeel.snapshot/1',
    group: 'g',
    topics: [{ topic: 'T', brokers: [{ broker: 'b', readQueues: queues }] }],
    consumers: ids.map((id) => ({ id })),
  };
}

let shared;
/** The package as tests in this process use it, from a project that they share. */
export async function evenkeel(entry = '.') {
  shared ??= project();
  const { createRequire } = await import('node:module');
  const { exports } = createRequire(join(shared, 'x.js'))('evenkeel/package.json');
  const { pathToFileURL } = await import('node:url');
  return import(pathToFileURL(join(shared, 'node_modules/evenkeel', exports[entry].import.default)).href);
}

/** Where the files of the installed package lie. */
export function installed() {
  shared ??= project();
  return join(shared, 'node_modules/evenkeel');
}
