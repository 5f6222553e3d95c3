// After the first visit without a server, and as one file without any.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { launch, open, serve, settled, SINGLE, verdict } from '../harness.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(async () => browser?.close());

test('when the server is gone, the page still opens and computes', async () => {
  const site = await serve();
  const { page, end } = await open(browser, site.url, { allowErrors: true });
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await page.waitForFunction(
    async () => (await caches.keys()).length > 0 && navigator.serviceWorker.controller !== null,
  );
  await site.down();
  await page.reload();
  assert.match(await verdict(page), /9 of 16/);
  await page.getByLabel('One consumer more').click();
  await settled(page);
  await end();
});

test('one file, opened without a server: the same answers, and its policy allows no connection at all', async () => {
  const { page, end } = await open(browser, pathToFileURL(SINGLE).href);
  assert.match(await verdict(page), /9 of 16 queues change owner/);
  const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content');
  assert.match(policy, /connect-src 'none'/);
  assert.match(policy, /script-src 'sha256-/);
  assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'/);
  await page.getByLabel('One consumer more').click();
  await settled(page);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.waitForFunction(() => document.querySelector('.stepper input').value === '4');
  await end();
});
