import type { Random } from '../chaos/random.ts'
import type { ActiveFaults, Conditions } from './conditions.ts'
import type { ControlPlanes } from './control-planes.ts'
import type { SimulatedCustomers } from './customers.ts'
import type { Database } from './database.ts'
import type { SimulatedInstallation } from './installation.ts'
import type { JetStream } from './jetstream.ts'
import type { Chronicle } from './oracle/chronicle.ts'
import type { SimulatedFault, SimulatedFaultKind, SimulationPlan } from './plan.ts'
import type { Probes } from './probes.ts'
import type { Time } from './time.ts'
import type { PersistentState } from './verdict.ts'

type Parts = {
  time: Time
  activeFaults: ActiveFaults
  stream: JetStream
  database: Database
  random: Random
  plan: SimulationPlan
  installation: SimulatedInstallation
  control: ControlPlanes
  probes: Probes
  customers: SimulatedCustomers
  shared: PersistentState
  chronicle: Chronicle
}

/** Begins a fault and returns the function that ends it. */
type Begin = (fault: SimulatedFault, parts: Parts) => (() => void) | undefined

const counted =
  (what: 'uplink' | 'targets' | 'resolver' | 'fleet' | 'nats'): Begin =>
  ({ place }, { activeFaults }) => {
    const conditions = activeFaults.getConditions(place)
    conditions[what]++
    return () => {
      conditions[what]--
    }
  }

const clickhouse =
  (what: 'away' | 'answersLost'): Begin =>
  (_, { activeFaults }) => {
    activeFaults.clickhouse[what]++
    return () => {
      activeFaults.clickhouse[what]--
    }
  }

const partial: Begin = ({ place, size, fromMs }, { activeFaults, random }) => {
  const conditions: Conditions = activeFaults.getConditions(place)
  const routes = { share: size, salt: `${place} ${fromMs}`, isRejecting: random.chance(0.25) }
  conditions.partials.push(routes)
  return () => {
    conditions.partials = conditions.partials.filter(one => one !== routes)
  }
}

const getDurationMs = ({ fromMs, toMs }: SimulatedFault) => toMs - fromMs
const regionDead: Begin = (fault, { installation, probes }) => {
  for (const name of installation.listProbes(fault.place)) probes.end(name, getDurationMs(fault), true)
  return undefined
}

/** How long a region loses a part of its routes before it fails completely. */
const BAD_MS = 90_000
const STAGGER_MS = 20_000
const RESTART_MS = 5_000

const BEGIN_FAULT: Record<SimulatedFaultKind, Begin> = {
  'probe-killed': (fault, { probes }) => void probes.end(fault.place, getDurationMs(fault), false),
  'probe-host-dead': (fault, { probes }) => void probes.end(fault.place, getDurationMs(fault), true),
  'probe-frozen': (fault, { probes }) => void probes.freeze(fault.place, getDurationMs(fault)),
  'probe-fleet-cut': counted('fleet'),
  'probe-nats-cut': counted('nats'),
  'probe-uplink-lost': counted('uplink'),
  'probe-targets-gone': counted('targets'),
  'probe-partial-loss': partial,
  'probe-resolver-gone': counted('resolver'),
  'region-uplink-lost': counted('uplink'),
  'region-partial-loss': partial,
  'region-dead': regionDead,
  'region-bad-then-dead'(fault, parts) {
    const end = partial(fault, parts)!
    parts.time.after(BAD_MS, () => {
      end()
      parts.activeFaults.changed.publish()
      regionDead({ ...fault, fromMs: fault.fromMs + BAD_MS }, parts)
    })
    return undefined
  },
  'control-plane-redeployed'(_, { time, control }) {
    for (const [i, name] of ['a', 'b'].entries())
      time.after(i * STAGGER_MS, () => {
        control.stopFleet(name, true)
        // one of the two processes also has the role verdict
        if (i === 0) control.endVerdict(true)
        time.after(RESTART_MS, () => control.startFleet(name))
      })
    return undefined
  },
  'probes-redeployed'({ fromMs, toMs }, { time, installation, probes }) {
    const names = installation.regions.flatMap(installation.listProbes)
    const everyMs = (toMs - fromMs) / names.length
    for (const [i, name] of names.entries()) time.after(i * everyMs, () => probes.redeploy(name))
    return undefined
  },
  'fleet-killed'({ place }, { control }) {
    control.stopFleet(place, false)
    return () => control.startFleet(place)
  },
  'verdict-killed': (_, { control }) => void control.endVerdict(false),
  'verdict-without-nats': (_, { control }) => void control.endVerdict(false),
  'nats-away'(_, { activeFaults }) {
    activeFaults.nats.isUnavailable = true
    return () => {
      activeFaults.nats.isUnavailable = false
    }
  },
  'nats-clock-set': ({ size }, { stream }) => void stream.setClock(size),
  'postgres-away'(_, { database }) {
    database.setUnavailable(true)
    return () => database.setUnavailable(false)
  },
  'postgres-restored'(_, { database }) {
    database.setUnavailable(true)
    return undefined
  },
  'postgres-clock-set': ({ size }, { database }) => void database.setClock(size),
  'hints-lost'({ size }, { activeFaults }) {
    activeFaults.hintsLost = size
    return () => {
      activeFaults.hintsLost = 0
    }
  },
  'acks-lost'({ size }, { activeFaults }) {
    activeFaults.acksLost = size / 2
    return () => {
      activeFaults.acksLost = 0
    }
  },
  'clickhouse-away': clickhouse('away'),
  'clickhouse-answers-lost': clickhouse('answersLost'),
}

export function startFaults(parts: Parts): void {
  const { time, plan, activeFaults } = parts
  for (const fault of plan.faults) {
    if (fault.kind === 'postgres-restored') restore(fault, parts)
    else
      time.after(fault.fromMs, () => {
        const end = BEGIN_FAULT[fault.kind](fault, parts)
        activeFaults.changed.publish()
        if (!end) return
        time.after(getDurationMs(fault), () => {
          end()
          activeFaults.changed.publish()
        })
      })
  }
}

/** PostgreSQL fails and is replaced by a standby that lacks the last commits. */
function restore(
  { fromMs, toMs, size }: SimulatedFault,
  { time, database, control, customers, shared, chronicle }: Parts,
): void {
  time.after(fromMs - size, () => {
    const copy = database.copy()
    const { checkpoint } = shared
    const known = chronicle.transitions.length
    time.after(size, () => database.setUnavailable(true))
    time.after(toMs - fromMs + size, () => {
      database.setUnavailable(false)
      database.restore(copy)
      shared.checkpoint = checkpoint
      // transitions that were committed since the copy are lost
      chronicle.transitions.splice(known)
      customers.recordRestoredSettings()
      control.restartVerdict()
    })
  })
}
