/** What the page and its worker say to each other. All of it is plain data. */
import type { Change, Finding, Parsed, PlanResult, Range, Refusal, Snapshot, Strategy, StrategyName } from '../types';

/** What the engine runs: what was compiled already, or where it lies, or its bytes. */
export type Wasm = WebAssembly.Module | string | Uint8Array<ArrayBuffer>;

export type Request =
  | { kind: 'start'; wasm: Wasm }
  | { kind: 'run'; id: number; job: Job }
  | { kind: 'parse'; id: number; before: readonly string[]; text: string }
  | { kind: 'link'; id: number; plan: Linked; redact: boolean }
  | { kind: 'open'; id: number; url: string }
  | { kind: 'report'; id: number; job: Job }
  | { kind: 'roll'; id: number; job: Job };

/** What a link carries. */
export interface Linked {
  snapshot: Snapshot;
  changes: readonly Change[];
  /** Strategies with settings, besides the running one. */
  strategies: readonly Strategy[];
}

export interface Job {
  snapshot: Snapshot;
  changes: readonly Change[];
  /** Each with its settings; the selected one is reckoned first. */
  strategies: readonly Strategy[];
  selected: StrategyName;
}

export type Reply =
  | { kind: 'loaded' }
  | { kind: 'started'; version: Version }
  | { kind: 'broken'; refusal: Refusal }
  | { kind: 'part'; id: number; part: Part; progress: Progress }
  | { kind: 'done'; id: number; milliseconds: number; marks: Marks }
  | { kind: 'answer'; id: number; value: unknown }
  | { kind: 'refused'; id: number; refusal: Refusal };

/** What each question is answered with. */
export interface Answers {
  /** The text alone, and together with those before it. */
  parse: { alone: Parsed; together: Parsed };
  link: string;
  open: Linked;
  report: string;
  roll: Rolling;
}

/** What took how long in a run, in milliseconds. */
export interface Marks {
  /** From the beginning until every strategy had a first answer; the picture and other work in between count. */
  rows: number;
  /** The engine's part of that: the first answers alone. */
  planned: number;
}

export interface Version {
  package: string;
  core: string;
  rocketmqVectors: string;
}

export interface Progress {
  done: number;
  of: number;
}

/** A piece of the result; pieces that are missing keep what the page shows. */
export interface Part {
  rows?: Row[];
  /** Null if the selected strategy has none, and why. */
  picture?: Picture | null;
  refusal?: Refusal | null;
  findings?: Finding[];
  strip?: Strip | null;
}

/** One strategy's line of the table. */
export interface Row {
  strategy: StrategyName;
  /** Without its moves; those are in the picture. */
  result?: PlanResult;
  /** What would move if the ids that join were not known. */
  unknown?: Range;
  refusal?: Refusal;
}

/** Who owns what before and after, in arrays, so that 100,000 queues cross the border of a worker at once. */
export interface Picture {
  strategy: StrategyName;
  /** Sorted as the strategies sort them; of the group before and after together. */
  members: Member[];
  /** A topic's queues on a broker; cells are numbered through all rows. */
  rows: MapRow[];
  /** Per cell: a place in `members`, or one of the values below. */
  before: Int32Array;
  after: Int32Array;
  /** Cells with more than one owner, and all of them. */
  doubledBefore: [cell: number, owners: number[]][];
  doubledAfter: [cell: number, owners: number[]][];
  /** Whether ids or leavers were made up, because they are not known. */
  assumed: boolean;
}

/** Nobody owns the queue. */
export const NOBODY = -1;
/** The queue is not there. */
export const ABSENT = -2;

export interface Member {
  id: string;
  before: boolean;
  after: boolean;
}

export interface MapRow {
  topic: string;
  broker: string;
  /** The number of its first cell. */
  first: number;
  queues: number;
}

/** How much moves for each place that one more id could sort at. */
export interface Strip {
  strategy: StrategyName;
  /** Not every place if there are very many. */
  places: { at: number; id: string; moved: number }[];
  of: number;
}

export interface Rolling {
  strategy: StrategyName;
  stable: readonly RollStep[];
  fresh: readonly RollStep[];
}

export interface RollStep {
  label: string;
  moved: number;
  total: number;
}
