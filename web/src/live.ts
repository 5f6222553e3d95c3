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

/** The names of all groups with members. Rejects with `Unread`. */
export async function groupNames(): Promise<string[]> {
  const { groups } = await ask<{ groups: ReadonlyArray<{ group: string }> }>('groups');
  return groups.map(({ group }) => group);
}

/** Rejects with `Unread`. */
export async function readGroup(name: string): Promise<LiveGroup> {
  const told = await ask<{ snapshot: unknown; silent: readonly unknown[] }>(`groups/${encodeURIComponent(name)}`);
  return { snapshot: JSON.stringify(told.snapshot), silent: told.silent.length };
}

/** Why the cluster was not read: a text of the page, and what the server said where that tells more. */
export class Unread extends Error {
  constructor(
    readonly why: 'live.gone' | 'live.servers' | 'live.nobody' | 'live.silence',
    readonly said = '',
  ) {
    super(said);
  }
}

const REASONS: Readonly<Record<number, Unread['why']>> = { 404: 'live.nobody', 503: 'live.servers' };

async function ask<T>(what: string): Promise<T> {
  const url = new URL(`${base}${what}`, document.baseURI);
  const answer = await fetch(url, { cache: 'no-store' })
    .then(async (response) => ({
      status: response.status,
      told: (await response.json()) as T & { error?: { text: string; hint?: string | null } },
    }))
    .catch(() => Promise.reject(new Unread('live.gone')));
  const { status, told } = answer;
  if (told.error) {
    const said = [told.error.text, told.error.hint].filter(Boolean).join(' · ');
    throw new Unread(REASONS[status] ?? 'live.silence', said);
  }
  return told;
}
