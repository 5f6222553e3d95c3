/**
 * The only importer of the npm package, and by its public names. All other modules take the engine from here, so that
 * a change of the package's interface is met in one place.
 */
import init, {
  allocate,
  EvenkeelError,
  fromUrl as readUrl,
  movedByPlace,
  parse as readPaste,
  plan,
  toUrl,
  verify as verifyIn,
  version,
  type Change as AnyChange,
  type Finding as FindingIn,
  type Language,
  type Snapshot as AnySnapshot,
  type Strategy as AnyStrategy,
  type StrategySettings,
} from 'evenkeel/web';
import { namedStrategy } from './model/names';
import type { Wasm } from './worker/protocol';

export type {
  Allocation,
  ConsumerId,
  Language,
  Move,
  PlanReport,
  PlanResult,
  QueueRef,
  Range,
  RoomRules,
  StrategyName,
} from 'evenkeel/web';

/** The package also takes strategies by a short name; here they have their settings from the moment they are read. */
export type Strategy = StrategySettings;
export type Snapshot = Omit<AnySnapshot, 'strategy'> & { readonly strategy?: Strategy };
export type Change = Exclude<AnyChange, { kind: 'strategy' }> | { readonly kind: 'strategy'; readonly to: Strategy };
/** A text in each language: all that the engine says, so that it is not asked again when the language changes. */
export type Said = Readonly<Record<Language, string>>;
type ParsedIn = ReturnType<typeof readPaste>;
type ProblemIn = ParsedIn['problems'][number];
export type Problem = Omit<ProblemIn, 'text' | 'expected'> & { readonly text: Said; readonly expected: Said };
export type Parsed = Omit<ParsedIn, 'snapshot' | 'problems'> & {
  readonly snapshot: Snapshot;
  readonly problems: readonly Problem[];
};
export type Finding = Omit<FindingIn, 'text' | 'effect' | 'fix'> & {
  readonly text: Said;
  readonly effect?: Said;
  readonly fix: Said;
};

export { allocate, movedByPlace, plan, toUrl, version };

/** Several texts are read as one: what one of them cuts or leaves open another may tell. */
export function parse(texts: readonly string[]): Parsed {
  const { snapshot, problems, ...rest } = readPaste(texts);
  const said = inBoth(
    problems,
    () => readPaste(texts, { language: 'zh' }).problems,
    (en, zh) => ({
      ...en,
      text: { en: en.text, zh: zh.text },
      expected: { en: en.expected, zh: zh.expected },
    }),
  );
  return { ...rest, problems: said, snapshot: withSettings(snapshot) };
}

/** What is wrong with a group as it is. */
export function verify(snapshot: Snapshot): Finding[] {
  return inBoth(
    verifyIn(snapshot),
    () => verifyIn(snapshot, { language: 'zh' }),
    ({ effect, ...en }, zh) => ({
      ...en,
      text: { en: en.text, zh: zh.text },
      ...(effect !== undefined && { effect: { en: effect, zh: zh.effect ?? effect } }),
      fix: { en: en.fix, zh: zh.fix },
    }),
  );
}

/** The engine tells one language at a time. It is asked for the other one if it has anything to tell, which is seldom. */
function inBoth<T, U>(english: readonly T[], chinese: () => readonly T[], both: (en: T, zh: T) => U): U[] {
  const others = english.length > 0 ? chinese() : [];
  return english.map((en, i) => both(en, others[i] ?? en));
}

export function fromUrl(url: string): { snapshot: Snapshot; changes: Change[]; strategies: Strategy[] } {
  const { snapshot, changes, strategies } = readUrl(url);
  const known = changes.flatMap((change): Change[] => {
    if (change.kind !== 'strategy') return [change];
    const to = settled(change.to);
    return to ? [{ kind: 'strategy', to }] : [];
  });
  const others = strategies.flatMap((strategy) => settled(strategy) ?? []);
  return { snapshot: withSettings(snapshot), changes: known, strategies: others };
}

function settled(strategy: AnyStrategy | undefined): Strategy | null | undefined {
  return typeof strategy === 'string' ? namedStrategy(strategy) : (strategy as Strategy | undefined);
}

function withSettings<S extends AnySnapshot>({ strategy, ...rest }: S): Omit<S, 'strategy'> & { strategy?: Strategy } {
  const known = settled(strategy);
  return { ...rest, ...(known && { strategy: known }) };
}

/** Makes the other functions ready. Rejects if the wasm cannot be run. */
export async function start(wasm: Wasm): Promise<void> {
  await init(wasm);
}

/** A refusal of the engine as plain data, which crosses the border of a worker. */
export interface Refusal {
  code: string;
  message: Said;
}

export function refusal(error: unknown): Refusal {
  if (error instanceof EvenkeelError) {
    const { code, message, details } = error;
    return { code, message: { en: message, zh: details.zh ?? message } };
  }
  const why = error instanceof Error ? error.message : String(error);
  return { code: 'FAILED', message: { en: why, zh: why } };
}
