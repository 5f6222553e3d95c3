// Every state a visitor can meet.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeDialog, launch, open, pasteText, serve, settled, verdict } from '../harness.mjs';

let browser, site;
before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await site?.down();
});

test('empty after clear: three ways in, each with a sample', async () => {
  const { page, end } = await open(browser, site.url);
  const clear = async () => {
    await page.getByLabel('Example').selectOption('clear');
    await page.getByRole('heading', { name: 'Three ways in' }).waitFor();
  };
  for (const [name, said] of [
    ['8 queues, 3 consumers', /8 queues on 1 broker/],
    ['Use this list', /16 queues on 2 brokers/],
    ['Load the example', /pay-worker/],
  ]) {
    await clear();
    await page.getByRole('button', { name }).click();
    await settled(page);
    assert.match(await page.locator('.group-line').innerText(), said);
  }
  await end();
});

test('while the wasm loads there is a skeleton of the right height', async () => {
  const { page, ctx, end } = await open(browser, 'about:blank', {
    ready: false,
    site: site.url,
  });
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await ctx.route('**/*.wasm', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(site.url);
  await page.getByText('Loading the planner…').waitFor();
  // Longer than a run takes until it says something of itself: there is nothing to cancel yet.
  await page.waitForTimeout(400);
  assert.equal(await page.locator('.run-note').count(), 0);
  const loading = (await page.locator('.verdict').boundingBox()).height;
  release();
  await settled(page);
  const loaded = (await page.locator('.verdict').boundingBox()).height;
  assert.ok(Math.abs(loading - loaded) < 60, `${loading} while loading, ${loaded} after`);
  await end();
});

test('wasm that cannot be loaded: the reason, the command line, and the paste as a table', async () => {
  const { page, ctx, end } = await open(browser, 'about:blank', {
    ready: false,
    allowErrors: true,
    site: site.url,
  });
  await ctx.route('**/*.wasm', (route) => route.abort());
  await page.goto(site.url);
  const alert = page.getByRole('alert').filter({ hasText: 'The planner cannot run here' });
  await alert.waitFor();
  assert.match(await alert.innerText(), /evenkeel plan --from snapshot\.json --add '10\.0\.3\.14@7#120'/);
  await page.getByRole('button', { name: 'Open or paste…' }).click();
  await page.getByLabel('Paste here').fill('#Topic  #Broker Name  #QID\norders  broker-a  0');
  await page.getByRole('button', { name: 'Read', exact: true }).click();
  const table = page.locator('dialog').getByRole('table', { name: 'What was pasted' });
  await table.waitFor();
  assert.deepEqual(await table.locator('tr').nth(1).locator('td').allInnerTexts(), ['orders', 'broker-a', '0']);
  await end();
});

test('a paste that cannot be read: line, text, what was expected, and the plan stays', async () => {
  const { page, end } = await open(browser, site.url);
  await pasteText(page, 'this is not\nanything : we know ((');
  const chip = page.locator('dialog .warn-chip').first();
  const text = await chip.innerText();
  assert.match(text, /Line 1:/);
  assert.match(text, /this is not/);
  assert.match(text, /expected/);
  await closeDialog(page);
  assert.match(await verdict(page), /9 of 16/);
  await end();
});

test('a paste that is partly read says how many lines were skipped, and keeps the rest', async () => {
  const { page, end } = await open(browser, site.url);
  await pasteText(page, 'orders: broker-a=8\n10.0.3.11@7#812\n??? no idea ((\n10.0.3.12@7#944');
  const chip = page.locator('dialog .warn-chip').first();
  assert.match(await chip.innerText(), /1 of 4 lines skipped/);
  await closeDialog(page);
  await settled(page);
  assert.match(await page.locator('.group-line').innerText(), /8 queues/);
  await end();
});

test('what is still missing is said', async () => {
  const { page, end } = await open(browser, site.url);
  await pasteText(page, 'orders: broker-a=8, broker-b=8');
  await page
    .locator('dialog')
    .getByText('16 queues, but no consumers: paste consumerConnection or type a number.')
    .waitFor();
  await pasteText0(page, '10.0.3.11@7#812\n10.0.3.12@7#944');
  await page.locator('dialog').getByText('Complete: 16 queues, 2 consumers.').waitFor();
  await end();
});

async function pasteText0(page, text) {
  await page.getByLabel('Paste here').fill(text);
  await page.getByRole('button', { name: 'Read', exact: true }).click();
}

test('files are read when chosen, and when dropped anywhere', async () => {
  const { page, end } = await open(browser, site.url);
  await page.getByRole('button', { name: 'Open or paste…' }).click();
  await page.locator('input[type=file]').setInputFiles({
    name: 'list.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('t: b=4\nc1\nc2'),
  });
  await page.locator('dialog .sources > li').waitFor();
  await closeDialog(page);
  await settled(page);
  assert.match(await page.locator('.group-line').innerText(), /4 queues/);
  const data = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(['u: x=6'], 'more.txt', { type: 'text/plain' }));
    return transfer;
  });
  await page.dispatchEvent('main', 'drop', { dataTransfer: data });
  await page.locator('dialog .sources > li').nth(1).waitFor();
  await closeDialog(page);
  assert.match(await page.locator('.group-line').innerText(), /10 queues/);
  await end();
});

test('c13 more consumers than queues: the idle ones are named', async () => {
  const { page, end } = await open(browser, site.url);
  await pasteText(page, 't: b=4\nc1\nc2\nc3\nc4\nc5\nc6');
  await closeDialog(page);
  assert.match(await verdict(page), /2 consumers are idle: c5, c6\./);
  assert.match(await page.locator('.health').innerText(), /R108/);
  await end();
});

test('c15 a repeated client ID: the finding opens by itself, with numbers and a fix', async () => {
  const { page, end } = await open(browser, site.url);
  await page.getByLabel('Example').selectOption('twins');
  await settled(page);
  const health = page.locator('.health');
  const text = await health.innerText();
  assert.match(text, /R101/);
  assert.match(text, /172\.17\.0\.1@1/);
  assert.match(text, /What to do:/);
  await page.getByRole('button', { name: 'before', exact: true }).click();
  assert.equal(await page.locator('.cells rect.nobody').count(), 5);
  assert.equal(await page.locator('.cells .cell-text', { hasText: '×2' }).count(), 6);
  await end();
});

test('Java and Go hash rings in one group are a finding', async () => {
  const { page, end } = await open(browser, site.url);
  await page.getByLabel('Example').selectOption('mixed');
  await settled(page);
  assert.match(await page.locator('.health').innerText(), /R105/);
  await end();
});

test('no readable queues: said, with what to do, and no crash', async () => {
  const { page, end } = await open(browser, site.url);
  await page.getByRole('button', { name: 'Edit group…' }).click();
  for (const box of await page.getByRole('checkbox', { name: /can be read/ }).all()) await box.uncheck();
  await closeDialog(page);
  await page.getByText(/but no readable queues/).waitFor();
  await end();
});

test('many topics that leave members idle: the matrix points at them', async () => {
  const { page, end } = await open(browser, site.url);
  await page.getByLabel('Example').selectOption('topics');
  await settled(page);
  await page.getByRole('heading', { name: 'Topics', exact: true }).waitFor();
  await page.getByLabel('One consumer more').click();
  await page.getByLabel('One consumer more').click();
  await settled(page);
  const matrix = page.locator('.matrix');
  assert.equal(await matrix.locator('tr.idle').count(), 2);
  await end();
});

test('without JavaScript there is text with the command line', async () => {
  const ctx = await browser.newContext({ javaScriptEnabled: false });
  const page = await ctx.newPage();
  await page.goto(site.url);
  assert.match(await page.locator('noscript, body').first().innerText(), /evenkeel plan GROUP/);
  await ctx.close();
});

test('exports: command line, snippet, Markdown, CSV, JSON report, SVG and PNG', async () => {
  const { page, end } = await open(browser, site.url);
  await page.getByRole('button', { name: 'Export…' }).click();
  const dialog = page.locator('dialog');
  const text = await dialog.innerText();
  assert.match(text, /evenkeel plan --from snapshot\.json --add '10\.0\.3\.14@7#120'/);
  assert.match(text, /import \{ plan \} from 'evenkeel'/);
  assert.match(text, /\| AVG \| 9 \| 5–9 \| 0 \| 0 \| 4 \|/);
  const saved = async (name) => {
    const [file] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name }).click()]);
    return Buffer.concat(await (await file.createReadStream()).toArray());
  };
  const report = JSON.parse(await saved(/Report as JSON/));
  assert.equal(report.schema, 'evenkeel.plan/1');
  assert.equal(report.results.find(({ strategy }) => strategy === 'AVG').moves.length, 9);
  assert.equal((await saved('Moves as CSV')).toString().trim().split('\r\n').length, 10);
  await closeDialog(page);
  const figure = page.locator('.map-figure');
  for (const [kind, start] of [
    ['SVG', '<svg'],
    ['PNG', '\u0089PNG'],
  ]) {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      figure.getByRole('button', { name: `Save as ${kind}` }).click(),
    ]);
    const bytes = Buffer.concat(await (await file.createReadStream()).toArray());
    assert.equal(bytes.subarray(0, 4).toString('latin1'), start);
  }
  await end();
});
