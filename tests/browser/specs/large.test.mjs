// 10,000 queues and 1,000 consumers: the page stays at hand while the worker works.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open, pasteText, serve, settled } from '../harness.mjs';

let browser, site;
before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await site?.down();
});

const LONG = 90_000;

test('10,000 × 1,000: painted map, few rows in the document, moves by pair first', async () => {
  const { page, end } = await open(browser, site.url);
  await page.getByLabel('Example').selectOption('large');
  await page.getByText('10,000 queues on', { exact: false }).waitFor();
  await settled(page, LONG);
  assert.equal(await page.locator('canvas.cells').count(), 1);
  assert.equal(await page.locator('.cells .cell').count(), 0);
  for (const list of await page.locator('.vbody').all()) assert.ok((await list.locator('[role=row]').count()) <= 200);
  assert.equal(await page.getByRole('button', { name: 'Sum by pair' }).getAttribute('aria-pressed'), 'true');
  const body = page.locator('.member-table .vbody');
  await body.evaluate((element) => (element.scrollTop = element.scrollHeight));
  await page.locator('.member-table').getByText('~new-', { exact: false }).first().waitFor();
  const painted = await page.locator('canvas.cells').evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, Math.min(40, canvas.height));
    return new Set(Array.from({ length: data.length / 4 }, (_, i) => data.slice(i * 4, i * 4 + 3).join())).size;
  });
  assert.ok(painted > 8, `${painted} colours`);
  await end();
});

test('while a long run works, the last result stays and is marked old; Cancel stops it, and it can be run again', async () => {
  const { page, end } = await open(browser, site.url);
  await page.getByLabel('Example').selectOption('large');
  await settled(page, LONG);
  const before = await page.locator('.verdict-main').innerText();
  await page.evaluate(() => {
    // Makes the worker too slow to end by itself while the test looks.
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (message, ...rest) {
      if (message?.kind === 'run' && !window.letThrough) return;
      return post.call(this, message, ...rest);
    };
  });
  await page.getByLabel('One consumer more').click();
  await page.locator('.verdict[data-state=old]').waitFor();
  assert.equal(await page.locator('.verdict-main').innerText(), before);
  await page.getByText('What is shown is old.').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Cancelled. What is shown is old.').waitFor();
  await page.evaluate(() => (window.letThrough = true));
  await page.getByRole('button', { name: 'Compute again' }).click();
  await settled(page, LONG);
  await end();
});

test('an edit during a run takes its place', async () => {
  const { page, end } = await open(browser, site.url);
  await page.getByLabel('Example').selectOption('large');
  for (let i = 0; i < 5; i += 1) await page.getByLabel('One consumer more').click();
  await settled(page, LONG);
  assert.match(await page.locator('.members h2').innerText(), /1,015 consumers/);
  await end();
});

test('typing stays quick during a run', async () => {
  const { page, end } = await open(browser, site.url);
  await page.getByLabel('Example').selectOption('large');
  const filter = page.locator('#moves-filter');
  await filter.waitFor();
  await filter.fill('broker');
  assert.equal(await filter.inputValue(), 'broker');
  await settled(page, LONG);
  await end();
});

test('more than 100,000 queues: the limit and the command line, and no attempt', async () => {
  const { page, end } = await open(browser, site.url);
  await pasteText(page, 'big: broker-a=100001\nc1\nc2');
  await page.keyboard.press('Escape');
  await page.locator('.verdict[data-state=too-large]').waitFor();
  const text = await page.locator('.verdict').innerText();
  assert.match(text, /100,000/);
  assert.match(text, /evenkeel plan --from snapshot\.json/);
  await end();
});
