import { fromZero } from '../../shared/from-zero.ts'
import type { RemoteClock } from '../../shared/remote-clock.ts'
import { createRemoteClock } from '../../shared/remote-clock.ts'
import { believedMs, followClock, inTime, monotonicMs } from './clock.ts'
import { learnLogTime } from './log-clock.ts'
import { type Loop, type LoopTools, startLoop } from './loop.ts'
import type { Nats } from './nats.ts'
import { type Db, query } from './postgres.ts'

/** A clock that is set is noticed after this at the latest, as long as its engine answers. */
const ASK_EVERY_MS = 2_000
const ANSWER_WITHIN_MS = 5_000
/** A larger difference is reported to the operator. */
const DISAGREEMENT_MS = 3_000
/** A step of this size is reported too: the clock of a server was set. */
const STEP_MS = 1_000

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
    nats: { clock: nats.clock, learn: () => learnLogTime(nats) },
    postgres: { clock: postgres, learn: () => learnDatabaseTime(db, postgres) },
  }
  const engines = Object.keys(clocks) as Engine[]
  fromZero(steps, 'of', engines)
  const ahead = new Map<Engine, number>()

  const ask = async (engine: Engine) => {
    const { clock, learn } = clocks[engine]
    const movedMs = await inTime(learn(), ANSWER_WITHIN_MS)
    if (movedMs === null) throw new Error(`${engine} did not tell its time in ${ANSWER_WITHIN_MS} ms`)
    if (Math.abs(movedMs) > STEP_MS) {
      steps.inc({ of: engine })
      log.warn({ event: 'clock_step', engine, seconds: seconds(movedMs) }, 'the clock of an engine was set')
    }
    compare(engine, clock.nowMs()! - believedMs())
  }

  /** Said once when a disagreement begins, and once when it is over. */
  const compare = (engine: Engine, aheadMs: number) => {
    gauge.set({ with: engine }, seconds(aheadMs))
    const disagrees = Math.abs(aheadMs) > DISAGREEMENT_MS
    if (disagrees === ahead.has(engine)) {
      if (disagrees) ahead.set(engine, seconds(aheadMs))
      return
    }
    const said = { event: 'clock_disagreement', engine, seconds: seconds(aheadMs) }
    if (disagrees) {
      ahead.set(engine, seconds(aheadMs))
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
  followClock(postgres)
  const loop = startLoop('engine-clocks', ASK_EVERY_MS, tools, round)
  return { ...loop, disagreements: () => Object.fromEntries(ahead) }
}

async function learnDatabaseTime(db: Db, clock: RemoteClock): Promise<number> {
  const sentMs = monotonicMs()
  const [row] = await query<{ ms: number }>(
    db,
    'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS float8) AS ms',
  )
  return clock.learn(sentMs, monotonicMs(), row!.ms)
}

const seconds = (ms: number) => Math.round(ms) / 1_000
