// 3 to 4 consumers under each strategy: what the table, the map and the moves say.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeDialog, launch, open, pasteText, serve, settled } from '../harness.mjs';

let browser, site;
before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await site?.down();
});

/** Moved, range when the id is not known, skew, idle; from the Java classes for Java's strategies. */
const EXPECTED = {
  AVG: ['9', '5–9', '0', '0'],
  AVG_BY_CIRCLE: ['10', '10–13', '0', '0'],
};

async function line(page, name) {
  const row = page.locator('.strategy-table tbody tr').filter({
    has: page.getByRole('radio', { name: new RegExp(`^${name}( |$)`) }),
  });
  return (await row.locator('td').allInnerTexts()).map((text) => text.trim());
}

test('each strategy has its line, and Java’s numbers where Java has it', async () => {
  const { page, end } = await open(browser, site.url);
  for (const [name, expected] of Object.entries(EXPECTED)) assert.deepEqual(await line(page, name), expected, name);
  const [moved] = await line(page, 'CONSISTENT_HASH');
  assert.equal(moved, '3');
  const [drafted, , skew] = await line(page, 'AVG_BY_DRAFT');
  assert.ok(Number(drafted) < Number(EXPECTED.AVG[0]), drafted);
  assert.equal(skew, '0');
  await end();
});

for (const name of ['AVG', 'AVG_BY_CIRCLE', 'CONSISTENT_HASH', 'AVG_BY_DRAFT']) {
  test(`${name}: verdict, map and moves agree with its line`, async () => {
    const { page, end } = await open(browser, site.url);
    await page.getByRole('radio', { name: new RegExp(`^${name}( |$)`) }).check();
    await settled(page);
    const [moved] = await line(page, name);
    assert.match(await page.locator('.verdict-main').innerText(), new RegExp(`^${moved} of 16 queues change`));
    assert.equal(await page.locator('.moves .vbody [role=row]').count(), Number(moved));
    assert.equal(await page.locator('.cells .cell rect[fill^="url(#hatch"]').count(), Number(moved));
    await end();
  });
}

test('rooms: named brokers, then MACHINE_ROOM and MACHINE_ROOM_NEARBY can be picked', async () => {
  const { page, end } = await open(browser, site.url);
  await pasteText(page, 'orders: east@broker-a=8, west@broker-b=8\neast-1\neast-2\nwest-1');
  await closeDialog(page);
  assert.match((await line(page, 'MACHINE_ROOM')).join(), /needs the rooms/);
  await page.getByRole('button', { name: 'Add MACHINE_ROOM', exact: true }).click();
  await page.getByRole('button', { name: 'Use east, west' }).click();
  await page.getByLabel('How to find the room of a name').selectOption('prefix');
  await closeDialog(page);
  await page.getByRole('radio', { name: 'MACHINE_ROOM_NEARBY' }).check();
  await settled(page);
  await page.getByLabel('One consumer more').click();
  await settled(page);
  assert.equal((await line(page, 'MACHINE_ROOM')).length, 4);
  await end();
});

test('a strategy that finds no room for a name says so, and the others keep their lines', async () => {
  const { page, end } = await open(browser, site.url);
  await pasteText(page, 'orders: broker-a=8, broker-b=8\nc1\nc2\nc3');
  await closeDialog(page);
  await page.getByRole('button', { name: 'Add MACHINE_ROOM_NEARBY' }).click();
  await page.getByLabel('How to find the room of a name').selectOption('table');
  await page.getByLabel('Brokers', { exact: true }).fill('broker-a = east');
  await page.getByLabel('Consumers', { exact: true }).fill('c1 = east\nc2 = east\nc3 = east');
  await page.getByLabel('Lists', { exact: true }).fill('c1 orders broker-a 0-7\nc2 orders broker-b 0-6');
  await closeDialog(page);
  await settled(page);
  const [why, ...more] = await line(page, 'MACHINE_ROOM_NEARBY');
  assert.match(why, /broker-b/);
  assert.deepEqual(more, []);
  const listed = await line(page, 'CONFIG');
  assert.equal(listed.length, 4, listed.join());
  assert.equal(listed.at(-1), '1', 'the third consumer is idle');
  await end();
});

test('CONFIG: lists that leave a queue out say so in the map', async () => {
  const { page, end } = await open(browser, site.url);
  await page.getByRole('button', { name: 'Add CONFIG' }).click();
  await page
    .getByLabel('Lists', { exact: true })
    .fill('10.0.3.11@7#812 orders broker-a 0-7\n10.0.3.12@7#944 orders broker-b 0-6');
  await closeDialog(page);
  await page.getByRole('radio', { name: 'CONFIG' }).check();
  await settled(page);
  await page.getByRole('button', { name: 'before', exact: true }).click();
  assert.equal(await page.locator('.cells rect.nobody').count(), 1);
  await end();
});

test('a place in the strip gives the id that sorts there', async () => {
  const { page, end } = await open(browser, site.url);
  const strip = page.locator('.figure').filter({ hasText: 'Where a new ID sorts' });
  await strip.getByLabel('Place').fill('0');
  await strip.getByRole('button', { name: 'Use an ID at this place' }).click();
  await settled(page);
  const said = await strip.locator('.controls span').innerText();
  const [, moves] = /(\d+) moves?$/.exec(said);
  assert.match(await page.locator('.verdict-main').innerText(), new RegExp(`^${moves} of 16`));
  await end();
});

test('a rolling restart counts every step, for the same ids and for new ones', async () => {
  const { page, end } = await open(browser, site.url);
  const figure = page.locator('.figure').filter({ hasText: 'Rolling restart' });
  await figure.getByText(/hands queues over \d+ times/).waitFor();
  await figure.getByRole('button', { name: 'Show as table' }).click();
  assert.equal(await figure.locator('tbody tr').count(), 6);
  await end();
});

test('comparing keeps the first scenario beside the second', async () => {
  const { page, end } = await open(browser, site.url);
  await page.getByRole('button', { name: 'Compare with this' }).click();
  await page.getByLabel('One consumer more').click();
  await settled(page);
  const cells = await line(page, 'AVG');
  assert.equal(cells.at(-1), '9');
  await end();
});
