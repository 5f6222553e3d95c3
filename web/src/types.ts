/** The engine's types, for modules that must not pull in the engine itself: only the worker loads the wasm. */
export type {
  Allocation,
  Change,
  Finding,
  Language,
  Move,
  Parsed,
  PlanReport,
  PlanResult,
  Problem,
  QueueRef,
  Range,
  Refusal,
  RoomRules,
  Snapshot,
  Strategy,
  StrategyName,
} from './engine';
