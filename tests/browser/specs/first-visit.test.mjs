// A visitor who has nothing yet sees an example, its verdict, and a way to their own data.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open, serve, settled, verdict } from '../harness.mjs';

let browser, site;
before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await site?.down();
});

test('16 queues, 3 to 4 consumers: the verdict says what moves, that it is even, the floor and the range', async () => {
  const { page, end } = await open(browser, site.url);
  const text = await verdict(page);
  assert.match(text, /9 of 16 queues change owner\./);
  assert.match(text, /The result is even \(4 4 4 4\)\. Nobody is idle\./);
  assert.match(text, /Fewest possible for an even result: 4\./);
  assert.match(text, /If the new IDs were not known: 5–9\./);
  assert.match(text, /use my data/);
  await end();
});

test('strategies, map, moves, balance, churn, places and restart are all there', async () => {
  const { page, end } = await open(browser, site.url);
  for (const title of [
    'Strategies',
    'Allocation map',
    '9 moves',
    'Balance',
    'Churn by strategy',
    'Where a new ID sorts',
    'Rolling restart',
    'Health of the group as it is',
  ]) {
    await page.getByRole('heading', { name: title, exact: true }).waitFor();
  }
  assert.equal(await page.locator('.cells .cell').count(), 16);
  assert.equal(await page.locator('.moves .vbody [role=row]').count(), 9);
  await end();
});

test('the verdict is drawn before what stands below it, and the worker is asked before it has started', async () => {
  const { page, end } = await open(browser, 'about:blank', { ready: false, site: site.url });
  await page.addInitScript(() => {
    window.order = [];
    const note = (what) => window.order.includes(what) || window.order.push(what);
    new MutationObserver(() => {
      if (document.querySelector('.verdict p.verdict-main:not(.skeleton *)')) note('verdict');
      if (document.querySelector('.strategies')) note('strategies');
      if (document.querySelector('.moves')) note('moves');
    }).observe(document, { childList: true, subtree: true });
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (message, ...rest) {
      if (message.kind === 'start')
        this.addEventListener('message', ({ data }) => data.kind === 'started' && note('started'));
      if (message.kind === 'run') note('asked');
      return postMessage.call(this, message, ...rest);
    };
  });
  await page.goto(site.url);
  await settled(page);
  await page.waitForFunction(() => window.order.length === 5);
  const order = await page.evaluate(() => window.order);
  const at = (what) => order.indexOf(what);
  assert.ok(at('asked') < at('started'), order.join());
  assert.ok(at('verdict') < at('strategies') && at('verdict') < at('moves'), order.join());
  await end();
});

test('the policy is strict, and nothing in the page is inline', async () => {
  const { page, end } = await open(browser, site.url);
  const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content');
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self' 'wasm-unsafe-eval'(;|$)/);
  assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|https?:|\*/);
  assert.equal(await page.locator('script:not([src]), style').count(), 0);
  await end();
});

test('control: the policy stops code from text and requests to others', async () => {
  const { page, end } = await open(browser, site.url, { allowErrors: true });
  const stopped = await page.evaluate(async () => {
    const directives = [];
    document.addEventListener('securitypolicyviolation', (event) => directives.push(event.effectiveDirective));
    const script = document.createElement('script');
    script.textContent = 'window.ran = true';
    document.head.append(script);
    await fetch('http://127.0.0.1:9/').catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 200));
    return [window.ran, directives.sort()];
  });
  assert.deepEqual(stopped, [undefined, ['connect-src', 'script-src-elem']]);
  await end();
});

test('everything comes from under the path the page is served at', async () => {
  const own = await serve();
  const { end } = await open(browser, own.url);
  const path = decodeURIComponent(new URL(own.url).pathname);
  assert.deepEqual(
    own.asked.filter((asked) => !asked.startsWith(path)),
    [],
  );
  assert.ok(own.asked.some((asked) => asked.endsWith('.wasm')));
  await end();
  await own.down();
});

test('what is not known is a range: 3 to 4 with an ID that is not known', async () => {
  const { page, end } = await open(browser, site.url);
  await page.getByLabel('not known yet').check();
  const text = await verdict(page);
  assert.match(text, /5 to 9 of 16 queues change owner/);
  assert.match(await page.locator('.map-figure').innerText(), /as if they sorted last/);
  await end();
});
