// Every paste format, as real servers and tools wrote it.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { closeDialog, FIXTURES, launch, open, pasteText, serve, settled } from '../harness.mjs';

let browser, site;
before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await site?.down();
});

const VERSIONS = ['4.9.7', '5.5.0'];

/** File, the kind it is recognised as, and what it has to give at least. */
const FORMATS = [
  ['topicRoute.txt', 'topicRoute', { queues: 12 }],
  ['topicRoute-list.txt', 'topicRoute', { queues: 12 }],
  ['topicStatus.txt', 'topicStatus', { queues: 12 }],
  ['consumerProgress.txt', 'consumerProgress', { queues: 12 }],
  ['consumerProgress-clients.txt', 'consumerProgress', { queues: 12 }],
  ['consumerConnection.txt', 'consumerConnection', { consumers: 3 }],
  ['allocateMQ.txt', 'allocateMQ', { queues: 12, consumers: 3 }],
  ['client-log.txt', 'clientLog', { consumers: 1 }],
];

const fixture = (version, name) => {
  const file = join(FIXTURES, version, name);
  assert.ok(existsSync(file), `${file} is missing`);
  return readFileSync(file, 'utf8');
};

const isBare = (text) => text.split('\n').filter((line) => line.trim() && !line.startsWith('$')).length === 0;

const chips = (page) => page.locator('dialog .sources > li');

for (const version of VERSIONS) {
  test(`mqadmin of ${version}: each output is recognised and gives what it has`, async () => {
    const { page, end } = await open(browser, site.url);
    for (const [name, kind, least] of FORMATS) {
      // Clients of this version had no such line to log while the fixture was taken.
      if (isBare(fixture(version, name))) continue;
      await pasteText(page, fixture(version, name));
      assert.equal(await chips(page).count(), 1, name);
      const text = await chips(page).first().innerText();
      assert.match(text, new RegExp(`\\b${kind}\\b`), `${name}: ${text}`);
      const [, queues, consumers] = /(\d+) queues?, (\d+) consumers?/.exec(text) ?? assert.fail(`${name}: ${text}`);
      assert.ok(Number(queues) >= (least.queues ?? 0), `${name}: ${text}`);
      assert.ok(Number(consumers) >= (least.consumers ?? 0), `${name}: ${text}`);
      await closeDialog(page);
    }
    await end();
  });

  test(`mqadmin of ${version}: route and connections add up to a plan`, async () => {
    const { page, end } = await open(browser, site.url);
    await pasteText(page, fixture(version, 'topicRoute.txt'));
    await page
      .locator('dialog')
      .getByText(/but no consumers: paste consumerConnection/)
      .waitFor();
    await closeDialog(page);
    await pasteText(page, fixture(version, 'consumerConnection.txt'), {
      fresh: false,
    });
    assert.equal(await chips(page).count(), 2);
    await page
      .locator('dialog')
      .getByText(/^Complete: 12 queues, 3 consumers\.$/)
      .waitFor();
    await closeDialog(page);
    await settled(page);
    assert.match(await page.locator('.group-line').innerText(), /pay-worker/);
    await page.getByLabel('One consumer more').click();
    await settled(page);
    assert.match(await page.locator('.verdict-main').innerText(), /of 12 queues/);
    await end();
  });
}

const OTHERS = {
  'a plain list': ['list', 'orders: broker-a=8, broker-b=8\n10.0.3.11@7#812\n10.0.3.12@7#944', 16, 2],
  'our snapshot': [
    'snapshot',
    JSON.stringify({
      schema: 'evenkeel.snapshot/1',
      group: 'g',
      topics: [{ topic: 't', brokers: [{ broker: 'b', readQueues: 5 }] }],
      consumers: [{ id: 'x' }],
    }),
    5,
    1,
  ],
  'the dashboard’s route': [
    'dashboard',
    '{"status":0,"data":{"queueDatas":[{"brokerName":"broker-a","readQueueNums":6,"writeQueueNums":6,"perm":6}],"brokerDatas":[]},"errMsg":null}',
    6,
    0,
  ],
};

for (const [what, [kind, text, queues, consumers]] of Object.entries(OTHERS)) {
  test(`${what} is recognised`, async () => {
    const { page, end } = await open(browser, site.url);
    await pasteText(page, text);
    const said = await chips(page).first().innerText();
    assert.match(said, new RegExp(`\\b${kind}\\b`));
    assert.match(said, new RegExp(`${queues} queues?, ${consumers} consumers?`));
    await end();
  });
}

test('pasting with the keyboard reads at once', async () => {
  const { page, ctx, end } = await open(browser, site.url);
  await ctx.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate(() => navigator.clipboard.writeText('t: b=3\nc1@1\nc2@1'));
  await page.getByRole('button', { name: 'Open or paste…' }).click();
  await page.getByLabel('Paste here').focus();
  await page.keyboard.press('ControlOrMeta+V');
  await chips(page).first().waitFor();
  assert.equal(await page.getByLabel('Paste here').inputValue(), '');
  await end();
});
