// Measures what product.md gives a budget, in a real browser, and writes web/figures.json and the table in web/README.md.
// Run it on its own: `npm run figures`. Times depend on the machine and on what else runs there; nothing is asserted here.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { DIST, launch, open, serve, settled, WEB } from './harness.mjs';

const LOADS = 11;
const RECOMPUTES = 7;
const LONG = 120_000;
const round = (value) => Math.round(value * 10) / 10;
/** What else the machine had to do. */
const load = round(loadavg()[0]);

const site = await serve();
const packed = await serve(DIST, { packed: true });
const browser = await launch();
const figures = [];
/** One value, or the median of several with the least and the most of them. */
const note = (what, values, unit, budget) => {
  const sorted = [values]
    .flat()
    .sort((a, b) => a - b)
    .map(round);
  const [value, least, most] = [sorted[sorted.length >> 1], sorted[0], sorted.at(-1)];
  figures.push({ what, value, ...(sorted.length > 1 && { least, most }), unit, budget });
  console.log(`${what}: ${value} ${unit} (${least}–${most}, budget ${budget})`);
};

try {
  const { page: sizePage, wasm } = sizes();
  note('page without wasm, brotli', sizePage / 1000, 'KB', 60);
  note('wasm, brotli', wasm / 1000, 'KB', 90);

  note('verdict after load', await times(LOADS, () => firstVerdict(site.url)), 'ms', 300);
  note(
    '… as on a phone: 9 Mbit/s, 170 ms to the server and back, the page’s thread 4 × slower, files packed',
    await times(LOADS, () => firstVerdict(packed.url, asPhone)),
    'ms',
    1_500,
  );
  for (const [queues, members, budget] of [
    [1_000, 100, 16],
    [10_000, 1_000, 150],
    [100_000, 1_000, 1_500],
  ]) {
    const { rows, paint, alone } = await recompute(queues, members);
    note(
      `recompute ${queues.toLocaleString('en')} × ${members.toLocaleString('en')}, every strategy, one known id joins`,
      alone,
      'ms',
      budget,
    );
    note(`… until every row has an answer, map and worker turns included`, rows, 'ms', '–');
    note(`… input to next paint`, paint, 'ms', 200);
  }
  const scroll = await scrolling();
  note('rows in the document while scrolling 10,000 moves', scroll.rows, 'rows', 200);
  note('frame while scrolling 10,000 moves, 95th percentile', scroll.frame, 'ms', 16.7);
} finally {
  await browser.close();
  await Promise.all([site.down(), packed.down()]);
}

const machine = `${cpus().length} shared cores, ${cpus()[0].model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, Chromium headless without GPU`;
const date = new Date().toISOString().slice(0, 10);
writeFileSync(
  join(WEB, 'figures.json'),
  JSON.stringify({ date, machine, load, loads: LOADS, recomputes: RECOMPUTES, figures }, null, 2) + '\n',
);
const readme = join(WEB, 'README.md');
const table = [
  `Measured ${date} on ${machine}, load average ${load} before; medians of ${LOADS} loads and ${RECOMPUTES} recomputes.`,
  '',
  '| measure | figure | from–to | budget |',
  '|---|---|---|---|',
  ...figures.map(
    ({ what, value, least, most, unit, budget }) =>
      `| ${what} | ${value.toLocaleString('en')} ${unit} | ${least === undefined ? '–' : `${least}–${most}`} | ${budget === '–' ? '–' : `${budget.toLocaleString('en')} ${unit}`} |`,
  ),
].join('\n');
const text = readFileSync(readme, 'utf8');
writeFileSync(
  readme,
  text.replace(/(<!-- figures -->)[^]*(<!-- end of figures -->)/, (_, a, b) => `${a}\n${table}\n${b}`),
);

function sizes() {
  let [page, wasm] = [0, 0];
  for (const entry of readdirSync(DIST, {
    recursive: true,
    withFileTypes: true,
  })) {
    if (!entry.isFile()) continue;
    const size = brotliCompressSync(readFileSync(join(entry.parentPath, entry.name))).length;
    if (entry.name.endsWith('.wasm')) wasm += size;
    else page += size;
  }
  return { page, wasm };
}

async function times(count, measure) {
  const all = [];
  for (let i = 0; i < count; i += 1) all.push(await measure());
  return all;
}

/** From the start of navigation to the first verdict in the document. */
async function firstVerdict(url, prepare = async () => undefined) {
  const { page, ctx, end } = await open(browser, 'about:blank', { ready: false, site: url });
  await prepare(page);
  await ctx.addInitScript(() => {
    new MutationObserver(() => {
      if (window.verdictAt === undefined && document.querySelector('.verdict p.verdict-main:not(.skeleton *)'))
        window.verdictAt = performance.now();
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto(url);
  await settled(page, LONG);
  const at = await page.evaluate(() => window.verdictAt);
  await end();
  return at;
}

async function asPhone(page) {
  const devtools = await page.context().newCDPSession(page);
  const throughput = 9_000_000 / 8;
  const line = { latency: 170, downloadThroughput: throughput, uploadThroughput: throughput };
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', { offline: false, ...line });
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
}

/** A group of a size in a link's place: given to the page as a file. */
function snapshot(queues, members) {
  const brokers = Math.max(1, Math.round(queues / 250));
  const each = Math.floor(queues / brokers);
  return JSON.stringify({
    schema: 'evenkeel.snapshot/1',
    group: 'measured',
    strategy: { name: 'AVG' },
    topics: [
      {
        topic: 't',
        brokers: Array.from({ length: brokers }, (_, n) => ({
          broker: `b${n}`,
          readQueues: each,
        })),
      },
    ],
    consumers: Array.from({ length: members }, (_, n) => ({
      id: `10.0.${n >> 8}.${n & 255}@7#${n}`,
    })),
  });
}

async function recompute(queues, members) {
  const { page, end } = await open(browser, site.url);
  await page.getByRole('button', { name: 'Open or paste…' }).click();
  await page.locator('input[type=file]').setInputFiles({
    name: 's.json',
    mimeType: 'application/json',
    buffer: Buffer.from(snapshot(queues, members)),
  });
  await page.locator('dialog .sources > li').waitFor();
  await page.keyboard.press('Escape');
  await settled(page, LONG);
  const [rows, paints, alone] = [[], [], []];
  for (let i = 0; i < RECOMPUTES; i += 1) {
    await page.locator('body').press('+');
    await settled(page, LONG);
    const exact = page.getByLabel('exact', { exact: true });
    if (!(await exact.isChecked())) await exact.check();
    await page.evaluate(() => {
      window.first = undefined;
      addEventListener(
        'input',
        (event) => {
          const began = event.timeStamp;
          requestAnimationFrame(() => setTimeout(() => (window.first = performance.now() - began), 0));
        },
        { once: true, capture: true },
      );
    });
    await page.getByLabel('Client IDs, one a line').fill(`10.0.0.${i}-new@1`);
    await settled(page, LONG);
    const data = await page.locator('.verdict').evaluate((element) => ({
      rows: Number(element.dataset.rows),
      planned: Number(element.dataset.planned),
    }));
    rows.push(data.rows);
    alone.push(data.planned);
    paints.push(await page.evaluate(() => window.first));
    await page.locator('body').press('-');
    await settled(page, LONG);
  }
  await end();
  return { rows, paint: paints, alone };
}

async function scrolling() {
  const { page, end } = await open(browser, site.url);
  await page.getByRole('button', { name: 'Open or paste…' }).click();
  await page.locator('input[type=file]').setInputFiles({
    name: 's.json',
    mimeType: 'application/json',
    buffer: Buffer.from(snapshot(10_000, 1_000)),
  });
  await page.locator('dialog .sources > li').waitFor();
  await page.keyboard.press('Escape');
  await settled(page, LONG);
  await page.getByLabel('Change strategy to').selectOption('AVG_BY_CIRCLE');
  await settled(page, LONG);
  await page.getByRole('button', { name: 'Sum by pair' }).click();
  const result = await page.locator('.moves .vbody').evaluate(async (list) => {
    list.scrollIntoView();
    const frames = [];
    // When frames begin, which is what is seen; when a script is told of them varies by more.
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    let [most, last] = [0, await frame()];
    for (let i = 0; i < 120; i += 1) {
      list.scrollTop += 340;
      const now = await frame();
      frames.push(now - last);
      last = now;
      most = Math.max(most, list.querySelectorAll('[role=row]').length);
    }
    frames.sort((a, b) => a - b);
    return { rows: most, frame: frames[Math.floor(frames.length * 0.95)] };
  });
  await end();
  return result;
}
