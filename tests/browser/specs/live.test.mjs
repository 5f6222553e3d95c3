// `evenkeel serve`: the page with the groups of a cluster, which is the embedded broker and members of the real binary.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { BINARY, launch, open, serve, settled, verdict } from '../harness.mjs';

let browser;
const processes = [];
before(async () => {
  assert.ok(
    existsSync(BINARY),
    `${BINARY} is missing: run "EVENKEEL_PAGE=web/dist/page cargo build -p evenkeel" first`,
  );
  browser = await launch();
});
after(async () => {
  for (const process of processes) process.kill('SIGKILL');
  await browser?.close();
});

/** Starts the binary, and waits for a line of its output; gives that line. */
function started(args, mark) {
  const { NAMESRV_ADDR: _, ...env } = process.env;
  const child = spawn(BINARY, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  processes.push(child);
  return new Promise((found, lost) => {
    child.on('exit', (code) => lost(new Error(`evenkeel ${args[0]} ended with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => line.includes(mark) && found(line));
  });
}

async function cluster() {
  const line = await started(['broker', '--listen', '127.0.0.1:0', '--topic', 'orders:2x4'], 'NAMESRV_ADDR=');
  return line.replace('NAMESRV_ADDR=', '').trim();
}

function member(servers, id) {
  const args = ['consume', '-t', 'orders', '-g', 'pay', '-n', servers, '--client-id', id, '--events', '--json'];
  return started(args, '"rebalance"');
}

test('a live group is chosen, planned for, and looked at again', async () => {
  const servers = await cluster();
  await member(servers, 'c1');
  await member(servers, 'c2');
  const url = (await started(['serve', '-n', servers], 'http://')).trim();
  const { page, end } = await open(browser, url);
  const group = page.getByLabel('Live group');
  await group.focus();
  await group.locator('option', { hasText: 'pay' }).waitFor({ state: 'attached' });
  await group.selectOption('pay');
  await page.getByRole('button', { name: 'Look at the group again' }).waitFor();
  await settled(page);
  assert.equal(await page.locator('.stepper input').first().inputValue(), '2');
  await page.getByLabel('One consumer more').click();
  assert.match(await verdict(page), /of \d+ queues change owner/);

  await member(servers, 'c3');
  await page.getByRole('button', { name: 'Look at the group again' }).click();
  await page.waitForFunction(() => document.querySelector('.stepper input')?.value === '4');
  await settled(page);
  await end();
});

test('a cluster that is gone, a group that is deleted and a page without its server are told, and the plan stays', async () => {
  const servers = await cluster();
  const broker = processes.at(-1);
  await member(servers, 'c1');
  const url = (await started(['serve', '-n', servers], 'http://')).trim();
  const server = processes.at(-1);
  // The answers of a failed look are errors to the browser's console.
  const { page, end } = await open(browser, url, { allowErrors: true });
  const before = await verdict(page);
  const group = page.getByLabel(/Live group|在线消费组/);
  const notice = page.locator('.notice');
  await group.focus();
  await group.locator('option', { hasText: 'pay' }).waitFor({ state: 'attached' });
  // As a group that is deleted after it was listed.
  await group.evaluate((select) => {
    select.add(new Option('deleted'));
    select.value = 'deleted';
    select.dispatchEvent(new Event('change', { bubbles: true }));
  });
  await notice.filter({ hasText: 'The cluster was not read: there is no such group any more' }).waitFor();

  const again = async () => {
    await page.evaluate(() => document.activeElement.blur());
    await group.focus();
  };
  // As from a server of another version.
  await page.route('**/api/groups', (route) => route.fulfill({ json: { schema: 'evenkeel.groups/9' } }));
  await again();
  await notice.filter({ hasText: /The cluster was not read: .*undefined/ }).waitFor();
  await page.unroute('**/api/groups');
  broker.kill('SIGKILL');
  await again();
  await notice
    .filter({ hasText: 'The cluster was not read' })
    .filter({ hasText: servers.split(':')[1] })
    .waitFor();
  await page.getByRole('button', { name: '中文', exact: true }).click();
  await again();
  await notice.filter({ hasText: '未能读取集群：集群没有应答' }).waitFor();

  server.kill('SIGKILL');
  await new Promise((ended) => server.once('exit', ended));
  await again();
  await notice.filter({ hasText: '未能读取集群：evenkeel serve 已不再应答' }).waitFor();
  await page.getByRole('button', { name: 'English', exact: true }).click();
  assert.equal(await verdict(page), before);
  await end();
});

test('control: another server is not asked for live groups', async () => {
  const site = await serve();
  const { page, end } = await open(browser, site.url);
  assert.equal(await page.getByLabel('Live group').count(), 0);
  assert.deepEqual(
    site.asked.filter((path) => path.includes('/api/')),
    [],
  );
  await end();
  await site.down();
});
