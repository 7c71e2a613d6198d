import type { RemoteClock } from '../../../../shared/process/remote-clock.ts'
import { createRemoteClock } from '../../../../shared/process/remote-clock.ts'
import { initializeCounter } from '../../../../shared/process/zero-counters.ts'
import type { Nats } from '../nats/client.ts'
import { syncJetstreamClock } from '../nats/jetstream-clock.ts'
import { type Db, queryPrepared } from '../postgres/client.ts'
import { machineNowMs, monotonicMs, setClockSource, withTimeout } from './clock.ts'
import { type Loop, type LoopTools, startLoop } from './loop.ts'

/** A clock that was set is noticed within this time, as long as its engine answers. */
const SYNC_INTERVAL_MS = 2_000
const ANSWER_TIMEOUT_MS = 5_000
/** A slower answer to another question, which may have waited for a connection, says too little about the time. */
const MAX_ROUND_TRIP_MS = 50
/** A larger difference is reported to the operator. */
const MIN_DISAGREEMENT_MS = 3_000
/** A larger step is reported as well: the clock of a server was set. */
const MIN_STEP_MS = 1_000

type Engine = 'nats' | 'postgres'

/** PostgreSQL's time, ms since 1970, and when it was asked for and received, by the monotonic clock. */
type PostgresTime = { nowMs: number; sentMs: number; receivedMs: number }

export type EngineClocks = Loop & {
  /** Learns PostgreSQL's time from the answer to another question. While there are such answers, it is not asked for by itself. */
  learnPostgres(time: PostgresTime): void
  /** engines whose clock differs from this machine's by more than 3 s, and by how many seconds it is ahead */
  disagreements(): Partial<Record<Engine, number>>
}

/**
 * Follows the two clocks that all processes share: JetStream's (`nats.clock`) for schedules, results and verdicts, and
 * PostgreSQL's (the source of `now()` from here on) for what is due, leased or stored. The machine's own clock decides
 * nothing; its difference to both is a metric. Resolves when both times are known or could not be learned. `replicas`: of the
 * stream that teaches JetStream's time, when it is created.
 */
export async function startEngineClocks(
  tools: LoopTools & { db: Db; nats: Nats; replicas?: number },
): Promise<EngineClocks> {
  const { db, nats, log, metrics, replicas } = tools
  const gauge = metrics.gauge(
    'picket_clock_disagreement_seconds',
    'How far the clock of an engine is ahead of the clock of this machine',
    ['with'],
  )
  const steps = metrics.counter('picket_clock_steps_total', 'How often the clock of an engine was set', ['of'])
  const postgres = createRemoteClock(monotonicMs)
  let learnedMs = Number.NEGATIVE_INFINITY
  /** `isKnown`: it was learned since the last round. */
  const clocks: Record<Engine, { clock: RemoteClock; sync: () => Promise<number>; isKnown: () => boolean }> = {
    nats: { clock: nats.clock, sync: () => syncJetstreamClock(nats, replicas), isKnown: () => false },
    postgres: {
      clock: postgres,
      sync: () => syncPostgresClock(db, postgres),
      isKnown: () => monotonicMs() - learnedMs < SYNC_INTERVAL_MS,
    },
  }
  const engines = Object.keys(clocks) as Engine[]
  initializeCounter(steps, 'of', engines)
  const ahead = new Map<Engine, number>()

  const syncEngine = async (engine: Engine) => {
    const { sync, isKnown } = clocks[engine]
    if (isKnown()) return
    const movedMs = await withTimeout(sync(), ANSWER_TIMEOUT_MS)
    if (movedMs === null) throw new Error(`${engine} did not return its time within ${ANSWER_TIMEOUT_MS} ms`)
    report(engine, movedMs)
  }

  const report = (engine: Engine, movedMs: number) => {
    if (Math.abs(movedMs) > MIN_STEP_MS) {
      steps.inc({ of: engine })
      log.warn({ event: 'clock_step', engine, seconds: toSeconds(movedMs) }, 'the clock of an engine was set')
    }
    compare(engine, clocks[engine].clock.nowMs()! - machineNowMs())
  }

  /** Logs once when a disagreement begins and once when it ends. */
  const compare = (engine: Engine, aheadMs: number) => {
    gauge.set({ with: engine }, toSeconds(aheadMs))
    const disagrees = Math.abs(aheadMs) > MIN_DISAGREEMENT_MS
    if (disagrees === ahead.has(engine)) {
      if (disagrees) ahead.set(engine, toSeconds(aheadMs))
      return
    }
    const details = { event: 'clock_disagreement', engine, seconds: toSeconds(aheadMs) }
    if (disagrees) {
      ahead.set(engine, toSeconds(aheadMs))
      log.warn(details, 'the clocks of this machine and of an engine differ: one of them is wrong')
    } else {
      ahead.delete(engine)
      log.info(details, 'the clocks of this machine and of an engine agree again')
    }
  }

  const round = async () => {
    const failed = (await Promise.allSettled(engines.map(syncEngine))).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  await round().catch(err => log.warn({ err }, 'the time of an engine is not known yet'))
  setClockSource(postgres)
  const loop = startLoop('engine-clocks', SYNC_INTERVAL_MS, tools, round)
  return {
    ...loop,
    learnPostgres({ nowMs, sentMs, receivedMs }) {
      if (receivedMs - sentMs > MAX_ROUND_TRIP_MS) return
      learnedMs = receivedMs
      report('postgres', postgres.learn(sentMs, receivedMs, nowMs))
    },
    disagreements: () => Object.fromEntries(ahead),
  }
}

async function syncPostgresClock(db: Db, clock: RemoteClock): Promise<number> {
  const sentMs = monotonicMs()
  const [row] = await queryPrepared<{ ms: number }>(
    db,
    'postgres-clock',
    'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS float8) AS ms',
  )
  return clock.learn(sentMs, monotonicMs(), row!.ms)
}

const toSeconds = (ms: number) => Math.round(ms) / 1_000
