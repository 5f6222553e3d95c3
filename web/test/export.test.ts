import { expect, test } from 'vitest';
import { doc, EMPTY } from '../src/model/doc';
import { cliLine, linkLine, npmSnippet, quoted, snapshotJson } from '../src/export/cli';
import { field, movesCsv } from '../src/export/csv';
import { markdownTable } from '../src/export/markup';
import type { MoveRow } from '../src/derive';
import type { Picture } from '../src/worker/protocol';

test('CSV quotes what needs it, and no field is a formula', () => {
  expect(field('plain')).toBe('plain');
  expect(field('a,"b"\n')).toBe('"a,""b""\n"');
  expect(field('=HYPERLINK("x")')).toBe('"\'=HYPERLINK(""x"")"');
  expect(field('-1+1')).toBe("'-1+1");
});

test('moves as CSV have a head and a line each, ended as RFC 4180 says', () => {
  const row = { topic: 't', broker: 'a', first: 0, queues: 2 };
  const members = [
    { id: 'x,1', before: true, after: true },
    { id: 'y', before: true, after: true },
  ];
  const moves: MoveRow[] = [
    { cell: 1, row, queue: 1, from: 0, to: 1 },
    { cell: 0, row, queue: 0, from: 1, to: -1 },
  ];
  expect(movesCsv({ members } as Picture, moves)).toBe('topic,broker,queue,from,to\r\nt,a,1,"x,1",y\r\nt,a,0,y,\r\n');
});

test('names in Markdown are text', () => {
  const table = markdownTable(['name'], [['a|b\nc'], ['<img src=x>'], ['[x](http://y)'], ['`**_~']]);
  expect(table.split('\n')).toEqual([
    '| name |',
    '|---|',
    '| a\\|b c |',
    '| &lt;img src=x> |',
    '| \\[x\\](http://y) |',
    '| \\`\\*\\*\\_\\~ |',
  ]);
});

test('words of a shell stay one word, whatever is in them', () => {
  expect(quoted('broker-a=8')).toBe('broker-a=8');
  expect(quoted('10.0.3.14@7#120')).toBe("'10.0.3.14@7#120'");
  expect(quoted("a'; rm -rf /")).toBe("'a'\\''; rm -rf /'");
  expect(quoted('$(x)')).toBe("'$(x)'");
});

test('the command line has every change', () => {
  const plan = doc(EMPTY, [
    { kind: 'remove', count: 1 },
    { kind: 'add', ids: ['a b', 'c'] },
    { kind: 'queues', topic: 't', broker: 'b', readQueues: 12 },
    { kind: 'dropBroker', broker: 'x' },
    { kind: 'roll', ids: 'new' },
  ]);
  expect(cliLine(plan)).toBe(
    "evenkeel plan --from snapshot.json --remove 1 --add 'a b' --add c --queues b=12 --drop-broker x --roll new",
  );
});

test('the command line names the topic where there are several, and every broker that may not be read', () => {
  const brokers = [{ broker: 'b', readQueues: 4 }];
  const topics = ['t', 'u'].map((topic) => ({ topic, brokers }));
  const plan = doc({ ...EMPTY, topics }, [
    { kind: 'queues', topic: 't', broker: 'b', readQueues: 8 },
    { kind: 'permissionLost', broker: 'b' },
    { kind: 'strategy', to: { name: 'CONSISTENT_HASH', virtualNodes: 20, hash: 'java-md5' } },
  ]);
  expect(cliLine(plan)).toBe(
    'evenkeel plan --from snapshot.json --queues t:b=8 --queues t:b=0 --queues u:b=0 --switch-to hash:20',
  );
  const rooms = doc(EMPTY, [{ kind: 'strategy', to: { name: 'MACHINE_ROOM', rooms: ['r'] } }]);
  expect(cliLine(rooms)).toMatch(/--from snapshot.json # one change has no flag/);
});

test('the line with the link is one word to a shell, whatever the page lies under', () => {
  expect(linkLine("file:///it's%20here/page.html#v1=a_b-c&x")).toBe(
    "evenkeel plan --from 'file:///it'\\''s%20here/page.html#v1=a_b-c&x'",
  );
});

test('the snippet is JavaScript that has the same values', () => {
  const snapshot = {
    ...EMPTY,
    group: "it's `${x}` </script>",
    load: [{ queue: { topic: 't', broker: 'b', id: 0 }, lag: 9007199254740993n }],
  };
  const code = npmSnippet(doc(snapshot))
    .replace(/^import.*$/m, '')
    .replace(/^for[^]*$/m, 'return snapshot;');
  expect(new Function(code)()).toEqual(snapshot);
});

test('c07 a lag above 2^53 keeps its digits in the snapshot file', () => {
  const snapshot = { ...EMPTY, load: [{ queue: { topic: 't', broker: 'b', id: 0 }, lag: 9007199254740993n }] };
  expect(snapshotJson(snapshot)).toContain('"lag": 9007199254740993');
  expect(JSON.parse(snapshotJson(snapshot)).schema).toBe('evenkeel.snapshot/1');
});
