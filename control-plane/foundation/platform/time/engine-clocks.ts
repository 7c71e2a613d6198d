import type { RemoteClock } from '../../../../shared/process/remote-clock.ts'
import { createRemoteClock } from '../../../../shared/process/remote-clock.ts'
import { initializeCounter } from '../../../../shared/process/zero-counters.ts'
import type { Nats } from '../nats/client.ts'
import { syncJetstreamClock } from '../nats/jetstream-clock.ts'
import { type Db, query } from '../postgres/client.ts'
import { machineNowMs, monotonicMs, setClockSource, withTimeout } from './clock.ts'
import { type Loop, type LoopTools, startLoop } from './loop.ts'

/** A clock that is set is noticed after this at the latest, as long as its engine answers. */
const SYNC_INTERVAL_MS = 2_000
const ANSWER_TIMEOUT_MS = 5_000
/** A larger difference is reported to the operator. */
const MIN_DISAGREEMENT_MS = 3_000
/** A step of this size is reported too: the clock of a server was set. */
const MIN_STEP_MS = 1_000

type Engine = 'nats' | 'postgres'

export type EngineClocks = Loop & {
  /** engines whose clock disagrees with this machine's by more than 3 s, and by how many seconds it is ahead */
  disagreements(): Partial<Record<Engine, number>>
}

/**
 * Keeps this process on the two clocks that all processes share: JetStream's (`nats.clock`) for schedules, results and
 * verdicts, and PostgreSQL's, which `now()` is from here on, for whatever is due, leased or written down. The machine's own clock decides
 * nothing; how far it is from both is a metric. Resolves when both times are known, or could not be had.
 */
export async function startEngineClocks(tools: LoopTools & { db: Db; nats: Nats }): Promise<EngineClocks> {
  const { db, nats, log, metrics } = tools
  const gauge = metrics.gauge(
    'picket_clock_disagreement_seconds',
    'How far the clock of an engine is ahead of the clock of this machine',
    ['with'],
  )
  const steps = metrics.counter('picket_clock_steps_total', 'How often the clock of an engine was set', ['of'])
  const postgres = createRemoteClock(monotonicMs)
  const clocks: Record<Engine, { clock: RemoteClock; learn: () => Promise<number> }> = {
    nats: { clock: nats.clock, learn: () => syncJetstreamClock(nats) },
    postgres: { clock: postgres, learn: () => syncPostgresClock(db, postgres) },
  }
  const engines = Object.keys(clocks) as Engine[]
  initializeCounter(steps, 'of', engines)
  const ahead = new Map<Engine, number>()

  const ask = async (engine: Engine) => {
    const { clock, learn } = clocks[engine]
    const movedMs = await withTimeout(learn(), ANSWER_TIMEOUT_MS)
    if (movedMs === null) throw new Error(`${engine} did not tell its time in ${ANSWER_TIMEOUT_MS} ms`)
    if (Math.abs(movedMs) > MIN_STEP_MS) {
      steps.inc({ of: engine })
      log.warn({ event: 'clock_step', engine, seconds: toSeconds(movedMs) }, 'the clock of an engine was set')
    }
    compare(engine, clock.nowMs()! - machineNowMs())
  }

  /** Said once when a disagreement begins, and once when it is over. */
  const compare = (engine: Engine, aheadMs: number) => {
    gauge.set({ with: engine }, toSeconds(aheadMs))
    const disagrees = Math.abs(aheadMs) > MIN_DISAGREEMENT_MS
    if (disagrees === ahead.has(engine)) {
      if (disagrees) ahead.set(engine, toSeconds(aheadMs))
      return
    }
    const said = { event: 'clock_disagreement', engine, seconds: toSeconds(aheadMs) }
    if (disagrees) {
      ahead.set(engine, toSeconds(aheadMs))
      log.warn(said, 'the clocks of this machine and of an engine disagree: one of them is wrong')
    } else {
      ahead.delete(engine)
      log.info(said, 'the clocks of this machine and of an engine agree again')
    }
  }

  const round = async () => {
    const failed = (await Promise.allSettled(engines.map(ask))).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  await round().catch(err => log.warn({ err }, 'the time of an engine is not known yet'))
  setClockSource(postgres)
  const loop = startLoop('engine-clocks', SYNC_INTERVAL_MS, tools, round)
  return { ...loop, disagreements: () => Object.fromEntries(ahead) }
}

async function syncPostgresClock(db: Db, clock: RemoteClock): Promise<number> {
  const sentMs = monotonicMs()
  const [row] = await query<{ ms: number }>(
    db,
    'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS float8) AS ms',
  )
  return clock.learn(sentMs, monotonicMs(), row!.ms)
}

const toSeconds = (ms: number) => Math.round(ms) / 1_000
