import { beforeEach, expect, test } from 'vitest';
import { doc, EMPTY, type Doc } from '../src/model/doc';
import { History, type Browser } from '../src/model/history';

/** A browser's list of entries, as far as it matters here. */
class Entries implements Browser {
  states: { place: unknown; fragment: string }[] = [{ place: null, fragment: '' }];
  at = 0;
  push(place: number) {
    this.states.length = this.at + 1;
    this.states.push({ place, fragment: '' });
    this.at += 1;
  }
  replace(place: number, fragment?: string) {
    this.states[this.at] = { place, fragment: fragment ?? this.states[this.at]?.fragment ?? '' };
  }
  go(by: number) {
    this.at += by;
  }
  get place() {
    return this.states[this.at]?.place;
  }
}

const named = (group: string): Doc => doc({ ...EMPTY, group });
let browser: Entries;
let history: History;
beforeEach(() => {
  browser = new Entries();
  history = new History(named('first'), browser);
});

function back() {
  browser.go(-1);
  return history.arrived(browser.place);
}

test('undo goes back in the browser, and the document comes with the entry', () => {
  history.edit(named('second'), '', 0);
  history.undo();
  expect(history.arrived(browser.place)).toBe(true);
  expect(history.current.snapshot.group).toBe('first');
  expect([history.canUndo, history.canRedo]).toEqual([false, true]);
  history.redo();
  history.arrived(browser.place);
  expect(history.current.snapshot.group).toBe('second');
});

test('key strokes of one field are one step, until there is a pause', () => {
  history.edit(named('a'), 'name', 0);
  history.edit(named('ab'), 'name', 300);
  expect(browser.at).toBe(1);
  history.edit(named('abc'), 'name', 2000);
  expect(browser.at).toBe(2);
  back();
  expect(history.current.snapshot.group).toBe('ab');
});

test('edits of different fields are steps of their own', () => {
  history.edit(named('a'), 'name', 0);
  history.edit(named('b'), 'count', 1);
  history.edit(named('c'), '', 2);
  history.edit(named('d'), '', 3);
  expect(browser.at).toBe(4);
});

test('the first edit never replaces the first document', () => {
  history.edit(named('a'), 'name', 0);
  back();
  history.edit(named('b'), 'name', 10);
  back();
  expect(history.current.snapshot.group).toBe('first');
});

test('an edit after undo cuts off what could be redone', () => {
  history.edit(named('a'), '', 0);
  back();
  history.edit(named('b'), '', 1);
  expect(history.canRedo).toBe(false);
  expect(history.current.snapshot.group).toBe('b');
});

test('a link is written into the entry of its own document only', () => {
  const second = named('second');
  history.edit(second, '', 0);
  history.linked(second, '#two');
  expect(browser.states[1]?.fragment).toBe('#two');
  back();
  history.linked(second, '#late');
  expect(browser.states[0]?.fragment).toBe('');
});

test('an entry that is not known is said to be so', () => {
  expect(history.arrived(null)).toBe(false);
  expect(history.arrived(7)).toBe(false);
});
