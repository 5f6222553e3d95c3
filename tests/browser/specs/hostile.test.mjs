// Names come from anywhere. They are text, whatever is in them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertNoSidewaysScroll, closeDialog, launch, open, pasteText, serve, settled } from '../harness.mjs';

let browser, site;
before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await site?.down();
});

const NAMES = [
  '<img src=x onerror=window.hit=1>',
  '"><script>window.hit=1</script>',
  'javascript:window.hit=1',
  '\u202egnp.exe\u202c',
  'م رحبا',
  '\u0000\u0007\u001b[31m',
  '👩‍👩‍👧‍👦'.repeat(20),
  'x'.repeat(1000),
  '__proto__',
  'constructor',
  '=cmd|calc',
  '{n|a|b} {total} $& $1',
];

function snapshot() {
  return JSON.stringify({
    schema: 'evenkeel.snapshot/1',
    group: NAMES[0],
    topics: NAMES.slice(0, 8).map((topic, i) => ({
      topic,
      brokers: [{ broker: NAMES[(i + 3) % NAMES.length], readQueues: 3 }],
    })),
    consumers: NAMES.map((id) => ({ id })),
  });
}

for (const viewport of [
  { width: 1280, height: 900 },
  { width: 360, height: 740 },
]) {
  test(`hostile names are text, ${viewport.width} wide`, async () => {
    const { page, end } = await open(browser, site.url, { viewport });
    page.on('dialog', () => assert.fail('a dialog of the browser'));
    await pasteText(page, snapshot());
    await closeDialog(page);
    await settled(page);
    await page.getByLabel('One consumer more').click();
    await settled(page);
    for (const button of await page.getByRole('button', { name: 'Show as table' }).all()) await button.click();
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.equal(await page.locator('main img, main script, main a[href^=javascript]').count(), 0);
    assert.match(await page.locator('.group-line').innerText(), /<img src=x onerror=window\.hit=1>/);
    assert.match(await page.locator('main').innerText(), /⟨202E⟩gnp\.exe/);
    await assertNoSidewaysScroll(page);
    for (const name of ['Edit group…', 'Export…']) {
      await page.getByRole('button', { name }).click();
      await page.locator('dialog[open]').waitFor();
      assert.ok(
        await page.locator('dialog').evaluate((element) => element.scrollWidth <= element.clientWidth + 1),
        name,
      );
      await closeDialog(page);
    }
    assert.equal(await page.evaluate(() => window.hit), undefined);
    await end();
  });
}

test('a picture saved with hostile names is one valid drawing without scripts', async () => {
  const { page, end } = await open(browser, site.url);
  await pasteText(page, snapshot());
  await closeDialog(page);
  await settled(page);
  const figure = page
    .locator('.figure')
    .filter({ hasText: 'Churn by strategy' })
    .or(page.locator('.map-figure'))
    .first();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    figure.getByRole('button', { name: /Save as SVG/ }).click(),
  ]);
  const text = await (await file.createReadStream()).toArray().then((parts) => Buffer.concat(parts).toString());
  const [root, scripts, handlers] = await page.evaluate((source) => {
    const parsed = new DOMParser().parseFromString(source, 'image/svg+xml');
    return [
      parsed.documentElement.nodeName,
      parsed.querySelectorAll('script').length,
      [...parsed.querySelectorAll('*')].flatMap((e) => e.getAttributeNames()).filter((n) => n.startsWith('on')).length,
    ];
  }, text);
  assert.deepEqual([root, scripts, handlers], ['svg', 0, 0]);
  await end();
});

test('a hostile link is a bad link, not a crash', async () => {
  for (const hash of [
    '#evenkeel=1.',
    '#evenkeel=9.abc',
    `#evenkeel=1.${'A'.repeat(5000)}`,
    '#%00%ff',
    '#evenkeel=1.<script>',
  ]) {
    const { page, end } = await open(browser, site.url + hash, {
      ready: false,
    });
    await settled(page);
    assert.match(await page.locator('.verdict').innerText(), /9 of 16/);
    await end();
  }
});
