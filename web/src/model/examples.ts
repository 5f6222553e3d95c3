/** Groups to look at before one has data of one's own. Each shows something that surprises people. */
import type { Change, Snapshot } from '../types';
import { doc, EMPTY, type Doc } from './doc';

export type ExampleName = 'first' | 'wide' | 'topics' | 'twins' | 'mixed' | 'large';

export const EXAMPLES: readonly ExampleName[] = ['first', 'wide', 'topics', 'twins', 'mixed', 'large'];

export function example(name: ExampleName): Doc {
  switch (name) {
    case 'first':
      return doc(
        group('pay-worker', topic('orders', 2, 8), ['10.0.3.11@7#812', '10.0.3.12@7#944', '10.0.3.13@7#377']),
        [{ kind: 'add', ids: ['10.0.3.14@7#120'] }],
      );
    case 'wide':
      return doc(group('search-index', topic('documents', 8, 8), ids(8)), [{ kind: 'add', count: 1 }]);
    case 'topics':
      return doc(group('audit', Array.from({ length: 20 }, (_, n) => topic(`audit-${two(n)}`, 2, 2)).flat(), ids(6)), [
        { kind: 'remove', count: 2 },
      ]);
    case 'twins':
      return doc(group('ledger', topic('postings', 2, 8), ['172.17.0.1@1', '172.17.0.1@1', '172.17.0.9@1']));
    case 'mixed':
      return doc({
        ...group('notify', topic('mails', 2, 8), []),
        consumers: [
          { id: '10.0.3.11@7#812', language: 'JAVA', version: '5.3.1', strategy: 'CONSISTENT_HASH' },
          { id: '10.0.3.12@7#944', language: 'JAVA', version: '5.3.1', strategy: 'CONSISTENT_HASH' },
          { id: '10.0.3.13@31#377', language: 'GO', version: '2.1.2', strategy: 'CONSISTENT_HASH' },
        ],
      });
    case 'large': {
      const changes: Change[] = [{ kind: 'add', count: 10 }];
      return doc(group('ingest', topic('events', 64, 156).concat(topic('ticks', 1, 16)), ids(1000)), changes);
    }
  }
}

function group(name: string, topics: Snapshot['topics'], consumers: readonly string[]): Snapshot {
  return { ...EMPTY, group: name, topics, consumers: consumers.map((id) => ({ id })), strategy: { name: 'AVG' } };
}

function topic(name: string, brokers: number, readQueues: number): Snapshot['topics'][number][] {
  const named = (n: number) => (brokers <= 26 ? `broker-${String.fromCharCode(97 + n)}` : `broker-${two(n)}`);
  return [{ topic: name, brokers: Array.from({ length: brokers }, (_, n) => ({ broker: named(n), readQueues })) }];
}

function ids(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `10.0.${4 + (n >> 8)}.${n & 255}@7#${(n * 7919 + 101) % 997}`);
}

function two(n: number): string {
  return String(n).padStart(2, '0');
}
