// All of it without a mouse.
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

test('single keys change the plan and move the focus', async () => {
  const { page, end } = await open(browser, site.url);
  const { keyboard } = page;
  await keyboard.press('-');
  await settled(page);
  assert.match(await verdict(page), /Nothing is changed yet/);
  await keyboard.press('+');
  await settled(page);
  await keyboard.press('2');
  await settled(page);
  assert.ok(await page.getByRole('radio', { name: /^AVG_BY_CIRCLE/ }).isChecked());
  await keyboard.press('b');
  assert.equal(await page.getByRole('button', { name: 'before', exact: true }).getAttribute('aria-pressed'), 'true');
  await keyboard.press('m');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'moves');
  await keyboard.press('/');
  await keyboard.type('broker-b');
  assert.equal(await page.locator('#moves-filter').inputValue(), 'broker-b');
  await end();
});

test('keys do nothing while something is typed, and can be switched off', async () => {
  const { page, end } = await open(browser, site.url);
  await page.locator('#moves-filter').focus();
  await page.keyboard.type('+s?');
  assert.equal(await page.locator('dialog').count(), 0);
  assert.equal(await page.getByLabel('Consumers 3 →').inputValue(), '4');
  await page.locator('body').press('?');
  await closeDialog(page);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('?');
  await page.getByLabel('Single keys do things (not while typing)').uncheck();
  await closeDialog(page);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('s');
  assert.equal(await page.locator('dialog').count(), 0);
  await end();
});

test('the map is one stop, and arrows, Home, End and Enter work in it', async () => {
  const { page, end } = await open(browser, site.url);
  const grid = page.getByRole('grid');
  assert.equal(await grid.getAttribute('aria-rowcount'), '2');
  assert.equal(await grid.getAttribute('aria-colcount'), '8');
  await grid.focus();
  const cell = () => page.getByRole('gridcell').innerText();
  assert.match(await cell(), /broker-a\/0: 10\.0\.3\.11@7#812, stays/);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  assert.match(await cell(), /broker-b\/1: 10\.0\.3\.12@7#944 → 10\.0\.3\.13@7#377, moves/);
  await page.keyboard.press('Control+End');
  assert.match(await cell(), /broker-b\/7/);
  await page.keyboard.press('Home');
  assert.match(await cell(), /broker-b\/0/);
  await page.keyboard.press('Enter');
  assert.ok((await page.locator('.cells .cell.dimmed').count()) > 0);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.cells .cell.dimmed').count(), 0);
  const active = await grid.getAttribute('aria-activedescendant');
  assert.equal(await page.locator(`[id="${active}"]`).count(), 1);
  await end();
});

test('Tab reaches every control in order and shows where it is', async () => {
  const { page, end } = await open(browser, site.url);
  const seen = [];
  for (let i = 0; i < 80; i += 1) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return null;
      const style = getComputedStyle(element);
      const box = element.getBoundingClientRect();
      const name =
        element.getAttribute('aria-label') || element.labels?.[0]?.innerText || element.innerText || element.id;
      return {
        name: `${element.tagName} ${name?.slice(0, 30)}`,
        visible: style.outlineStyle !== 'none' || box.width <= 1,
      };
    });
    if (!at) break;
    seen.push(at);
  }
  assert.ok(seen.length > 30, `only ${seen.length} stops`);
  assert.match(seen[0].name, /Skip to the plan/);
  assert.deepEqual(
    seen.filter(({ visible }) => !visible),
    [],
  );
  await end();
});

test('a dialog takes the focus, keeps it, and gives it back', async () => {
  const { page, end } = await open(browser, site.url);
  const button = page.getByRole('button', { name: 'Share…' });
  await button.focus();
  await page.keyboard.press('Enter');
  await page.locator('dialog[open]').waitFor();
  for (let i = 0; i < 12; i += 1) {
    await page.keyboard.press('Tab');
    assert.ok(
      await page.evaluate(
        () =>
          document.activeElement === document.body || document.querySelector('dialog').contains(document.activeElement),
      ),
    );
  }
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  assert.ok(await button.evaluate((element) => document.activeElement === element));
  await end();
});

test('the live region says the verdict after a pause, once', async () => {
  const { page, end } = await open(browser, site.url);
  const region = page.locator('.verdict [role=status]');
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  await settled(page);
  await page.waitForFunction((element) => /of 16 queues/.test(element.textContent), await region.elementHandle());
  assert.match(await region.textContent(), /queues change owner/);
  await end();
});
