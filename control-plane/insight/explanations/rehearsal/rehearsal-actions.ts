import {
  type Clickhouse,
  ClickhouseReadError,
  type ClickhouseShare,
  readAs,
} from '../../../foundation/platform/clickhouse.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { createYieldPoint, monotonicMs } from '../../../foundation/platform/time/clock.ts'
import { tooBusy, validationError } from '../../../foundation/web/server/errors.ts'
import type { StoredMonitor } from '../../../monitoring/monitors/types.ts'
import { toStoredAttempt } from './attempt-row.ts'
import type { ChangeLimits } from './limits.ts'
import { computeDelay, findDifference, findStatusBefore, summarizeOutages } from './periods.ts'
import { createArrivalNotes, describeDifference, listMissingSettings } from './reasons.ts'
import { countAttempts, listPolicies, listRegionChanges, listStoredSteps, streamAttempts } from './rehearsal-store.ts'
import { createRehearsal, type RehearsalInputs } from './replay/rehearse.ts'
import type { RegionChange, RehearsalReason, StatusStep, StoredStep } from './replay/types.ts'
import { formatOutcome } from './sentence.ts'

/** The largest number of results a request. */
export const MAX_ATTEMPTS = 300_000
/** The largest number of stored changes that are read, of the transitions and of each region. */
const MAX_CHANGES = 5_000
const REHEARSAL_TIMEOUT_MS = 30_000
/** How many results are decided between two pauses. */
const ATTEMPTS_PER_PIECE = 20
/** Time before the period, from which the regions get their votes again. */
const QUORUM_DELAY_MS = 6 * 60_000

type Span = { fromMs: number; toMs: number }
type Tools = { db: Db; clickhouse: Clickhouse; gone: AbortSignal }

/** The verdict over a period with the stored settings and with changed ones. */
export type RehearsalOutcome = ReturnType<typeof summarize>

/**
 * Repeats the verdict of a monitor over a period with changed settings, and with the stored ones as a proof. Throws 400 when
 * the period has too many checks, and 503 when it takes too long or ClickHouse cannot be reached.
 */
export async function rehearse(
  tools: Tools,
  monitor: StoredMonitor,
  { change, limits }: ChangeLimits,
  span: Span,
  nowMs: number,
): Promise<RehearsalOutcome> {
  const warm = { fromMs: span.fromMs - computeWarmUpMs(monitor), toMs: span.toMs }
  const share = { key: monitor.projectId, signal: tools.gone }
  const scheduled = await readAs(tools.clickhouse, share, reads => countAttempts(reads, monitor.id, warm))
  if (scheduled > MAX_ATTEMPTS) {
    const message = `the period has ${scheduled} checks; at most ${MAX_ATTEMPTS} can be rehearsed, so choose a shorter one`
    throw validationError([{ path: 'from', message }])
  }
  const { inputs, stored, reasons, knownEpochs } = await loadInputs(tools.db, monitor, warm)
  const isUnchanged = Object.keys(change).length === 0
  const current = createRehearsal(inputs, {})
  const changed = isUnchanged ? null : createRehearsal(inputs, change)
  const notes = createArrivalNotes(knownEpochs)
  let attempts = 0
  await readAs(tools.clickhouse, { ...share, timeoutMs: REHEARSAL_TIMEOUT_MS }, async reads => {
    for await (const one of readAttempts(reads, monitor.id, warm)) {
      attempts++
      notes.add(one)
      current.add(one)
      changed?.add(one)
    }
  })
  const before = current.finish(span.toMs)
  const differenceMs = findDifference(stored, before, span)
  const difference = differenceMs === null ? [] : [describeDifference(differenceMs, nowMs)]
  const isPossible =
    !change.regions || inputs.policies.some(one => one.regions.some(name => change.regions!.includes(name)))
  const after = changed ? changed.finish(span.toMs) : before
  const found = { stored: stored.filter(({ atMs }) => atMs >= warm.fromMs), after: isPossible ? after : null, attempts }
  return summarize(inputs, found, span, limits, [...reasons, ...notes.list(), ...difference])
}

/** Long enough for each region to fail by its schedule alone, and for every vote from before to expire. */
const computeWarmUpMs = ({ intervalSeconds, timeoutMs, retryCount }: StoredMonitor): number =>
  Math.max(6, retryCount + 2) * intervalSeconds * 1_000 + 2 * timeoutMs + QUORUM_DELAY_MS

/** Yields to other work, and ends with 503 after the time limit. */
async function* readAttempts(reads: ClickhouseShare, monitorId: string, span: Span) {
  const untilMs = monotonicMs() + REHEARSAL_TIMEOUT_MS
  const pause = createYieldPoint()
  const late = () => tooBusy('the rehearsal takes too long')
  let read = 0
  try {
    for await (const rows of streamAttempts(reads, monitorId, span)) {
      for (const row of rows) {
        const attempt = toStoredAttempt(monitorId, row.json())
        if (attempt.takenAtMs < span.toMs) yield attempt
        if (++read % ATTEMPTS_PER_PIECE === 0) await pause()
      }
      if (monotonicMs() > untilMs) throw late()
    }
  } catch (error) {
    throw error instanceof ClickhouseReadError && error.isLate ? late() : error
  }
}

async function loadInputs(db: Db, monitor: StoredMonitor, warm: Span) {
  const { id, projectId } = monitor
  const known = await listPolicies(db, id, warm)
  const policies = known.length > 0 ? known : [toPolicy(monitor, warm.toMs)]
  const regions = [...new Set(policies.flatMap(one => one.regions))]
  const [regionChanges, steps] = await Promise.all([
    listRegionChanges(db, regions, warm, MAX_CHANGES),
    listStoredSteps(db, { projectId, monitorId: id }, warm, MAX_CHANGES),
  ])
  const inputs: RehearsalInputs = {
    ...{ monitorId: id, policies, regionChanges },
    losses: steps.filter(({ to, knownAtMs }) => to === null && knownAtMs >= warm.fromMs),
    initial: findStatusBefore(steps, warm.fromMs),
  }
  const beginMs = Math.max(warm.fromMs, monitor.createdAt.getTime() + CREATION_MS)
  return {
    inputs,
    stored: steps,
    reasons: listMissingSettings(known[0]?.atMs ?? null, beginMs),
    knownEpochs: findKnownEpochs(regions, regionChanges, warm.fromMs),
  }
}

/** The first epoch of each region that is known in the period. An epoch that began before the period needs no other. */
function findKnownEpochs(regions: string[], changes: RegionChange[], fromMs: number): Map<string, number> {
  const known = new Map<string, number>()
  for (const name of regions) {
    const first = changes.find(({ region }) => region === name)
    if (!first || first.atMs > fromMs) known.set(name, first?.epoch ?? Number.POSITIVE_INFINITY)
  }
  return known
}

/** The first policy of a monitor is stored this long after it was created, at most. */
const CREATION_MS = 60_000

const toPolicy = (monitor: StoredMonitor, atMs: number) => ({
  ...{ atMs, configVersion: monitor.configVersion, streaksSince: 1, regions: monitor.regions },
  ...{ retryCount: monitor.retryCount, intervalSeconds: monitor.intervalSeconds, timeoutMs: monitor.timeoutMs },
  ...{ witness: monitor.witness, isPaused: false },
})

function summarize(
  { initial }: RehearsalInputs,
  { stored, after, attempts }: { stored: StoredStep[]; after: StatusStep[] | null; attempts: number },
  span: Span,
  limits: RehearsalReason[],
  reasons: RehearsalReason[],
) {
  const before = summarizeOutages(initial, stored, span)
  const changed = after && summarizeOutages(initial, after, span)
  const delayMs = changed && computeDelay(before.outages, changed.outages, span.fromMs)
  return {
    before,
    after: changed,
    delayMs,
    sentence: formatOutcome(before, changed, delayMs),
    attempts,
    limits,
    reasons,
  }
}
