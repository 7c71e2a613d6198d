import { setTimeout as pause } from 'node:timers/promises'
import { waitFor } from '../support/wait.ts'
import type { ChaosContext } from './context.ts'
import { restartEngine } from './engines.ts'
import { type ChaosFaultKind, type PlannedFault, PROBES_TO_NATS } from './plan.ts'
import { seededRandom } from './random.ts'
import { promoteStandby } from './standby.ts'
import type { System } from './system.ts'
import { createWrongMessages } from './wrong-messages.ts'

/** A fault as it was; times in ms since the run began. */
export type AppliedFault = { kind: ChaosFaultKind; what: string; fromMs: number; toMs: number }

/** Does what a fault does, and resolves when it is over. */
type Act = (system: System, fault: PlannedFault, context: ChaosContext) => Promise<unknown>

const MINUTE_MS = 60_000
const JUMPS_MS = [-60, -10, -1, 1, 10, 60].map(minutes => minutes * MINUTE_MS)
/** A clock that creeps gains or loses a tenth. */
const CREEP_EVERY_MS = 500
const CREEP_MS = 50

const ACTS: Record<ChaosFaultKind, Act> = {
  async kill({ programs }, { what, lastsMs }) {
    programs.get(what)!.killFor(lastsMs)
    await pause(lastsMs)
  },
  freeze,
  'two owners': freeze,
  async 'cut link'({ links }, { what, lastsMs }) {
    await links.get(what)!.cut()
    await pause(lastsMs)
    await links.get(what)!.restore()
  },
  async 'held link'({ links }, { what, lastsMs }) {
    links.get(what)!.hold()
    await pause(lastsMs)
    await links.get(what)!.restore()
  },
  async 'swallowing link'({ links }, { what, lastsMs }) {
    links.get(what)!.swallow()
    await pause(lastsMs)
    await links.get(what)!.restore()
  },
  async 'silent link'({ links }, { what, lastsMs }) {
    links.get(what)!.abandon()
    await pause(lastsMs)
  },
  async 'kill engine'({ engines }, { what, lastsMs }) {
    const engine = engines.byName[what]!
    await engine.kill9()
    await pause(lastsMs)
    await restartEngine(engine)
  },
  async 'restart engine'({ engines }, { what, lastsMs }) {
    const engine = engines.byName[what]!
    await engine.stop()
    await pause(lastsMs)
    await restartEngine(engine)
  },
  async 'lost seconds'(system, { lastsMs }) {
    system.lostPeriods.push(await promoteStandby(system.engines, lastsMs))
  },
  'full disk': fillDisk,
  async 'clock jump'({ clocks }, { what, lastsMs, seed }) {
    const clock = clocks.get(what)!
    await clock.setAhead(seededRandom(seed).pick(JUMPS_MS))
    await pause(lastsMs)
    await clock.setAhead(0)
  },
  async 'creeping clock'({ clocks }, { what, lastsMs, seed }) {
    const clock = clocks.get(what)!
    const stepMs = seededRandom(seed).pick([-CREEP_MS, CREEP_MS])
    for (let i = 1; i * CREEP_EVERY_MS < lastsMs; i++) {
      await clock.setAhead(i * stepMs)
      await pause(CREEP_EVERY_MS)
    }
    await clock.setAhead(0)
  },
  redelivery: redeliverMessages,
  'wrong messages': publishWrongMessages,
  'bad tenant': ({ otherTenant }, { lastsMs }) => otherTenant.misbehave(lastsMs),
}

/**
 * Runs the faults of a plan by its clock; `onDone` is called with each that is over. All are over when it resolves. One that
 * takes longer than planned, as the start of a standby on a slow machine, delays the next one of the same thing.
 */
export async function applyFaults(
  planned: readonly PlannedFault[],
  context: ChaosContext,
  onDone: (fault: AppliedFault) => void,
): Promise<void> {
  const beganMs = performance.now()
  const sinceBeginMs = () => Math.round(performance.now() - beganMs)
  const last = new Map<string, Promise<void>>()
  const one = async (fault: PlannedFault, before = last.get(fault.what)) => {
    await pause(Math.max(0, fault.atMs - sinceBeginMs()))
    await before
    const fromMs = sinceBeginMs()
    await ACTS[fault.kind](context.system, fault, context)
    onDone({ kind: fault.kind, what: fault.what, fromMs, toMs: sinceBeginMs() })
  }
  const inOrder = [...planned].sort((a, b) => a.atMs - b.atMs)
  await Promise.all(
    inOrder.map(fault => {
      const done = one(fault)
      last.set(fault.what, done)
      return done
    }),
  )
}

async function freeze({ programs, engines }: System, { what, lastsMs }: PlannedFault): Promise<void> {
  // a program that finds an engine away at its start ends, and is started again
  const pidOf = async () => (await programs.get(what)?.waitUntilRunning()) ?? engines.byName[what]!.pid
  const pid = await waitFor(async () => stopProcess(await pidOf()), { label: `${what} to freeze` })
  await pause(lastsMs)
  process.kill(pid, 'SIGCONT')
}

/** The id, of a process that runs and is stopped now; throws when there is none. */
function stopProcess(pid: number): number {
  process.kill(pid, 'SIGSTOP')
  return pid
}

/**
 * A spool is needed only while NATS is away, so that goes with it. A NATS whose disk was full has given JetStream up:
 * the operator makes room and starts it again.
 */
async function fillDisk({ disks, links, engines }: System, { what, lastsMs }: PlannedFault): Promise<void> {
  const disk = disks.get(what)!
  const isEngine = what in engines.byName
  disk.fill()
  if (!isEngine) await links.get(PROBES_TO_NATS)!.cut()
  await pause(lastsMs)
  disk.empty()
  if (isEngine) await restartEngine(engines.byName[what]!)
  else await links.get(PROBES_TO_NATS)!.restore()
}

const AGAIN_AT_MOST = 200
const AGAIN_SHARE = 0.3

/** Some of the newest messages a second time, in their order, with nothing that tells them from news. */
async function redeliverMessages({ nats }: System, { seed }: PlannedFault, { ledger }: ChaosContext): Promise<void> {
  const random = seededRandom(seed)
  for (const { subject, data } of ledger.messages.slice(-AGAIN_AT_MOST)) {
    if (!random.chance(AGAIN_SHARE)) continue
    await nats.js.publish(subject, data).catch(() => {})
  }
}

/** What NATS does not take is not asked for again. */
async function publishWrongMessages(
  { nats }: System,
  { what, seed }: PlannedFault,
  { scale, monitorIds }: ChaosContext,
): Promise<void> {
  const around = { stream: what, regions: scale.regions, monitorIds, nowMs: Date.now() }
  for (const { subject, data } of createWrongMessages(seededRandom(seed), around)) {
    await nats.js.publish(subject, data).catch(() => {})
  }
}
