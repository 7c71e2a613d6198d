import { setTimeout as pause } from 'node:timers/promises'
import { waitFor } from '../support/wait.ts'
import type { ChaosContext } from './context.ts'
import { restartEngine } from './engines.ts'
import { type ChaosFaultKind, type PlannedFault, PROBES_TO_NATS } from './plan.ts'
import { seededRandom } from './random.ts'
import { promoteStandby } from './standby.ts'
import type { System } from './system.ts'
import { createWrongMessages } from './wrong-messages.ts'

/** A fault that was applied. Times in ms since the start of the run. */
export type AppliedFault = { kind: ChaosFaultKind; what: string; fromMs: number; toMs: number }

/** Applies a fault, and resolves when it has ended. */
type ApplyFault = (system: System, fault: PlannedFault, context: ChaosContext) => Promise<unknown>

const MINUTE_MS = 60_000
const JUMPS_MS = [-60, -10, -1, 1, 10, 60].map(minutes => minutes * MINUTE_MS)
/** A creeping clock is 10 % too fast or too slow. */
const CREEP_EVERY_MS = 500
const CREEP_MS = 50

const APPLY: Record<ChaosFaultKind, ApplyFault> = {
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
 * Applies the faults of a plan at their times, and calls `onDone` when one has ended. Resolves when all have ended. A fault
 * that takes longer than planned, for example the start of a standby on a slow machine, delays the next one of the same part.
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
    await APPLY[fault.kind](context.system, fault, context)
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
  // a program that cannot reach an engine at its start exits and is restarted
  const findPid = async () => (await programs.get(what)?.waitUntilRunning()) ?? engines.byName[what]!.pid
  const pid = await waitFor(async () => stopProcess(await findPid()), { label: `${what} to freeze` })
  await pause(lastsMs)
  process.kill(pid, 'SIGCONT')
}

/** Stops a process with SIGSTOP and returns its id. Throws when it does not run. */
function stopProcess(pid: number): number {
  process.kill(pid, 'SIGSTOP')
  return pid
}

/**
 * Fills the disk of a probe or of NATS. A probe needs its spool only while NATS is unreachable, so the link to NATS is cut as
 * well. NATS disables JetStream when its disk is full: it is restarted after space was freed.
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

const MAX_REDELIVERED = 200
const REDELIVERED_SHARE = 0.3

/** Publishes some of the newest messages a second time, in their order and without a message id that identifies them. */
async function redeliverMessages({ nats }: System, { seed }: PlannedFault, { ledger }: ChaosContext): Promise<void> {
  const random = seededRandom(seed)
  for (const { subject, data } of ledger.messages.slice(-MAX_REDELIVERED)) {
    if (!random.chance(REDELIVERED_SHARE)) continue
    await nats.js.publish(subject, data).catch(() => {})
  }
}

/** A message that NATS refuses is not retried. */
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
