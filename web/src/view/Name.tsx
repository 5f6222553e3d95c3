import { look } from './palette';

/**
 * Names of topics, brokers and members come from anywhere: they are text, with a direction of their own, and cut by
 * the style sheet only.
 */
export function Name({ children }: { children: string }) {
  return (
    <bdi class="name" title={children}>
      {visible(children)}
    </bdi>
  );
}

/** Characters that would hide, or turn the text around, are shown by their number. */
export function visible(name: string): string {
  return name.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (c) => {
    return `\u27e8${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}\u27e9`;
  });
}

/** An owner's sign: the look of its cells. */
export function Badge({ place }: { place: number }) {
  const { hue, mark, number } = look(place);
  return (
    <span class={`badge hue-${hue} mark-${mark}`} aria-hidden="true">
      {number}
    </span>
  );
}
