// Both themes, both languages, small and enlarged, and what the system asks for.
import AxeBuilder from '@axe-core/playwright';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertNoSidewaysScroll, closeDialog, launch, open, serve, settled } from '../harness.mjs';

let browser, site;
before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await site?.down();
});

async function assertNoViolations(page, what, part = 'html') {
  const { violations } = await new AxeBuilder({ page })
    .include(part)
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .analyze();
  const found = violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map(({ target, any }) => `${target} ${any[0]?.message ?? ''}`)
        .slice(0, 4)
        .join(' | ')}`,
  );
  assert.deepEqual(found, [], what);
}

const THEMES = ['light', 'dark'];
const LANGUAGES = { en: 'en-US', zh: 'zh-CN' };

for (const colorScheme of THEMES) {
  for (const [language, locale] of Object.entries(LANGUAGES)) {
    test(`axe finds nothing: ${colorScheme}, ${language}`, async () => {
      const { page, end } = await open(browser, site.url, { colorScheme, locale });
      assert.equal(await page.evaluate(() => document.documentElement.lang.slice(0, 2)), language);
      await assertNoViolations(page, 'plan');
      await page.locator('.top select').first().selectOption('twins');
      await settled(page);
      await assertNoViolations(page, 'findings', '.health');
      await end();
    });
  }
}

for (const [colorScheme, locale] of [
  ['light', 'zh-CN'],
  ['dark', 'en-US'],
]) {
  test(`axe finds nothing in dialogs and other states: ${colorScheme}, ${locale}`, async () => {
    const { page, end } = await open(browser, site.url, { colorScheme, locale });
    const buttons = page.locator('.top button[aria-haspopup=dialog], .strategies .tools button');
    for (let i = 0; i < (await buttons.count()); i += 1) {
      await buttons.nth(i).click();
      await page.locator('dialog[open]').waitFor();
      await assertNoViolations(page, `dialog ${i}`, 'dialog');
      await closeDialog(page);
    }
    await page.locator('.top select').first().selectOption('topics');
    await settled(page, 60_000);
    for (const button of await page.locator('.figure button.quiet[aria-pressed]').all()) await button.click();
    await assertNoViolations(page, 'tables');
    await page.locator('.top select').first().selectOption('clear');
    await page.locator('.empty').waitFor();
    await assertNoViolations(page, 'empty');
    await end();
  });
}

test('the theme follows the system until one is chosen, and the choice is remembered', async () => {
  const { page, end } = await open(browser, site.url, { colorScheme: 'dark' });
  const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const dark = await paper();
  await page.getByLabel('Colours').selectOption('light');
  const light = await paper();
  assert.notEqual(light, dark);
  await page.reload();
  await settled(page);
  assert.equal(await paper(), light);
  await end();
});

test('the language can be switched at once, in both directions', async () => {
  const { page, end } = await open(browser, site.url);
  await page.getByRole('button', { name: '中文' }).click();
  assert.match(await page.locator('.verdict').innerText(), /16 个队列中有 9 个更换归属/);
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh-Hans');
  await page.getByRole('button', { name: 'English' }).click();
  assert.match(await page.locator('.verdict').innerText(), /9 of 16/);
  await end();
});

test('findings are told in the language of the page', async () => {
  const { page, end } = await open(browser, site.url);
  await page.getByLabel('Example').selectOption('twins');
  const found = page.locator('.findings > li').first();
  await found.getByText(/6 queues have several owners, 5 have none/).waitFor();
  await page.getByRole('button', { name: '中文' }).click();
  await found.getByText(/6 个队列有多个归属者，5 个没有/).waitFor();
  assert.doesNotMatch(await found.innerText(), /\b(is|the|have|each)\b/);
  await end();
});

const SIZES = {
  phone: { width: 360, height: 740 },
  '400 % of 1280 by 1024': { width: 320, height: 256 },
  tablet: { width: 800, height: 1000 },
  wide: { width: 1920, height: 1080 },
};

for (const [name, viewport] of Object.entries(SIZES)) {
  test(`no sideways scroll of the page: ${name}`, async () => {
    const { page, end } = await open(browser, site.url, {
      viewport,
      hasTouch: viewport.width < 400,
    });
    await assertNoSidewaysScroll(page);
    for (const example of ['wide', 'topics', 'mixed']) {
      await page.locator('.top select').first().selectOption(example);
      await settled(page);
      await assertNoSidewaysScroll(page);
    }
    const buttons = page.locator('.top button[aria-haspopup=dialog]');
    for (let i = 0; i < (await buttons.count()); i += 1) {
      await buttons.nth(i).click();
      await page.locator('dialog[open]').waitFor();
      assert.ok(
        await page.locator('dialog').evaluate((element) => element.scrollWidth <= element.clientWidth + 1),
        `dialog ${i} of ${name}`,
      );
      await closeDialog(page);
    }
    await end();
  });
}

test('on a phone every target is at least 44 points high', async () => {
  const { page, end } = await open(browser, site.url, {
    viewport: SIZES.phone,
    hasTouch: true,
  });
  const small = await page.evaluate(() =>
    [
      ...document.querySelectorAll(
        'button, select, input:not([type=radio]):not([type=checkbox]):not([type=range]), summary',
      ),
    ]
      .filter((element) => element.checkVisibility() && !element.closest('footer'))
      .map((element) => ({
        text: element.innerText || element.id || element.className,
        height: element.getBoundingClientRect().height,
      }))
      .filter(({ height }) => height > 1 && height < 43.5),
  );
  assert.deepEqual(small, []);
  await end();
});

test('nothing moves by itself where motion is not wanted', async () => {
  const { page, end } = await open(browser, site.url, {
    reducedMotion: 'reduce',
  });
  const moving = await page.evaluate(
    () =>
      [...document.querySelectorAll('*')].filter((element) => getComputedStyle(element).transitionDuration !== '0s')
        .length,
  );
  assert.equal(moving, 0);
  assert.equal(await page.getByRole('button', { name: 'Play' }).count(), 0);
  await end();
});

test('with the system’s own colours, hatches and the picked line are still seen', async () => {
  const { page, end } = await open(browser, site.url, {
    forcedColors: 'active',
  });
  const kept = await page.evaluate(() => {
    const cell = document.querySelector('.cells .cell rect');
    const line = document.querySelector('.strategy-table tr.selected');
    return [getComputedStyle(cell).fill, getComputedStyle(line).outlineStyle];
  });
  assert.match(kept[0], /^rgb\(90, 169, 236\)$/);
  assert.notEqual(kept[1], 'none');
  await end();
});

test('print has the verdict, the strategies and the histogram, and no controls', async () => {
  const { page, end } = await open(browser, site.url);
  await page.emulateMedia({ media: 'print' });
  for (const shown of ['.verdict-main', '.strategy-table', '.balance-figure svg'])
    assert.ok(await page.locator(shown).first().isVisible(), shown);
  for (const hidden of ['.top .tools', '.what-if', '.map-figure', '.moves'])
    assert.ok(!(await page.locator(hidden).first().isVisible()), hidden);
  await end();
});
