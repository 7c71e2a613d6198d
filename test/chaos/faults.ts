import { setTimeout as pause } from 'node:timers/promises'
import { waitFor } from '../support/wait.ts'
import { restartEngine } from './engines.ts'
import type { Ledger } from './ledger.ts'
import { type FaultKind, type PlannedFault, PROBES_TO_NATS } from './plan.ts'
import type { System } from './system.ts'

/** A fault as it was; times in ms since the run began. */
export type DoneFault = { kind: FaultKind; what: string; fromMs: number; toMs: number }

/** Does what a fault does, and resolves when it is over. */
type Act = (system: System, fault: PlannedFault, ledger: Ledger) => Promise<unknown>

const ACTS: Record<FaultKind, Act> = {
  async kill({ programs }, { what, lastsMs }) {
    programs.get(what)!.killFor(lastsMs)
    await pause(lastsMs)
  },
  freeze,
  'two owners': freeze,
  async 'cut link'({ links }, { what, lastsMs }) {
    await links.get(what)!.cut()
    await pause(lastsMs)
    await links.get(what)!.mend()
  },
  async 'held link'({ links }, { what, lastsMs }) {
    links.get(what)!.hold()
    await pause(lastsMs)
    await links.get(what)!.mend()
  },
  async 'swallowing link'({ links }, { what, lastsMs }) {
    links.get(what)!.swallow()
    await pause(lastsMs)
    await links.get(what)!.mend()
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
  'full disk': fillDisk,
  async 'clock jump'({ programs }, { what, lastsMs }) {
    programs.get(what)!.signal('SIGUSR2')
    await pause(lastsMs)
    programs.get(what)!.signal('SIGUSR2')
  },
  redelivery: deliverAgain,
}

/** Runs the faults of a plan by its clock; `onDone` hears of each that is over. All are over when it resolves. */
export async function inflict(
  planned: readonly PlannedFault[],
  system: System,
  ledger: Ledger,
  onDone: (fault: DoneFault) => void,
): Promise<void> {
  const beganMs = performance.now()
  const sinceBeginMs = () => Math.round(performance.now() - beganMs)
  const one = async (fault: PlannedFault) => {
    await pause(Math.max(0, fault.atMs - sinceBeginMs()))
    const fromMs = sinceBeginMs()
    await ACTS[fault.kind](system, fault, ledger)
    onDone({ kind: fault.kind, what: fault.what, fromMs, toMs: sinceBeginMs() })
  }
  await Promise.all(planned.map(one))
}

async function freeze({ programs, engines }: System, { what, lastsMs }: PlannedFault): Promise<void> {
  // a program that finds an engine away at its start ends, and is started again
  const pidOf = async () => (await programs.get(what)?.untilRuns()) ?? engines.byName[what]!.pid
  const pid = await waitFor(async () => stopped(await pidOf()), { label: `${what} to freeze` })
  await pause(lastsMs)
  process.kill(pid, 'SIGCONT')
}

/** The id, of a process that runs and is stopped now; throws when there is none. */
function stopped(pid: number): number {
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
  else await links.get(PROBES_TO_NATS)!.mend()
}

const AGAIN_AT_MOST = 200
const AGAIN_SHARE = 0.3

/** Some of the newest messages a second time, in their order, with nothing that tells them from news. */
async function deliverAgain({ nats }: System, { atMs }: PlannedFault, { messages }: Ledger): Promise<void> {
  const newest = messages.slice(-AGAIN_AT_MOST)
  for (const [i, { subject, data }] of newest.entries()) {
    // by the plan's number, not by chance of its own
    if (((atMs + i * 7_919) % 100) / 100 > AGAIN_SHARE) continue
    await nats.js.publish(subject, data).catch(() => {})
  }
}
