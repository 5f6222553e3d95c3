/** What the browser remembers: theme, language, and whether single keys do things. Nothing about groups. */
import { effect, signal } from '@preact/signals';
import type { Language } from './types';

export type Theme = 'system' | 'light' | 'dark';

export const theme = signal<Theme>(read('theme', ['system', 'light', 'dark'], 'system'));
export const language = signal<Language>(read('language', ['en', 'zh'], preferred()));
export const keysOn = signal<boolean>(read('keys', ['on', 'off'], 'on') === 'on');

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
  write('theme', theme.value);
});
effect(() => {
  document.documentElement.lang = language.value === 'zh' ? 'zh-Hans' : 'en';
  write('language', language.value);
});
effect(() => write('keys', keysOn.value ? 'on' : 'off'));

function preferred(): Language {
  return navigator.languages.some((tag) => tag.toLowerCase().startsWith('zh')) ? 'zh' : 'en';
}

/** Storage may be forbidden, and what is in it may be anything. */
function read<T extends string>(name: string, known: readonly T[], otherwise: T): T {
  try {
    const value = localStorage.getItem(`evenkeel.${name}`);
    return known.find((one) => one === value) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(`evenkeel.${name}`, value);
  } catch {
    // Not remembered then; the page works all the same.
  }
}
