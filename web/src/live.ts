/**
 * Groups of a live cluster. Only `evenkeel serve` has them, and says so in the head of the page that it serves; from any
 * other server nothing is asked.
 */

const base = document.querySelector('meta[name="evenkeel-live"]')?.getAttribute('content') ?? null;

export const isServed = base !== null;

export interface LiveGroup {
  /** The snapshot, as text to be read like a pasted one. */
  readonly snapshot: string;
  /** How many brokers and members did not answer. */
  readonly silent: number;
}

/** The names of all groups with members. Rejects with an `Error` that says why there are none. */
export async function groupNames(): Promise<string[]> {
  const { groups } = await ask<{ groups: ReadonlyArray<{ group: string }> }>('groups');
  return groups.map(({ group }) => group);
}

export async function readGroup(name: string): Promise<LiveGroup> {
  const told = await ask<{ snapshot: unknown; silent: readonly unknown[] }>(`groups/${encodeURIComponent(name)}`);
  return { snapshot: JSON.stringify(told.snapshot), silent: told.silent.length };
}

async function ask<T>(what: string): Promise<T> {
  const response = await fetch(new URL(`${base}${what}`, document.baseURI), { cache: 'no-store' });
  const answer = (await response.json()) as T & { error?: { text: string; hint?: string | null } };
  if (answer.error) throw new Error([answer.error.text, answer.error.hint].filter(Boolean).join(' · '));
  return answer;
}
