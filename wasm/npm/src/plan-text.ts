// A plan for people, word for word as `evenkeel plan` prints it.

import { explain } from './api.js';
import type { Change, Finding, Move, PlanReport, PlanResult, QueueRef, Range, Snapshot } from './types.js';

export interface Asked {
  /** Whether every strategy was asked for. */
  readonly all: boolean;
  readonly moves: boolean;
  readonly quiet: boolean;
}

/** Findings about limits. */
export const limitCodes: readonly string[] = ['R201', 'R202'];

/** With more members than this, those that keep what they have are only counted. */
const MANY = 40;
const WIDTH = 100;

/** The whole text. `say` takes what belongs onto stderr. */
export function report(
  snapshot: Snapshot,
  changes: readonly Change[],
  answer: PlanReport,
  asked: Asked,
  say: (text: string) => void,
): string {
  const lines: string[] = [];
  // Who names one strategy and asks for moves knows what the rest is about.
  const onlyMoves = asked.moves && answer.results.length === 1;
  if (!onlyMoves) lines.push(title(snapshot, answer, asked.all), '', ...summary(changes, answer));
  if (asked.moves) {
    if (!onlyMoves) lines.push('');
    lines.push(...moves(answer, asked.quiet ? () => {} : say));
  }
  const others = answer.warnings.filter((found) => !limitCodes.includes(found.code));
  if (others.length > 0) lines.push('', ...others.flatMap(finding));
  if (!onlyMoves) {
    if (!asked.quiet) lines.push(...advice(changes));
    lines.push(...answer.warnings.filter((found) => limitCodes.includes(found.code)).map((found) => found.text));
  }
  return lines.map((line) => `${line}\n`).join('');
}

function title(snapshot: Snapshot, answer: PlanReport, all: boolean): string {
  const { before, after, topics, group } = answer;
  const readable = snapshot.topics.flatMap((topic) => topic.brokers).filter((on) => on.readable !== false && on.readQueues > 0);
  const brokers = new Set(readable.map((on) => on.broker)).size;
  const parts = group === undefined ? [] : [group];
  parts.push(topics.length === 1 ? String(topics[0]) : count(topics.length, 'topic'));
  parts.push(`${change(before.queues, after.queues)} ${plural(after.queues, 'queue')} on ${count(brokers, 'broker')}`);
  parts.push(`${change(before.consumers, after.consumers)} ${plural(after.consumers, 'consumer')}`);
  const running = answer.results.find((result) => result.running);
  if (running) parts.push(`running ${called(running)}`);
  else if (all) parts.push('strategy not known');
  return parts.join(' · ');
}

function summary(changes: readonly Change[], answer: PlanReport): string[] {
  const onTheWay = answer.results.some((result) => result.handedOver !== undefined);
  const way = (text: string) => (onTheWay ? [text] : []);
  const head = ['STRATEGY', 'MOVED', 'KEPT', ...way('ON THE WAY'), 'PER CONSUMER', 'IDLE', 'NOTE'];
  const rows = answer.results.map((result) => [
    `${called(result)}${result.running ? ' (running)' : ''}`,
    moved(answer, result),
    range(result.kept),
    ...way(range(result.handedOver ?? result.moved)),
    loads(result),
    String(result.perConsumer.idle.length),
    note(result, changes),
  ]);
  rows.push(...floor(answer, head.length, onTheWay));
  for (const { strategy, why } of answer.skipped ?? []) {
    if (!['MACHINE_ROOM', 'MACHINE_ROOM_NEARBY', 'CONFIG'].includes(strategy)) {
      rows.push([strategy, ...Array<string>(head.length - 2).fill('–'), why]);
    }
  }
  return table(head, rows);
}

/** `9 of 16`, or a range. */
function moved(answer: PlanReport, result: PlanResult): string {
  return `${range(result.moved)} of ${answer.before.queues - result.removed}`;
}

/** The row of what no strategy can do better. */
function floor(answer: PlanReport, columns: number, onTheWay: boolean): string[][] {
  const [first] = answer.results;
  if (!first) return [];
  const row = Array<string>(columns).fill('–');
  const surviving = answer.before.queues - first.removed;
  const { consumers, queues } = answer.after;
  row[0] = 'floor';
  row[1] = `${first.floor} of ${surviving}`;
  row[2] = String(surviving - first.floor);
  if (answer.topics.length === 1 && consumers > 0) {
    const [least, more] = [Math.floor(queues / consumers), queues % consumers];
    row[onTheWay ? 4 : 3] = list(Array.from({ length: consumers }, (_, place) => least + (place < more ? 1 : 0)));
  }
  const same = answer.results.every((result) => result.floor === first.floor);
  row[columns - 1] = `fewest moves for an even split${same ? '' : `, from what ${first.strategy} gives`}`;
  return [row];
}

function note({ moved }: PlanResult, changes: readonly Change[]): string {
  if (moved.samples !== undefined && !moved.exact) return `95 % of ${thousands(moved.samples)} trials`;
  if (moved.min === moved.max) return '';
  const [only] = changes;
  const unknown = changes.length === 1 && only && 'count' in only ? only : undefined;
  if (unknown?.kind === 'add') {
    return unknown.count === 1 ? 'depends on where the new id sorts' : 'depends on where the new ids sort';
  }
  return unknown?.kind === 'remove' && unknown.count === 1 ? 'depends on which member leaves' : 'depends on the ids';
}

/** Who loses and gains what, of the first result. */
function moves(answer: PlanReport, say: (text: string) => void): string[] {
  const [result] = answer.results;
  if (!result) return [];
  if (!result.members?.length) {
    say('evenkeel: what moves is not known before the ids are: say them, as in --add ID\n');
    return steps(result);
  }
  const [loses, gains] = [new Map<string, QueueRef[]>(), new Map<string, QueueRef[]>()];
  const note = (of: Map<string, QueueRef[]>, id: string, queue: QueueRef) => of.set(id, [...(of.get(id) ?? []), queue]);
  for (const step of result.moves) {
    const [from, to] = [owners(step, 'from'), owners(step, 'to')];
    for (const id of from.filter((id) => !to.includes(id))) note(loses, id, step.queue);
    for (const id of to.filter((id) => !from.includes(id))) note(gains, id, step.queue);
  }
  const shown = result.members.filter(
    ({ id, before, after }) => (result.members?.length ?? 0) <= MANY || before !== after || loses.has(id) || gains.has(id),
  );
  const several = answer.topics.length > 1;
  const cell = (value: number | undefined) => (value === undefined ? '–' : String(value));
  const queues = (list: readonly QueueRef[] | undefined) => (list ? grouped(list, several) : '–');
  const rows = shown.map(({ id, before, after }) => {
    const mark = before === undefined ? ' +' : after === undefined ? ' -' : '';
    return [`${id}${mark}`, cell(before), cell(after), queues(loses.get(id)), queues(gains.get(id))];
  });
  const rest = result.members.length - shown.length;
  return [
    ...table(['MEMBER', 'BEFORE', 'AFTER', 'LOSES', 'GAINS'], rows),
    ...(rest > 0 ? [`${count(rest, 'more member')} keep what they have`] : []),
    ...steps(result),
    sum(answer, result),
  ];
}

/** `9 of 16 queues move, limit 8` */
function sum(answer: PlanReport, result: PlanResult): string {
  let text = `${moved(answer, result)} queues move`;
  if (result.hiddenMoves) text += `, ${result.hiddenMoves} of the retry topic among them`;
  if (result.handedOver) text += `; ${range(result.handedOver)} change hands on the way`;
  if (result.added > 0) text += `; ${result.added} new`;
  if (result.removed > 0) text += `; ${result.removed} gone`;
  const limit = answer.limits?.maxMoves;
  return limit === undefined ? text : `${text}, limit ${limit}`;
}

function steps(result: PlanResult): string[] {
  const rows = result.steps?.map((step) => [step.label, String(step.moved), String(step.total)]);
  return rows ? ['', ...table(['STEP', 'MOVED', 'TOTAL'], rows)] : [];
}

function owners(step: Move, side: 'from' | 'to'): readonly string[] {
  const [one, all] = side === 'from' ? [step.from, step.fromAll] : [step.to, step.toAll];
  return all?.length ? all : one === null ? [] : [one];
}

/** `broker-a 4 5, broker-b 0`, with topics before them if there are several. */
function grouped(queues: readonly QueueRef[], withTopics: boolean): string {
  const runs: { readonly name: string; readonly ids: number[] }[] = [];
  for (const { topic, broker, id } of queues) {
    const name = withTopics ? `${topic} ${broker}` : broker;
    const last = runs.at(-1);
    if (last?.name === name) last.ids.push(id);
    else runs.push({ name, ids: [id] });
  }
  return runs.map(({ name, ids }) => `${name} ${ids.join(' ')}`).join(', ');
}

function finding(found: Finding): string[] {
  const level = { error: 'FAIL', warning: 'WARN', info: 'INFO' }[found.level];
  const lines = paragraph(`${level} ${found.code} `, `${explain(found.code)?.title ?? ''}: ${found.text}`);
  if (found.effect !== undefined) lines.push(...paragraph('          effect: ', found.effect));
  return [...lines, ...paragraph('          fix:    ', found.fix)];
}

function advice(changes: readonly Change[]): string[] {
  const lines = ['', 'Each moved queue pauses, and what its old owner had not committed is delivered again.'];
  const [only] = changes;
  if (changes.length === 1 && only?.kind === 'add' && 'count' in only && only.count === 1) {
    lines.push('Give the id to make it exact:  evenkeel plan --add ID --moves');
  }
  return lines;
}

function called(result: PlanResult): string {
  const nodes = result.settings?.name === 'CONSISTENT_HASH' ? result.settings.virtualNodes : undefined;
  return nodes === undefined ? result.strategy : `${result.strategy}:${nodes}`;
}

function range({ min, max }: Range): string {
  return min === max ? String(min) : `${min}–${max}`;
}

function change(before: number, after: number): string {
  return before === after ? String(before) : `${before} → ${after}`;
}

function plural(number: number, what: string): string {
  return number === 1 ? what : `${what}s`;
}

function count(number: number, what: string): string {
  return number === 1 ? `1 ${what}` : `${thousands(number)} ${what}s`;
}

function thousands(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',');
}

function loads({ perConsumer: { skewRange, loads } }: PlanResult): string {
  return skewRange && skewRange.min !== skewRange.max ? 'varies' : list(loads);
}

/** `4 4 4 3`, or `3–4` of many. */
function list(loads: readonly number[]): string {
  if (loads.length <= 8) return loads.join(' ');
  const [min, max] = loads.reduce(([a, b], load) => [Math.min(a, load), Math.max(b, load)], [Infinity, 0]);
  return min === max ? `${min} each` : `${min}–${max}`;
}

function width(text: string): number {
  return [...text].length;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => width(row[column] ?? ''))));
  const lay = (row: readonly string[]) =>
    row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - width(cell))).join('  ').trimEnd();
  return all.map(lay);
}

/** Text broken between words. A title stands before the first line, and blanks as wide before the others. */
function paragraph(title: string, text: string): string[] {
  const room = Math.max(WIDTH - width(title), 20);
  const lines = [''];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (width(line) + 1 + width(word) <= room) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.map((line, at) => `${at === 0 ? title : ' '.repeat(width(title))}${line}`);
}
