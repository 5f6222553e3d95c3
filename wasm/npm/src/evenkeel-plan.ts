#!/usr/bin/env node
// `evenkeel-plan SNAPSHOT`: what `evenkeel plan --from SNAPSHOT` prints, with its exit codes.

import { readFileSync } from 'node:fs';
import { main } from './plan-command.js';

process.exitCode = main(process.argv.slice(2), {
  read: (file) => readFileSync(file === '-' ? 0 : file, 'utf8'),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
