// What the page gives for the command line, given to a shell.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { after, before, test } from 'node:test';
import { BINARY, launch, open, serve, settled } from '../harness.mjs';

let browser, site;
before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await site?.down();
});

/** Runs a line of a POSIX shell in which `evenkeel` is the built binary. */
async function shell(line) {
  const { NAMESRV_ADDR: _, ...env } = process.env;
  env.PATH = `${dirname(BINARY)}:${env.PATH}`;
  return (await promisify(execFile)('sh', ['-c', line], { env })).stdout;
}

test('the exported line with the link gives what the page shows', async () => {
  const { page, end } = await open(browser, site.url);
  await page.getByLabel('One consumer more').click();
  await settled(page);
  await page.getByRole('button', { name: 'Export…' }).click();
  const dialog = page.locator('dialog');
  const line = dialog.locator('pre', { hasText: /^evenkeel plan --from '?http/ });
  const printed = JSON.parse(await shell(`${await line.innerText()} --json`));
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: /Report as JSON/ }).click(),
  ]);
  const shown = JSON.parse(Buffer.concat(await (await file.createReadStream()).toArray()));
  const figures = ({ results }) => results.map(({ strategy, moved, after }) => ({ strategy, moved, after }));
  assert.ok(shown.results.length > 2);
  for (const figure of figures(shown)) {
    assert.deepEqual(
      figures(printed).find(({ strategy }) => strategy === figure.strategy),
      figure,
    );
  }
  await end();
});
