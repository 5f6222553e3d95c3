// The link carries the plan, and undo, redo and Back are one thing.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeDialog, launch, open, serve, settled, verdict } from '../harness.mjs';

let browser, site;
before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await site?.down();
});

async function link(page) {
  await page.getByRole('button', { name: 'Share…' }).click();
  const box = page.getByLabel('Link', { exact: true });
  await page.waitForFunction((element) => element.value.includes('#'), await box.elementHandle());
  const url = await box.inputValue();
  await closeDialog(page);
  return url;
}

const openSettings = (page) => page.getByRole('button', { name: 'Settings…', exact: true }).click();

const more = (page) => page.getByLabel('One consumer more').click();

test('a link opened elsewhere shows the same plan', async () => {
  const one = await open(browser, site.url);
  await more(one.page);
  const said = await verdict(one.page);
  const url = await link(one.page);
  assert.ok(url.startsWith(`${site.url}#`), url);
  const two = await open(browser, url);
  assert.equal((await verdict(two.page)).replace(/computed in .* ms/, ''), said.replace(/computed in .* ms/, ''));
  assert.equal(await two.page.getByLabel('Consumers 3 →').inputValue(), '5');
  await one.end();
  await two.end();
});

test('a link keeps the settings of strategies that are not running', async () => {
  const one = await open(browser, site.url);
  await openSettings(one.page);
  await one.page.getByLabel('Virtual nodes').fill('40');
  await one.page.getByLabel('Lists', { exact: true }).fill('c1 orders broker-a 0-7\nc1 orders broker-b 0-7');
  await closeDialog(one.page);
  const two = await open(browser, await link(one.page));
  await openSettings(two.page);
  assert.equal(await two.page.getByLabel('Virtual nodes').inputValue(), '40');
  assert.match(
    await two.page.getByLabel('Lists', { exact: true }).inputValue(),
    /^c1 orders broker-b 0,1,2,3,4,5,6,7$/m,
  );
  await one.end();
  await two.end();
});

test('a link with names replaced says which settings it leaves out', async () => {
  const { page, end } = await open(browser, site.url);
  const warning = page.getByText(/Left out of this link/);
  await page.getByRole('button', { name: 'Share…' }).click();
  await page.getByLabel('Replace names by hashes').check();
  assert.equal(await warning.count(), 0);
  await closeDialog(page);
  await openSettings(page);
  await page.getByLabel('Lists', { exact: true }).fill('c1 orders broker-a 0-7');
  await closeDialog(page);
  await page.getByRole('button', { name: 'Share…' }).click();
  await page.getByLabel('Replace names by hashes').check();
  await warning.waitFor();
  await end();
});

test('the server never hears of the plan', async () => {
  const own = await serve();
  const one = await open(browser, own.url);
  const url = await link(one.page);
  const two = await open(browser, url);
  assert.ok(
    own.asked.every((path) => !/pay-worker|10\.0\.3/.test(path) && !path.includes(new URL(url).hash.slice(1, 30))),
  );
  await one.end();
  await two.end();
  await own.down();
});

test('with names replaced, the link has the same plan and none of the names', async () => {
  const one = await open(browser, site.url);
  const before = await verdict(one.page);
  await one.page.getByRole('button', { name: 'Share…' }).click();
  const box = one.page.getByLabel('Link', { exact: true });
  await one.page.waitForFunction((element) => element.value.includes('#'), await box.elementHandle());
  const plain = await box.inputValue();
  await one.page.getByLabel('Replace names by hashes').check();
  await one.page.waitForFunction(([element, old]) => element.value !== old, [await box.elementHandle(), plain]);
  const two = await open(browser, await box.inputValue());
  const page = await two.page.locator('main').innerText();
  assert.doesNotMatch(page, /pay-worker|orders|broker-a|7#812/);
  assert.equal(/\d+ of \d+/.exec(await verdict(two.page))[0], /\d+ of \d+/.exec(before)[0]);
  await one.end();
  await two.end();
});

test('the address bar has the link after an edit, and a reload keeps the plan', async () => {
  const { page, end } = await open(browser, site.url);
  await more(page);
  await page.waitForFunction(() => location.hash.length > 10);
  await page.reload();
  await settled(page);
  assert.equal(await page.getByLabel('Consumers 3 →').inputValue(), '5');
  await end();
});

test('a link that is typed while the link of the plan is made stays in the address bar, and is opened', async () => {
  const one = await open(browser, site.url);
  await more(one.page);
  const typed = await link(one.page);
  await one.end();

  const { page, end } = await open(browser, 'about:blank', { ready: false, site: site.url });
  await page.addInitScript(() => {
    // Questions of these kinds wait until the test lets them go, one by one.
    window.held = { link: [], open: [] };
    window.answered = [];
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (message, ...rest) {
      if (message.kind === 'start') this.addEventListener('message', ({ data }) => window.answered.push(data.id));
      const send = () => (postMessage.call(this, message, ...rest), message.id);
      if (message.kind in window.held) window.held[message.kind].push(send);
      else send();
    };
    window.letGo = (kind) => window.held[kind].shift()();
  });
  const letGo = async (kind) => {
    await page.waitForFunction((kind) => window.held[kind].length > 0, kind);
    const id = await page.evaluate((kind) => window.letGo(kind), kind);
    await page.waitForFunction((id) => window.answered.includes(id), id);
  };
  await page.goto(site.url);
  await settled(page);
  const count = page.getByLabel('Consumers 3 →');
  await page.getByLabel('One consumer fewer').click();
  assert.equal(await count.inputValue(), '3');
  await page.waitForFunction(() => window.held.link.length > 0);
  await page.goto(typed);
  await letGo('link');
  assert.equal(await page.evaluate(() => location.hash), new URL(typed).hash);
  await letGo('open');
  await page.waitForFunction((element) => element.value === '5', await count.elementHandle());
  await letGo('link');
  assert.equal(await page.evaluate(() => location.hash), new URL(typed).hash);
  await end();
});

test('undo, redo, Back and Forward go through the same steps', async () => {
  const { page, end } = await open(browser, site.url);
  const count = page.getByLabel('Consumers 3 →');
  const is = async (value) => {
    await page.waitForFunction(([element, wanted]) => element.value === wanted, [await count.elementHandle(), value]);
    await settled(page);
  };
  assert.ok(await page.getByRole('button', { name: 'Undo' }).isDisabled());
  await more(page);
  await page.waitForTimeout(1100);
  await more(page);
  await is('6');
  await page.getByRole('button', { name: 'Undo' }).click();
  await is('5');
  await page.goBack();
  await is('4');
  assert.ok(await page.getByRole('button', { name: 'Undo' }).isDisabled());
  await page.getByRole('button', { name: 'Redo' }).click();
  await is('5');
  await page.goForward();
  await is('6');
  await end();
});

test('a link that cannot be read says so and leaves the example', async () => {
  const { page, end } = await open(browser, `${site.url}#evenkeel=1.nonsense`);
  await page.getByText(/The link cannot be read/).waitFor();
  assert.match(await verdict(page), /9 of 16/);
  await end();
});

test('a plan too large for a link offers the snapshot file', async () => {
  const { page, end } = await open(browser, site.url);
  await page.getByLabel('Example').selectOption('large');
  await settled(page, 60_000);
  await page.getByRole('button', { name: 'Share…' }).click();
  const text = await page.locator('dialog').innerText();
  if (/The link would have/.test(text)) assert.match(text, /Save the snapshot instead/);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save snapshot' }).click(),
  ]);
  assert.equal(file.suggestedFilename(), 'snapshot.json');
  await end();
});
