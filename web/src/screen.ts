/** What the device is like: phone or wide, and whether motion is wanted. */
import { signal } from '@preact/signals';

export const narrow = followed('(max-width: 639px)');
export const wide = followed('(min-width: 1100px)');
export const still = followed('(prefers-reduced-motion: reduce)');

function followed(query: string) {
  const list = matchMedia(query);
  const is = signal(list.matches);
  list.addEventListener('change', () => (is.value = list.matches));
  return is;
}
