// What `evenkeel-plan` does with its arguments: the options, output and exit codes of `evenkeel plan --from`.

import { parseArgs } from 'node:util';
import { EvenkeelError, fromUrl, plan } from './api.js';
import { limitCodes, report } from './plan-text.js';
import type { BrokerSeen, Change, PlanOptions, PlanReport, Snapshot, Strategy, TopicSeen } from './types.js';
import { version } from './version.js';

/** What the command reads and writes. */
export interface Surroundings {
  read(file: string): string;
  out(text: string): void;
  err(text: string): void;
}

const CODES = { done: 0, other: 1, usage: 2, notFound: 4, checkFailed: 7 } as const;

const OPTIONS = {
  add: { type: 'string', multiple: true },
  remove: { type: 'string', multiple: true },
  queues: { type: 'string', multiple: true },
  'drop-broker': { type: 'string', multiple: true },
  roll: { type: 'string', multiple: true },
  'switch-to': { type: 'string', multiple: true },
  strategy: { type: 'string', multiple: true },
  'max-moves': { type: 'string' },
  'max-skew': { type: 'string' },
  moves: { type: 'boolean' },
  retry: { type: 'boolean' },
  json: { type: 'boolean' },
  output: { type: 'string', short: 'o' },
  quiet: { type: 'boolean', short: 'q' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'V' },
} as const;

const HELP = `What a change does to a RocketMQ consumer group, before anybody makes it

Usage: evenkeel-plan SNAPSHOT|-|LINK CHANGE… [OPTIONS]

SNAPSHOT is what \`evenkeel snapshot GROUP\` writes; - is stdin. LINK is one of the planning page, in quotes; a file may
have one as well. Changes that are said go before those of a link.

Changes, in their order:
  --add N|ID,…             members join: their client ids, or how many
  --remove N|ID,…          members leave
  --queues [TOPIC:]+N|BROKER=N
                           a topic gets N more queues on each of its brokers, or has N on one
  --drop-broker BROKER     a broker is gone
  --roll stable|new        all members are restarted one by one
  --switch-to STRATEGY     all members change to another strategy

Options:
  --strategy STRATEGY,…    all, or those to try: avg, circle, hash[:N], draft; all has the settings of a link
                           (default: all)
  --max-moves N            if more queues change hands, the exit code is 7
  --max-skew N             if the most and the fewest queues of a member are further apart, the exit code is 7
  --moves                  list who loses and gains which queue
  --retry                  list queues of the retry topic as well
  -o, --output text|json   default text; --json is -o json
  -q, --quiet              no advice
  -V, --version

Exit codes: 0 done, 2 usage, 4 no such member, nothing to share or nobody to share it, 7 over a limit
`;

class Usage extends Error {}

/** Runs the command. The result is its exit code. */
export function main(args: readonly string[], around: Surroundings): number {
  try {
    return run(args, around);
  } catch (error) {
    if (error instanceof EvenkeelError) {
      around.err(`evenkeel: ${error.message}\n`);
      if (error.details.hint) around.err(`       hint: ${error.details.hint}\n`);
      const notFound = ['UNKNOWN_CONSUMER', 'EMPTY_CONSUMERS', 'EMPTY_QUEUES'].includes(error.code);
      return error.code === 'ABORTED' ? CODES.other : notFound ? CODES.notFound : CODES.usage;
    }
    if (error instanceof Usage || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')) {
      around.err(`evenkeel: ${(error as Error).message}\n`);
      return CODES.usage;
    }
    throw error;
  }
}

function run(args: readonly string[], around: Surroundings): number {
  const { values, positionals, tokens } = parseArgs({
    args: withRollValues(args),
    options: OPTIONS,
    allowPositionals: true,
    tokens: true,
  });
  if (values.help) {
    around.out(HELP);
    return CODES.done;
  }
  if (values.version) {
    around.out(`evenkeel-plan ${version.package}\n`);
    return CODES.done;
  }
  const json = values.json === true || values.output === 'json';
  if (!json && !['text', undefined].includes(values.output)) throw new Usage(`--output ${values.output}: text or json`);
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new Usage('give one snapshot file, - for stdin, or a link');
  const { snapshot, changes: shared, strategies: settings } = read(file, around);
  const said = changesOf(tokens.filter((token) => token.kind === 'option'), snapshot);
  const changes = said.length > 0 ? said : shared;
  if (changes.length === 0) {
    throw new Usage('no change to plan: say --add, --remove, --queues, --drop-broker, --roll or --switch-to');
  }
  const names = (values.strategy ?? []).flatMap((text) => text.split(','));
  const all = names.length === 0 || (names.length === 1 && names[0] === 'all');
  const options: PlanOptions = {
    strategies: all ? 'all' : names,
    settings,
    ...numberIfAny('maxMoves', '--max-moves', values['max-moves']),
    ...numberIfAny('maxSkew', '--max-skew', values['max-skew']),
    retry: values.retry === true,
  };
  const answer = plan(snapshot, changes, options);
  if (json) {
    around.out(`${JSON.stringify(answer)}\n`);
  } else {
    const asked = { all, moves: values.moves === true, quiet: values.quiet === true };
    around.out(report(snapshot, changes, answer, asked, around.err));
  }
  return verdict(answer, around);
}

/** `--roll` may stand alone, and is `--roll=stable` then; what follows it is its value only if it is one. */
function withRollValues(args: readonly string[]): string[] {
  const written: string[] = [];
  for (const arg of args) {
    const alone = written.at(-1) === '--roll';
    if (alone && (arg === 'stable' || arg === 'new')) {
      written[written.length - 1] = `--roll=${arg}`;
    } else {
      if (alone) written[written.length - 1] = '--roll=stable';
      written.push(arg);
    }
  }
  if (written.at(-1) === '--roll') written[written.length - 1] = '--roll=stable';
  return written;
}

function verdict(answer: PlanReport, around: Surroundings): number {
  if (answer.limits === undefined || answer.limits.passed) return CODES.done;
  const over = answer.warnings.find((found) => limitCodes.includes(found.code))?.code ?? 'R205';
  around.err(`evenkeel: plan is over the limit (see evenkeel explain ${over})\n`);
  return CODES.checkFailed;
}

interface Given {
  readonly snapshot: Snapshot;
  readonly changes: readonly Change[];
  readonly strategies: readonly Strategy[];
}

/** A link, or what stands in a file. Every link has a #, and the name of a file hardly ever. */
function read(file: string, around: Surroundings): Given {
  if (file.includes('#') && isLink(file)) return fromUrl(file);
  try {
    const text = around.read(file);
    if (isLink(text)) return fromUrl(text);
    return { snapshot: JSON.parse(text) as Snapshot, changes: [], strategies: [] };
  } catch (error) {
    if (error instanceof EvenkeelError) throw error;
    throw new Usage(`${file} is no snapshot: ${(error as Error).message}`);
  }
}

/** As the command line tells a link from a snapshot. */
function isLink(text: string): boolean {
  return /^[^\s{]\S*$/.test(text.trim()) && text.includes('evenkeel=');
}

function numberIfAny<Name extends string>(name: Name, flag: string, text: string | undefined) {
  if (text === undefined) return {};
  if (!/^\d+$/.test(text)) throw new Usage(`${flag} ${text}: no number`);
  return { [name]: Number(text) } as { [name in Name]: number };
}

interface Token {
  readonly name: string;
  readonly value?: string | undefined;
}

function changesOf(tokens: readonly Token[], snapshot: Snapshot): Change[] {
  // Queues that are said to come count for what is said next.
  const grown = [...(snapshot.topics ?? [])];
  const changes: Change[] = [];
  let last: { readonly name: string; readonly values: string[] } | undefined;
  for (const { name, value = '' } of tokens) {
    if (name === 'add' || name === 'remove') {
      // Ids that are said one after the other join or leave at once.
      if (last?.name === name) {
        last.values.push(...value.split(','));
        changes.pop();
      } else {
        last = { name, values: value.split(',') };
      }
      changes.push(who(name, last.values));
      continue;
    }
    last = undefined;
    if (name === 'queues') changes.push(...queues(grown, value));
    if (name === 'drop-broker') changes.push({ kind: 'dropBroker', broker: value });
    if (name === 'switch-to') changes.push({ kind: 'strategy', to: value });
    if (name === 'roll') {
      if (value !== 'stable' && value !== 'new') throw new Usage(`--roll ${value}: stable or new`);
      changes.push({ kind: 'roll', ids: value });
    }
  }
  return changes;
}

function who(kind: 'add' | 'remove', values: readonly string[]): Change {
  const [only] = values;
  const isNumber = (text: string | undefined) => text !== undefined && /^-?\d+$/.test(text);
  if (!values.some(isNumber)) {
    if (values.some((id) => id.trim() === '')) throw new Usage(`--${kind}: an empty client id`);
    return { kind, ids: values } as Change;
  }
  if (values.length === 1 && Number(only) > 0) return { kind, count: Number(only) } as Change;
  if (values.length === 1 && Number(only) === 0) throw new Usage(`--${kind} 0 changes nothing`);
  throw new Usage(`--${kind} ${values.join(',')}: neither a number of members nor client ids`);
}

/** `[TOPIC:]+N` or `[TOPIC:]BROKER=N`, and what it makes of the group. */
function queues(topics: TopicSeen[], value: string): Change[] {
  const wrong = (why: string) => new Usage(`--queues ${value}: ${why}`);
  const at = value.indexOf(':');
  const [topic, what] = at < 0 ? [undefined, value] : [value.slice(0, at), value.slice(at + 1)];
  const named = topics.filter((seen) => (topic === undefined ? !seen.topic.startsWith('%RETRY%') : seen.topic === topic));
  const [seen] = named;
  if (seen === undefined) throw wrong(topic === undefined ? 'the group has no topic' : `the group has no topic ${topic}`);
  if (named.length > 1) throw wrong('the group has several topics: say --queues TOPIC:…');
  const more = /^\+(\d+)$/.exec(what)?.[1];
  const [, name, read] = /^(.+)=(\d+)$/.exec(what) ?? [];
  let wanted: BrokerSeen[];
  if (more !== undefined) {
    wanted = seen.brokers.map((broker) => ({ ...broker, readQueues: broker.readQueues + Number(more) }));
  } else if (name !== undefined) {
    wanted = [{ broker: name, readQueues: Number(read) }];
  } else {
    throw wrong('neither +N nor BROKER=N');
  }
  const brokers = new Map(seen.brokers.map((broker) => [broker.broker, broker]));
  for (const broker of wanted) brokers.set(broker.broker, { ...brokers.get(broker.broker), ...broker });
  topics[topics.indexOf(seen)] = { ...seen, brokers: [...brokers.values()] };
  return wanted.map(({ broker, readQueues }) => ({ kind: 'queues', topic: seen.topic, broker, readQueues }));
}
