import type { Random } from '../chaos/random.ts'
import type { SimulatedFault, SimulatedFaultKind } from './plan.ts'

type ClickhousePlanOptions = {
  kinds: readonly SimulatedFaultKind[]
  rates: Record<SimulatedFaultKind, { aYear: number; minMs: number; maxMs: number }>
  /** the part of a year, multiplied by the factor */
  share: number
  spread: (random: Random, minMs: number, maxMs: number) => number
  firstMs: number
  lastMs: number
}

const MIN_FAULT_MS = 2_000
/** The simulated stream keeps 40 minutes, by its clock. A result must not wait longer for the history. */
const MAX_WAIT_MS = 34 * 60_000
const NEAR_MS = 40 * 60_000

export const isClickhouseFault = (kind: SimulatedFaultKind): boolean => kind.startsWith('clickhouse-')

/**
 * Plans faults of ClickHouse with a random of their own, so the other events of a seed stay as they are. They are shorter
 * near other faults that delay the history: no result leaves the stream before it can be recorded.
 */
export function planClickhouseFaults(
  random: Random,
  others: readonly SimulatedFault[],
  { kinds, rates, share, spread, firstMs, lastMs }: ClickhousePlanOptions,
): SimulatedFault[] {
  const drawn = kinds.flatMap(kind => {
    const { aYear, minMs, maxMs } = rates[kind]
    const amount = Math.floor(aYear * share) + (random.chance((aYear * share) % 1) ? 1 : 0)
    return Array.from({ length: amount }, () => {
      const fromMs = random.between(firstMs, lastMs)
      return { kind, place: '', fromMs, lengthMs: spread(random, minMs, maxMs), size: 1 }
    })
  })
  const planned: SimulatedFault[] = []
  for (const { lengthMs, ...fault } of drawn.sort((a, b) => a.fromMs - b.fromMs)) {
    const { fromMs } = fault
    const near = [...others, ...planned].filter(
      other => other.fromMs < fromMs + lengthMs + NEAR_MS && other.toMs > fromMs - NEAR_MS,
    )
    const leftMs = MAX_WAIT_MS - near.reduce((sum, other) => sum + getWaitMs(other), 0)
    if (leftMs >= MIN_FAULT_MS) planned.push({ ...fault, toMs: fromMs + Math.min(lengthMs, leftMs) })
  }
  return planned
}

/** How much longer results may wait in the stream because of a fault. */
function getWaitMs({ kind, fromMs, toMs, size }: SimulatedFault): number {
  if (kind === 'nats-clock-set') return Math.max(0, size)
  return /^(nats-away|postgres-away|postgres-restored|fleet-killed|clickhouse-)/.test(kind) ? toMs - fromMs : 0
}
