// Installs the npm package that `cargo pack` made, without writing it into package.json or the lock file: its name has a
// version and its bytes change with every build.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const web = fileURLToPath(new URL('..', import.meta.url));
const root = join(web, '..');

function newest() {
  const folders = [process.env.CARGO_TARGET_DIR && resolve(root, process.env.CARGO_TARGET_DIR), join(root, 'target')];
  for (const folder of folders.filter(Boolean).map((target) => join(target, 'npm'))) {
    if (!existsSync(folder)) continue;
    const packed = readdirSync(folder)
      .filter((name) => /^evenkeel-.*\.tgz$/.test(name))
      .map((name) => join(folder, name));
    packed.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
    if (packed[0]) return packed[0];
  }
  return null;
}

const tarball = process.argv[2] ? resolve(process.argv[2]) : newest();
if (!tarball || !existsSync(tarball)) {
  console.error(
    'engine: there is no packed npm package. Run "cargo pack" first, or name the file: npm run engine -- FILE.tgz',
  );
  process.exit(1);
}
execFileSync('npm', ['install', '--no-save', '--no-package-lock', '--ignore-scripts', tarball], {
  cwd: web,
  stdio: ['ignore', 'ignore', 'inherit'],
});
console.log(`engine: ${tarball}`);
