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
  verify,
  version,
  type Change as AnyChange,
  type Snapshot as AnySnapshot,
  type Strategy as AnyStrategy,
  type StrategySettings,
} from 'evenkeel/web';
import { namedStrategy } from './model/names';

export type {
  Allocation,
  ConsumerId,
  Finding,
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
export type Parsed = Omit<ReturnType<typeof readPaste>, 'snapshot'> & { readonly snapshot: Snapshot };
export type Problem = Parsed['problems'][number];

export { allocate, movedByPlace, plan, toUrl, verify, version };

/** Several texts are read as one: what one of them cuts or leaves open another may tell. */
export function parse(texts: readonly string[]): Parsed {
  const { snapshot, ...rest } = readPaste(texts);
  return { ...rest, snapshot: withSettings(snapshot) };
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

/** Makes the other functions ready: `wasm` is where the wasm file lies, or its bytes. Rejects if it cannot be run. */
export async function start(wasm: URL | Uint8Array): Promise<void> {
  await init(wasm);
}

/** A refusal of the engine as plain data, which crosses the border of a worker. */
export interface Refusal {
  code: string;
  message: string;
}

export function refusal(error: unknown): Refusal {
  if (error instanceof EvenkeelError) return { code: error.code, message: error.message };
  return { code: 'FAILED', message: error instanceof Error ? error.message : String(error) };
}
