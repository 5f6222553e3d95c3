// English and Chinese: all that the page says, and what a change of the language costs.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeDialog, launch, open, pasteRead, serve, settled } from '../harness.mjs';

let browser, site;
before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await site?.down();
});

const HAN = /\p{Script=Han}/u;

/** Words of a sentence, and not a name: three in a row with small letters. */
const ENGLISH = /\b[a-z]{2,} [a-z]{2,} [a-z]{2,}\b/;

/** Opens the page, with lists of what it has asked its worker, and of what is not answered yet. */
async function openAndListen(options) {
  const opened = await open(browser, 'about:blank', { ready: false, site: site.url, ...options });
  await opened.page.addInitScript(() => {
    window.asked = [];
    window.unanswered = new Map();
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (message, ...rest) {
      const { kind, id } = message;
      window.asked.push(kind);
      // Of runs, only the last one ends.
      if (kind === 'run')
        for (const [other, what] of window.unanswered) if (what === 'run') window.unanswered.delete(other);
      if (id !== undefined) window.unanswered.set(id, kind);
      if (kind === 'start') {
        this.addEventListener('message', ({ data }) => {
          if (data.kind !== 'part') window.unanswered.delete(data.id);
        });
      }
      return postMessage.call(this, message, ...rest);
    };
  });
  await opened.page.goto(site.url);
  await settled(opened.page);
  return opened;
}

/** What is drawn, without words. */
const figures = (page) =>
  page.evaluate(() => ({
    cells: [...document.querySelectorAll('.cells rect, .cells .cell-text')].map((cell) => cell.outerHTML),
    table: [...document.querySelectorAll('.strategies tbody td')].map((cell) => cell.innerText.replace(/\D+/g, ' ')),
  }));

test('another language changes words and nothing else, and nothing is asked of the worker', async () => {
  const { page, end } = await openAndListen();
  await page.locator('.top select').first().selectOption('twins');
  await settled(page);
  // What comes last is the rolling restart.
  await page.waitForFunction(() => window.asked.lastIndexOf('roll') > window.asked.lastIndexOf('run'));
  await page.waitForFunction(() => window.unanswered.size === 0);
  const health = page.locator('.health .findings');
  assert.doesNotMatch(await health.innerText(), HAN);
  const before = await figures(page);
  const asked = await page.evaluate(() => window.asked.length);
  assert.ok(asked > 0);

  for (const [button, is] of [
    ['中文', /重复|进程/],
    ['English', /is used by/],
  ]) {
    await page.getByRole('button', { name: button, exact: true }).click();
    await health.getByText(is).first().waitFor();
    assert.equal(await page.locator('.verdict').getAttribute('data-state'), 'idle');
    assert.deepEqual(await figures(page), before);
  }
  // Two turns of the page, in which a question would have been asked.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const more = await page.evaluate((from) => window.asked.slice(from), asked);
  assert.deepEqual(more, []);
  // Control: a change of the group is asked about.
  await page.getByLabel('One consumer more').click();
  await settled(page);
  assert.ok((await page.evaluate((from) => window.asked.slice(from), asked)).includes('run'));
  await end();
});

async function pasteInChinese(page, text) {
  await page.getByRole('button', { name: '打开或粘贴…' }).click();
  const dialog = page.locator('dialog');
  await dialog.locator('textarea').fill(text);
  await dialog.getByRole('button', { name: '读取', exact: true }).click();
  await pasteRead(page);
  return dialog;
}

test('what is wrong with a paste is said in Chinese, and follows the language', async () => {
  const { page, end } = await open(browser, site.url, { locale: 'zh-CN' });
  const dialog = await pasteInChinese(page, 'orders: broker-a=8\n??? no idea ((\nstrategy: averge\n{"colour" 1}');
  await dialog.locator('.warn-chip summary').click();
  const problems = dialog.locator('.problems li');
  const said = await problems.allInnerTexts();
  assert.equal(said.length, 3);
  for (const line of said) assert.match(line, HAN);
  assert.match(said[0], /第 2 行：.*\?\?\? no idea \(\(.*应为 客户端 ID/s);
  assert.match(said[1], /没有策略 "averge"/);
  assert.match(said[2], /第 4 行的冒号/);
  await closeDialog(page);
  await page.getByRole('button', { name: 'English', exact: true }).click();
  await page.getByRole('button', { name: 'Open or paste…' }).click();
  await dialog.locator('.warn-chip summary').click();
  const english = await problems.allInnerTexts();
  for (const line of english) assert.doesNotMatch(line, HAN);
  assert.match(english[0], /expected a client id/);
  await end();
});

test('what is still open, and why there is no plan, is said in Chinese', async () => {
  const { page, end } = await open(browser, site.url, { locale: 'zh-CN' });
  const table = '#Topic #Broker Name #QID #Broker Offset #Consumer Offset #Client IP #Diff #LastTime';
  const dialog = await pasteInChinese(page, `${table}\norders broker-a 3 9 9 10.0.0.1 0 N/A`);
  const open_ = await dialog.locator('p.hint').allInnerTexts();
  assert.ok(
    open_.some((line) => /队列的归属者.*10\.0\.0\.1 上的消费者/.test(line)),
    open_.join('\n'),
  );
  await end();

  // On a page of its own: one that has a plan writes that plan's link in place of one that cannot be read.
  const first = await open(browser, `${site.url}#evenkeel=1.AAAA`, { locale: 'zh-CN' });
  await first.page.getByText('链接已损坏').first().waitFor();
  await first.end();
});

test('the Chinese page has no English sentence', async () => {
  const { page, end } = await open(browser, site.url, { locale: 'zh-CN' });
  for (const example of ['first', 'twins', 'mixed', 'topics']) {
    await page.locator('.top select').first().selectOption(example);
    await settled(page);
    const lines = (await page.locator('main').innerText()).split('\n');
    assert.deepEqual(
      lines.filter((line) => ENGLISH.test(line)),
      [],
      example,
    );
  }
  await page.getByRole('button', { name: 'English', exact: true }).click();
  const english = (await page.locator('main').innerText()).split('\n');
  assert.ok(
    english.some((line) => ENGLISH.test(line)),
    'control',
  );
  await end();
});
