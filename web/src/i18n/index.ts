/** Texts by key in the chosen language. */
import { computed } from '@preact/signals';
import { language } from '../settings';
import type { Said } from '../types';
import { en } from './en';
import { fill, type Values } from './fill';
import { zh } from './zh';

export type Key = keyof typeof en;
export type Texts = Readonly<Record<Key, string>>;

const texts: Record<typeof language.value, Texts> = { en, zh };
const numbers = computed(() => new Intl.NumberFormat(language.value === 'zh' ? 'zh-Hans' : 'en'));

export function t(key: Key, values: Values = {}): string {
  return fill(texts[language.value][key], values, num);
}

/** What the engine says, in the chosen language. */
export function told(said: Said): string {
  return said[language.value];
}

export function num(value: number): string {
  return numbers.value.format(value);
}
