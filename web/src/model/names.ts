/** Strategies by the names that snapshots and consumers use: short ones, those members agree on, and Java's classes. */
import type { Strategy, StrategyName } from '../types';

const NAMES: Readonly<Record<string, StrategyName>> = {
  avg: 'AVG',
  AllocateMessageQueueAveragely: 'AVG',
  circle: 'AVG_BY_CIRCLE',
  AllocateMessageQueueAveragelyByCircle: 'AVG_BY_CIRCLE',
  hash: 'CONSISTENT_HASH',
  AllocateMessageQueueConsistentHash: 'CONSISTENT_HASH',
  draft: 'AVG_BY_DRAFT',
  rooms: 'MACHINE_ROOM',
  AllocateMessageQueueByMachineRoom: 'MACHINE_ROOM',
  nearby: 'MACHINE_ROOM_NEARBY',
  AllocateMachineRoomNearby: 'MACHINE_ROOM_NEARBY',
  config: 'CONFIG',
  AllocateMessageQueueByConfig: 'CONFIG',
};

export const STRATEGY_NAMES: readonly StrategyName[] = [
  'AVG',
  'AVG_BY_CIRCLE',
  'CONSISTENT_HASH',
  'AVG_BY_DRAFT',
  'MACHINE_ROOM',
  'MACHINE_ROOM_NEARBY',
  'CONFIG',
];

/** Null for strategies of somebody's own. */
export function strategyName(text: string): StrategyName | null {
  const plain = text.trim().replace(/^.*\./, '').replace(/:.*$/, '');
  const known = STRATEGY_NAMES.find(
    (name) => name === plain || (plain.startsWith('MACHINE_ROOM_NEARBY-') && name === 'MACHINE_ROOM_NEARBY'),
  );
  return known ?? (Object.hasOwn(NAMES, plain) ? (NAMES[plain] ?? null) : null);
}

/** A strategy with what its name says of its settings; null if it needs more. */
export function namedStrategy(text: string): Strategy | null {
  const name = strategyName(text);
  switch (name) {
    case 'CONSISTENT_HASH': {
      const nodes = Number(text.split(':')[1]);
      return Number.isInteger(nodes) && nodes > 0 ? { name, virtualNodes: nodes } : { name };
    }
    case 'AVG':
    case 'AVG_BY_CIRCLE':
    case 'AVG_BY_DRAFT':
      return { name };
    default:
      return null;
  }
}
