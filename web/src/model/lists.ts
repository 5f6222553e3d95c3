/** The lists of CONFIG as text: `id topic broker 0-3,5` a line. Ids, topics and brokers have no blanks in RocketMQ. */
import type { QueueRef } from '../types';

export interface ListProblem {
  line: number;
  text: string;
}

type Lists = Record<string, QueueRef[]>;

/** So many queues a range may have, so that a slip of the keyboard does not fill the memory. */
const MOST = 100_000;

/** Null lists if nothing was named. */
export function listsOf(text: string): { lists: Lists | null; problems: ListProblem[] } {
  const lists = new Map<string, QueueRef[]>();
  const problems: ListProblem[] = [];
  text.split('\n').forEach((line, i) => {
    if (!line.trim()) return;
    const [id, topic, broker, ranges, ...rest] = line.trim().split(/\s+/);
    const numbers = ranges && rest.length === 0 ? numbersOf(ranges) : null;
    if (!id || !topic || !broker || !numbers) {
      problems.push({ line: i + 1, text: line });
      return;
    }
    const queues = lists.get(id) ?? [];
    queues.push(...numbers.map((number) => ({ topic, broker, id: number })));
    lists.set(id, queues);
  });
  return { lists: lists.size > 0 ? Object.fromEntries(lists) : null, problems };
}

function numbersOf(ranges: string): number[] | null {
  const numbers: number[] = [];
  for (const range of ranges.split(',')) {
    const parts = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(range);
    if (!parts) return null;
    const [first, last] = [Number(parts[1]), Number(parts[2] ?? parts[1])];
    if (last < first || numbers.length + last - first >= MOST) return null;
    for (let n = first; n <= last; n += 1) numbers.push(n);
  }
  return numbers;
}

export function listsText(lists: Readonly<Record<string, readonly QueueRef[]>> | null): string {
  const lines: string[] = [];
  for (const [id, queues] of Object.entries(lists ?? {})) {
    const byBroker = new Map<string, number[]>();
    for (const { topic, broker, id: number } of queues) {
      const key = `${topic} ${broker}`;
      byBroker.set(key, [...(byBroker.get(key) ?? []), number]);
    }
    for (const [key, numbers] of byBroker) lines.push(`${id} ${key} ${numbers.join(',')}`);
  }
  return lines.join('\n');
}
