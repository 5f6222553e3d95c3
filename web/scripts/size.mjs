// The page without its wasm, compressed as servers do it, has a budget. Prints each file; fails above the budget.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';

/** Bytes; product.md calls it 60 KB. */
const BUDGET = 60_000;

const folder = process.argv[2] ?? fileURLToPath(new URL('../dist/page', import.meta.url));
const sizes = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !/\.(wasm|map)$/.test(entry.name))
  .map((entry) => {
    const content = readFileSync(join(entry.parentPath, entry.name));
    return { name: entry.name, raw: content.length, brotli: brotliCompressSync(content).length };
  });
const total = sizes.reduce((sum, { brotli }) => sum + brotli, 0);
for (const { name, raw, brotli } of sizes)
  console.log(`${String(brotli).padStart(8)} of ${String(raw).padStart(8)}  ${name}`);
console.log(`${String(total).padStart(8)} in all; the budget is ${BUDGET} bytes (brotli, without wasm)`);
if (sizes.length === 0 || total > BUDGET) {
  console.error(sizes.length === 0 ? `size: nothing in ${folder}` : `size: ${total - BUDGET} bytes over the budget`);
  process.exit(1);
}
