// What every spec needs: the built page on a server of its own, a browser of its own, and a page whose errors, policy
// violations and foreign requests fail the test.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { chromium } from 'playwright-core';

const here = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(here, '../..');
/** The built command, with the page inside. */
export const BINARY = join(resolve(ROOT, process.env.CARGO_TARGET_DIR ?? 'target'), 'debug/evenkeel');
export const WEB = join(here, '../../web');
export const DIST = join(WEB, 'dist/page');
export const SINGLE = join(WEB, 'dist/single/evenkeel-planner.html');
export const FIXTURES = join(here, '../../core/tests/paste/fixtures');

/** Deep enough that a path from the root of the host would be noticed. */
const PREFIX = '/tools/kept here/';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.wasm': 'application/wasm',
};

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A file server under a path. `down` makes it refuse connections, as a server that has gone. `packed` sends brotli. */
export async function serve(root = DIST, { packed = false } = {}) {
  assert.ok(existsSync(join(root, 'index.html')), `${root} has no page: run "npm run build" in web first`);
  const asked = [];
  const kept = new Map();
  const brotli = (name, content) => {
    if (!kept.has(name)) kept.set(name, brotliCompressSync(content));
    return kept.get(name);
  };
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    asked.push(path);
    const name = path.startsWith(PREFIX) ? normalize(path.slice(PREFIX.length) || 'index.html') : '';
    if (!name || name.startsWith('..') || name.startsWith(sep)) return response.writeHead(404).end();
    try {
      const content = await readFile(join(root, name));
      response.writeHead(200, {
        'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
        'cache-control': 'no-store',
        ...(packed && { 'content-encoding': 'br' }),
      });
      response.end(packed ? brotli(name, content) : content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const down = () =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(resolve);
    });
  return {
    url: `http://127.0.0.1:${server.address().port}${encodeURI(PREFIX)}`,
    asked,
    down,
  };
}

export async function launch() {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  assert.ok(existsSync(executablePath), `${executablePath} is missing: apt-get install -y chromium, or set CHROMIUM`);
  return chromium.launch({ executablePath, args: FLAGS, timeout: 60_000 });
}

/**
 * A page in a context of its own. `end` closes it, and fails if it logged an error, broke its policy, or asked another
 * host for anything. `site` is where the page will be, if it is not opened at once.
 */
export async function open(browser, url, options = {}) {
  const { allowErrors = false, ready = true, site = url, ...context } = options;
  const ctx = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    locale: 'en-US',
    reducedMotion: 'reduce',
    ...context,
  });
  ctx.setDefaultTimeout(20_000);
  const page = await ctx.newPage();
  const faults = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`thrown: ${error.message}`));
  ctx.on('request', (request) => {
    const to = request.url();
    const own = to.startsWith(new URL(site).origin) || /^(data|blob|file):/.test(to);
    if (!own) faults.push(`asked another host: ${to}`);
  });
  await page.goto(url);
  if (ready) await settled(page);
  const end = async () => {
    await ctx.close();
    if (!allowErrors) assert.deepEqual(faults, []);
  };
  return { page, ctx, faults, end };
}

/** Waits until what is shown is of what is asked. */
export async function settled(page, timeout = 20_000) {
  await page.locator('.verdict[data-state="idle"]').waitFor({ timeout });
}

/** What the eye reads; what is spoken says it again after a pause. */
export async function verdict(page) {
  await settled(page);
  const texts = await page.locator('.verdict > :not([role="status"])').allInnerTexts();
  return texts.join(' ').replace(/\s+/g, ' ');
}

/** Replaces what is there by pasted text, through the dialog as a user does. */
export async function pasteText(page, text, { fresh = true } = {}) {
  await page.getByRole('button', { name: 'Open or paste…' }).click();
  const box = page.getByLabel('Start from nothing');
  if (fresh) await box.check();
  else await box.uncheck();
  await page.getByLabel('Paste here').fill(text);
  await page.getByRole('button', { name: 'Read', exact: true }).click();
  await pasteRead(page);
}

/** Waits until what was pasted has been read. What earlier pastes gave is seen meanwhile. */
export async function pasteRead(page) {
  await page.waitForFunction(() => document.querySelector('dialog textarea')?.value === '');
}

export async function closeDialog(page) {
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
}

/** No part of the page makes it wider than the window. */
export async function assertNoSidewaysScroll(page) {
  const [wide, window] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  assert.ok(wide <= window, `the page is ${wide} wide in a window of ${window}`);
}
