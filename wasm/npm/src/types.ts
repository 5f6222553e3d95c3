// The shapes of core's `report` layer. test/types.test.mjs has TypeScript check real answers against them, so that a field
// that Rust adds, drops or renames fails there.

/** A client id. */
export type ConsumerId = string;

/** One queue. */
export interface QueueRef {
  readonly topic: string;
  readonly broker: string;
  readonly id: number;
}

export type StrategyName =
  | 'AVG'
  | 'AVG_BY_CIRCLE'
  | 'CONSISTENT_HASH'
  | 'MACHINE_ROOM'
  | 'MACHINE_ROOM_NEARBY'
  | 'CONFIG'
  | 'AVG_BY_DRAFT';

/** A strategy with its settings, or a short name: `'avg'`, `'circle'`, `'hash'`, `'hash:20'`, `'draft'`, a Java class. */
export type Strategy = StrategySettings | (string & {});

export type StrategySettings =
  /** Consecutive runs. */
  | { readonly name: 'AVG' }
  /** Dealt like cards. */
  | { readonly name: 'AVG_BY_CIRCLE' }
  /** A hash ring. `virtualNodes`: points of each consumer, default 10. `hash`: whose ring, default Java's. */
  | { readonly name: 'CONSISTENT_HASH'; readonly virtualNodes?: number; readonly hash?: 'java-md5' | 'go-crc32' }
  /** Queues of certain rooms, by brokers called `room@name`. */
  | { readonly name: 'MACHINE_ROOM'; readonly rooms: readonly string[] }
  /** Each room for its own consumers; `inner` says how a room's queues are shared. */
  | { readonly name: 'MACHINE_ROOM_NEARBY'; readonly inner: Strategy; readonly roomOf: RoomRules }
  /** Lists written down beforehand. Who is not named gets nothing. */
  | { readonly name: 'CONFIG'; readonly queues: Readonly<Record<ConsumerId, readonly QueueRef[]>> }
  /** Ours: even, and little moves. All consumers of the group have to run it. */
  | {
      readonly name: 'AVG_BY_DRAFT';
      readonly slack?: number;
      readonly identity?: 'whole' | 'host';
      readonly weights?: Readonly<Record<ConsumerId, number>>;
      readonly rooms?: { readonly rule: 'strict' | 'balanceFirst'; readonly roomOf: RoomRules };
    };

/**
 * Who stands in which machine room: both tables, or what stands before the first `separator` of a name. A regular
 * expression stands for a table of the names that the snapshot and the changes have: the room is its first group.
 */
export type RoomRules =
  | {
      readonly brokers: Readonly<Record<string, string>> | RegExp;
      readonly consumers: Readonly<Record<ConsumerId, string>> | RegExp;
    }
  | { readonly separator: string };

/** A group at one moment; what `evenkeel snapshot` writes. */
export interface Snapshot {
  readonly schema: 'evenkeel.snapshot/1';
  readonly group?: string;
  /** When it was seen, as RFC 3339. */
  readonly takenAt?: string;
  readonly topics: readonly TopicSeen[];
  /** The processes that brokers list, in any order: a client id twice if two processes have it. */
  readonly consumers: readonly ConsumerSeen[];
  /** Who decides which consumer reads which queue. Default: the consumers, by their strategy. */
  readonly sharing?: 'consumers' | 'nobody' | 'broker';
  /** What all consumers run. Without it, what most of them say, and AVG if none does. */
  readonly strategy?: Strategy;
  /** The owners by the consumers' own answers. A queue that is missing has none; without the list they are not known. */
  readonly owned?: readonly OwnedQueue[];
  readonly load?: readonly QueueLoad[];
  /** Whether names are pseudonyms, see `redact`. */
  readonly redacted?: boolean;
}

export interface TopicSeen {
  readonly topic: string;
  readonly brokers: readonly BrokerSeen[];
}

export interface BrokerSeen {
  readonly broker: string;
  /** Queues from 0 up to one less than this can be read. */
  readonly readQueues: number;
  /** Default true; if not, the queues do not count. */
  readonly readable?: boolean;
}

export interface ConsumerSeen {
  readonly id: ConsumerId;
  /** Where it connects from, `host:port`. */
  readonly address?: string;
  /** As brokers write it: `JAVA`, `GO`, `RUST`. */
  readonly language?: string;
  readonly version?: string;
  /** As the consumer calls it: a name or a Java class. */
  readonly strategy?: StrategyName | (string & {});
  /** What it has subscribed to; read only if there are no `subscriptions`. */
  readonly topics?: readonly string[];
  /** The same with each topic's expression. */
  readonly subscriptions?: Readonly<Record<string, string>>;
  /** Whether it told what it runs and owns. Default true if the snapshot has `owned`. */
  readonly answered?: boolean;
  /** What its CONFIG strategy lists. */
  readonly listed?: readonly QueueRef[];
}

export interface OwnedQueue {
  readonly queue: QueueRef;
  readonly owners: readonly ConsumerId[];
}

export interface QueueLoad {
  readonly queue: QueueRef;
  /** How many messages wait. Beyond 2^53 a bigint or a decimal string; what comes back is then a decimal string. */
  readonly lag?: number | bigint | string;
  /** Messages a second. */
  readonly tps?: number;
}

/** How even an allocation is. */
export interface AllocationStats {
  readonly queues: number;
  readonly consumers: number;
  readonly min: number;
  readonly max: number;
  readonly skew: number;
  readonly idle: readonly ConsumerId[];
  readonly orphaned: readonly QueueRef[];
  readonly doubled: readonly QueueRef[];
}

/** Something that happens to a group. A `count` is of consumers whose ids are not known. */
export type Change =
  | { readonly kind: 'add'; readonly ids: readonly ConsumerId[] }
  | { readonly kind: 'add'; readonly count: number }
  | { readonly kind: 'remove'; readonly ids: readonly ConsumerId[] }
  | { readonly kind: 'remove'; readonly count: number }
  | { readonly kind: 'queues'; readonly topic: string; readonly broker: string; readonly readQueues: number }
  | { readonly kind: 'dropBroker'; readonly broker: string }
  | { readonly kind: 'permissionLost'; readonly topic?: string; readonly broker: string }
  | { readonly kind: 'strategy'; readonly to: Strategy }
  | { readonly kind: 'roll'; readonly ids: 'stable' | 'new' | readonly ConsumerId[] };

export interface PlanOptions {
  /** The strategies to try; default all that can be computed with what the snapshot says. */
  readonly strategies?: readonly Strategy[] | 'all';
  /**
   * Strategies whose settings are known beyond what the snapshot says, as a link carries them. If all are tried, these
   * are, and not their namesakes with default settings. If most consumers run the name of one, the group runs it.
   */
  readonly settings?: readonly Strategy[];
  /** So many queues may change hands, summed over the steps of a rolling restart. */
  readonly maxMoves?: number;
  /** So far may the most and the fewest queues of a consumer be apart. */
  readonly maxSkew?: number;
  /** How many trials, where ids are not known; default as many as take little time. */
  readonly samples?: number;
  /** Equal seeds give equal trials. Default 0. */
  readonly seed?: number;
  /** Whether moves of retry topics are listed. They are counted either way. */
  readonly retry?: boolean;
  /** Whether moves are counted and not listed, which takes less time. Default false. */
  readonly countsOnly?: boolean;
  /** The language of warnings. Default `en`. */
  readonly language?: Language;
  readonly signal?: AbortSignal;
}

/** A number that may depend on what is not known. */
export interface Range {
  /** The least: over everything possible if the range is exact, else over the middle 95 of 100 trials. */
  readonly min: number;
  /** The median. */
  readonly typical: number;
  readonly max: number;
  readonly exact: boolean;
  /** How many trials it comes from, if any. */
  readonly samples?: number;
}

/** A queue that changes hands. */
export interface Move {
  readonly queue: QueueRef;
  readonly from: ConsumerId | null;
  readonly to: ConsumerId | null;
  /** Everyone who has it before, if several do. */
  readonly fromAll?: readonly ConsumerId[];
  readonly toAll?: readonly ConsumerId[];
}

/** Field for field what `evenkeel plan --json` prints. */
export interface PlanReport {
  readonly schema: 'evenkeel.plan/1';
  readonly group?: string;
  readonly topics: readonly string[];
  readonly before: GroupSize;
  readonly after: GroupSize;
  readonly results: readonly PlanResult[];
  /** Strategies that were not tried, and why. */
  readonly skipped?: ReadonlyArray<{ readonly strategy: string; readonly why: string }>;
  /** Only if the options have a limit. */
  readonly limits?: { readonly maxMoves?: number; readonly maxSkew?: number; readonly passed: boolean };
  readonly warnings: readonly Finding[];
}

export interface GroupSize {
  readonly consumers: number;
  readonly queues: number;
}

export interface PlanResult {
  readonly strategy: StrategyName;
  /** Its settings, where they are not the default. */
  readonly settings?: StrategySettings;
  /** Whether the group runs it now. */
  readonly running?: boolean;
  /** Queues with another owner at the end, of those that are there before and after. */
  readonly moved: Range;
  readonly kept: Range;
  /** How many times queues change hands on the way; only if that is not `moved`. */
  readonly handedOver?: Range;
  readonly added: number;
  readonly removed: number;
  /** The fewest moves that could lead to any result in which every topic is even. */
  readonly floor: number;
  readonly perConsumer: PerConsumer;
  /** Empty while ids are not known. */
  readonly moves: readonly Move[];
  /** Moves of retry topics, which are counted and not listed. */
  readonly hiddenMoves?: number;
  /** Queues of each consumer before and after. */
  readonly members?: ReadonlyArray<{ readonly id: ConsumerId; readonly before?: number; readonly after?: number }>;
  /** The steps on the way, if there are several. */
  readonly steps?: ReadonlyArray<{ readonly label: string; readonly moved: number; readonly total: number }>;
}

export interface PerConsumer {
  readonly min: number;
  readonly max: number;
  readonly skew: number;
  /** Over all trials, if ids are not known. */
  readonly skewRange?: Range;
  /** Queues of each consumer, in the order of their ids. */
  readonly loads: readonly number[];
  /** Those without known ids are called `(new)`. */
  readonly idle: readonly ConsumerId[];
}

/** What findings are told in: English, or Chinese in simplified characters. */
export type Language = 'en' | 'zh';

/** Something about a group, or about a change to it, that its owner should know. */
export interface Finding {
  readonly code: `R${number}`;
  readonly level: 'error' | 'warning' | 'info';
  readonly text: string;
  /** What it does, in numbers. */
  readonly effect?: string;
  readonly fix: string;
  readonly consumers?: readonly ConsumerId[];
  readonly queues?: readonly QueueRef[];
}

/** Field for field what `evenkeel verify --json` prints. */
export interface VerifyReport {
  readonly schema: 'evenkeel.verify/1';
  readonly group?: string;
  readonly topics: readonly string[];
  /** Who decides which consumer reads which queue; left out if it is the consumers. */
  readonly sharing?: 'nobody' | 'broker';
  /** The strategy that is expected of all. */
  readonly strategy: string;
  readonly queues: number;
  /** How many processes the brokers list. */
  readonly connections: number;
  /** Whether nothing was found that is an error. */
  readonly healthy: boolean;
  readonly findings: readonly Finding[];
  readonly consumers: readonly ConsumerVerdict[];
  readonly orphaned: readonly QueueRef[];
  readonly doubled: ReadonlyArray<{ readonly queue: QueueRef; readonly owners: readonly ConsumerId[] }>;
}

export interface ConsumerVerdict {
  readonly id: ConsumerId;
  /** How many processes have it; left out if it is one, as it should be. */
  readonly processes?: number;
  /** How many queues it should have. */
  readonly expected?: number;
  /** How many it has; left out if owners are not known. */
  readonly actual?: number;
  /** Whether it told what it owns; left out if nobody was asked. */
  readonly answered?: boolean;
}

/** What a finding's code means. */
export interface Explanation {
  readonly code: `R${number}`;
  /** How bad it is at worst. */
  readonly level: 'error' | 'warning' | 'info';
  /** In a few words. */
  readonly title: string;
  /** What was found, and what it does to the group. */
  readonly meaning: string;
  /** Where it comes from. */
  readonly cause: string;
  /** What to do. */
  readonly fix: string;
}

/** What a pasted text was recognised as. */
export type PasteKind =
  | 'topicRoute'
  | 'topicStatus'
  | 'consumerProgress'
  | 'consumerConnection'
  | 'allocateMQ'
  | 'dashboard'
  | 'snapshot'
  | 'list'
  | 'clientLog';

/** What pasted texts say. */
export interface Parsed {
  /** What was recognised, each once, in the order in which it came. */
  readonly kinds: readonly PasteKind[];
  /** What is known. Topics, consumers, or both may be missing yet. */
  readonly snapshot: Snapshot;
  /** What was not understood, by text and line, and then what is missing. */
  readonly problems: readonly ParseProblem[];
  /** How many lines there are that are not blank. */
  readonly lines: number;
}

export interface ParseProblem {
  /** Which of several texts, from 0; left out for the first. */
  readonly paste?: number;
  /** From 1. */
  readonly line: number;
  /** How many lines it is about; left out if it is one. */
  readonly lines?: number;
  readonly text: string;
  readonly expected: string;
}
