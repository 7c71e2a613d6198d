import type { Hint } from '../../control-plane/verdict/reader/commit/hints.ts'
import { createLog } from '../../shared/process/log.ts'
import { seededRandom } from '../chaos/random.ts'
import { type ActiveFaults, createActiveFaults } from './conditions.ts'
import { startControlPlanes } from './control-planes.ts'
import { startCustomers } from './customers.ts'
import { createDatabase } from './database.ts'
import { startFaults } from './faults.ts'
import type { Hints } from './hints.ts'
import { startHistory } from './history.ts'
import { BEGIN_MS, createInstallation, type SimulatedInstallation, STANDARD_INTERVALS_S } from './installation.ts'
import { createJetStream } from './jetstream.ts'
import { addMaintenance, startMaintenance } from './maintenance.ts'
import type { Chronicle, RecordedFault } from './oracle/chronicle.ts'
import { createSimulationPlan, type SimulationPlan, type SimulationPlanOptions } from './plan.ts'
import { createProbes } from './probes.ts'
import type { SimulatedTargets } from './targets.ts'
import { createTime, newUuid, type Time } from './time.ts'
import { createTopic } from './topic.ts'
import type { PersistentState, VerdictParts } from './verdict.ts'

export type Options = SimulationPlanOptions & {
  monitors: number
  probesPerRegion: number
  /** in seconds */
  intervalsS: readonly number[]
}

/** The standard run, whose figures are compared: the faults of a year. */
export const STANDARD: Options = {
  seed: 1,
  days: 40,
  monitors: 48,
  probesPerRegion: 2,
  intervalsS: STANDARD_INTERVALS_S,
  factor: 9,
  only: [],
  correlate: false,
}

const DAY_MS = 86_400_000
const PROGRESS_MS = DAY_MS / 4
const HINT_MS = 2
const ASKED_WITHIN_MS = 1_000

/** Called when a simulation begins. Returns what is called with each committed change of a status. */
export type SimulationObserver = (
  parts: Pick<VerdictParts, 'database' | 'stream'> & { time: Time },
) => PersistentState['onCommit']

/** Runs the production code of probes, fleet and verdict through a plan of outages and faults, in virtual time. */
export async function simulate(
  options: Options,
  onProgress: (days: number) => void = () => {},
  observe?: SimulationObserver,
): Promise<Chronicle> {
  const installation = createInstallation(
    seededRandom(options.seed ^ 0x5ce7e),
    options.monitors,
    options.probesPerRegion,
    options.intervalsS,
  )
  const plan = addMaintenance(createSimulationPlan(installation, options), installation, options)
  const time = createTime()
  const random = seededRandom(options.seed ^ 0x7e57)
  const activeFaults = createActiveFaults()
  const stream = createJetStream(time, () => activeFaults.nats.isUnavailable)
  const database = createDatabase(time)
  const log = createLog('simulate', 'silent')
  const targets: SimulatedTargets = {
    monitors: installation.monitors,
    broken: installation.monitors.map(() => null),
    checks: 0,
    shared: null,
  }
  const published = createTopic<Hint>()
  // processes request JetStream's time every second
  let knownAheadMs = 0
  stream.onClock(byMs => {
    time.after(random.between(0, ASKED_WITHIN_MS), () => {
      knownAheadMs += byMs
    })
  })
  const hints: Hints = {
    createId: () => newUuid(random),
    logNowMs: () => Math.floor(BEGIN_MS + time.nowMs() + knownAheadMs),
    subscribe: published.subscribe,
    publish(hint) {
      if (activeFaults.nats.isUnavailable || (activeFaults.hintsLost > 0 && random.chance(activeFaults.hintsLost)))
        return
      time.after(HINT_MS, () => published.publish(hint))
    },
  }
  const chronicle = emptyChronicle(options, installation, plan)
  const observed = observe?.({ time, database, stream })
  const shared: PersistentState = {
    checkpoint: null,
    kinds: {},
    onCommit(committed) {
      chronicle.transitions.push(committed)
      observed?.(committed)
    },
  }
  const customers = startCustomers({ hints, time, database, installation, plan, random, chronicle })
  const history = startHistory({ seed: options.seed, time, activeFaults, stream, database, chronicle })
  const { recorders } = history
  const control = startControlPlanes({ time, random, database, stream, hints, shared, recorders })
  const probes = createProbes({
    time,
    activeFaults,
    stream,
    targets,
    random,
    log,
    installation,
    processes: control.fleet,
  })
  startOutages(time, activeFaults, plan, targets)
  startMaintenance({ time, database, plan, installation })
  startFaults({
    time,
    activeFaults,
    stream,
    database,
    random,
    plan,
    installation,
    control,
    probes,
    customers,
    shared,
    chronicle,
  })

  const endMs = options.days * DAY_MS
  for (let atMs = 0; atMs < endMs; atMs += PROGRESS_MS) {
    await time.pass(Math.min(endMs, atMs + PROGRESS_MS))
    onProgress(time.nowMs() / DAY_MS)
  }
  chronicle.history = history.finish()
  const { sent, periods } = database.alerts()
  const windows = periods.map(({ monitorId, startsAt, endsAt, storedMs }) => ({
    ...{ monitorId, storedMs },
    fromMs: startsAt.getTime() - BEGIN_MS,
    toMs: endsAt.getTime() - BEGIN_MS,
  }))
  const counts = { checks: targets.checks, liveSets: database.epochsGiven(), kinds: shared.kinds }
  return { ...chronicle, ...counts, notifications: sent, windows }
}

function emptyChronicle(options: Options, installation: SimulatedInstallation, plan: SimulationPlan): Chronicle {
  return {
    seed: options.seed,
    beginMs: BEGIN_MS,
    endMs: options.days * DAY_MS,
    checks: 0,
    liveSets: 0,
    kinds: {},
    regions: installation.regions,
    monitors: installation.monitors.map(({ id, settings, quickMs }) => ({
      id,
      settings: [{ fromMs: 0, ...settings, isPaused: false, isOtherTarget: true }],
      isSlow: quickMs >= settings.timeoutMs / 3,
    })),
    outages: plan.outages.map(outage => ({ ...outage, monitorId: installation.monitors[outage.index]!.id })),
    faults: plan.faults.map(fault => toRecordedFault(fault, installation)),
    transitions: [],
    windows: [],
    notifications: [],
    history: { results: 0, repeated: 0, redelivered: 0, missing: 0, maxMs: 0, violations: [] },
  }
}

function toRecordedFault(
  { kind, fromMs, toMs, place, size }: SimulationPlan['faults'][number],
  installation: SimulatedInstallation,
): RecordedFault {
  const region =
    installation.regions.find(name => place === name || installation.listProbes(name).includes(place)) ?? null
  return { kind, fromMs, toMs, place, region, size }
}

function startOutages(time: Time, activeFaults: ActiveFaults, plan: SimulationPlan, targets: SimulatedTargets): void {
  for (const { fromMs, toMs, ...broken } of plan.shared) {
    time.after(fromMs, () => {
      targets.shared = { ...broken, salt: `shared ${fromMs}` }
      activeFaults.changed.publish()
    })
    time.after(toMs, () => {
      targets.shared = null
    })
  }
  for (const { index, fromMs, toMs, ...broken } of plan.outages) {
    time.after(fromMs, () => {
      targets.broken[index] = broken
    })
    time.after(toMs, () => {
      targets.broken[index] = null
    })
  }
}
