/**
 * Fills values into a text. `{name}` is a value; `{n|queue|queues}` chooses a word by whether the value `n` is one, for
 * the language that needs it.
 */
export type Values = Readonly<Record<string, string | number>>;

export function fill(text: string, values: Values, format: (value: number) => string = String): string {
  return text.replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (whole, name: string, one?: string, many?: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    if (one !== undefined && many !== undefined) return value === 1 ? one : many;
    return typeof value === 'number' ? format(value) : value;
  });
}
