// Puts the package together: node build.mjs FOLDER VERSION
//
// Expects what wasm-bindgen wrote in src/glue. Afterwards FOLDER is what `npm pack` packs.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { writeDeclarations } from './declarations.mjs';

const source = fileURLToPath(new URL('..', import.meta.url));
const [folder, version] = process.argv.slice(2);
if (!folder || !version) throw new Error('usage: node build.mjs FOLDER VERSION');
const dist = resolve(folder, 'dist');

rmSync(folder, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
const forNode = ['index', 'parse', 'protocol'];
const forPages = ['web', 'protocol-web'];
for (const name of ['evenkeel', 'protocol']) optimise(name);
await bundle('esm', 'node', [...forNode, 'evenkeel-plan']);
await bundle('cjs', 'node', forNode);
await bundle('esm', 'web', forPages);
await bundle('cjs', 'web', forPages);
writeDeclarations(source, dist, [...forNode, ...forPages]);
writeManifest();
copyFileSync(join(source, 'README.md'), join(folder, 'README.md'));
copyFileSync(join(source, '../../LICENSE'), join(folder, 'LICENSE'));

function optimise(name) {
  const program = join(source, 'node_modules/binaryen/bin/wasm-opt');
  // What rustc says of the features it uses; binaryen would otherwise refuse them.
  const features = ['--enable-bulk-memory', '--enable-nontrapping-float-to-int', '--enable-sign-ext',
    '--enable-mutable-globals', '--enable-multivalue', '--enable-reference-types'];
  // rustc has optimised for size already. More passes make the file smaller and what is downloaded larger: they break up
  // the likeness of functions that compression lives on (measured for -Oz: 12 % less raw, 12 % more with brotli).
  const passes = ['--duplicate-function-elimination', '--remove-unused-module-elements', '--strip-debug',
    '--strip-producers', '--strip-target-features'];
  const files = [join(source, 'src/glue', `${name}_bg.wasm`), '-o', join(dist, `${name}.wasm`)];
  execFileSync(process.execPath, [program, ...features, ...passes, ...files], { stdio: 'inherit' });
}

/** The wasm files are found by URLs that stand beside them, so every file of code lies in one folder. */
async function bundle(format, place, entries) {
  const extension = format === 'esm' ? 'js' : 'cjs';
  const build = await rolldown({
    input: Object.fromEntries(entries.map((entry) => [entry, join(source, `src/${entry}.ts`)])),
    external: [/^node:/],
    // For CommonJS on Node, `import.meta.url` becomes the file's URL.
    platform: place === 'node' ? 'node' : 'neutral',
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    plugins: [instead(place === 'web' ? { './on-demand.js': 'on-demand-web.ts' } : {}),
      instead(place === 'web' && format === 'cjs' ? { './wasm-file.js': 'wasm-file-unknown.ts' } : {})],
    transform: {
      define: {
        __PACKAGE_VERSION__: JSON.stringify(version),
        __ROCKETMQ_VECTORS__: JSON.stringify(vectorsVersion()),
      },
    },
  });
  await build.write({
    dir: dist,
    format,
    exports: 'named',
    entryFileNames: `[name].${extension}`,
    chunkFileNames: `shared-${place}-[name].${extension}`,
    minify: { mangle: false, compress: true, codegen: { removeWhitespace: false } },
  });
  await build.close();
}

/** Takes other modules in place of these. */
function instead(others) {
  return {
    name: 'instead',
    resolveId: (id) => (others[id] ? join(source, 'src', others[id]) : undefined),
  };
}

/** The newest RocketMQ release whose answers the vectors hold. */
function vectorsVersion() {
  const file = join(source, '../../tests/golden/allocate-averagely.json');
  const [, found] = /"version":"([\d.]+)"/.exec(readFileSync(file, 'utf8').slice(0, 1000)) ?? [];
  if (!found) throw new Error(`${relative(source, file)} does not say of which version it is`);
  return found;
}

function writeManifest() {
  const { devDependencies, ...manifest } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ ...manifest, version }, null, 2)}\n`);
}
