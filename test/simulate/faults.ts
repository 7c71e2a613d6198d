import type { Random } from '../chaos/random.ts'
import type { Conditions, World } from './conditions.ts'
import type { ControlPlanes } from './control-planes.ts'
import type { Customers } from './customers.ts'
import type { Database } from './database.ts'
import type { JetStream } from './jetstream.ts'
import type { Chronicle } from './oracle/chronicle.ts'
import type { Fault, FaultKind, Plan } from './plan.ts'
import type { Probes } from './probes.ts'
import type { Scene } from './scene.ts'
import type { Time } from './time.ts'
import type { Shared } from './verdict.ts'

type Parts = {
  time: Time
  world: World
  stream: JetStream
  database: Database
  random: Random
  plan: Plan
  scene: Scene
  control: ControlPlanes
  probes: Probes
  customers: Customers
  shared: Shared
  chronicle: Chronicle
}

/** Begins a fault; answers what ends it. */
type Begin = (fault: Fault, parts: Parts) => (() => void) | undefined

const counted =
  (what: 'uplink' | 'targets' | 'resolver' | 'fleet' | 'nats'): Begin =>
  ({ place }, { world }) => {
    const conditions = world.of(place)
    conditions[what]++
    return () => {
      conditions[what]--
    }
  }

const partial: Begin = ({ place, size, fromMs }, { world, random }) => {
  const conditions: Conditions = world.of(place)
  const ways = { share: size, salt: `${place} ${fromMs}`, isRejecting: random.chance(0.25) }
  conditions.partials.push(ways)
  return () => {
    conditions.partials = conditions.partials.filter(one => one !== ways)
  }
}

const lengthOf = ({ fromMs, toMs }: Fault) => toMs - fromMs
const regionDead: Begin = (fault, { scene, probes }) => {
  for (const name of scene.probesOf(fault.place)) probes.end(name, lengthOf(fault), true)
  return undefined
}

/** So long a region is bad before it is dead. */
const BAD_MS = 90_000
const STAGGER_MS = 20_000
const RESTART_MS = 5_000

const BEGINNINGS: Record<FaultKind, Begin> = {
  'probe-killed': (fault, { probes }) => void probes.end(fault.place, lengthOf(fault), false),
  'probe-host-dead': (fault, { probes }) => void probes.end(fault.place, lengthOf(fault), true),
  'probe-frozen': (fault, { probes }) => void probes.freeze(fault.place, lengthOf(fault)),
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
      parts.world.changed.publish()
      regionDead({ ...fault, fromMs: fault.fromMs + BAD_MS }, parts)
    })
    return undefined
  },
  'control-plane-redeployed'(_, { time, control }) {
    for (const [i, name] of ['a', 'b'].entries())
      time.after(i * STAGGER_MS, () => {
        control.stopFleet(name)
        // the process that counts is one of the two
        if (i === 0) control.endVerdict(true)
        time.after(RESTART_MS, () => control.startFleet(name))
      })
    return undefined
  },
  'probes-redeployed'({ fromMs, toMs }, { time, scene, probes }) {
    const names = scene.regions.flatMap(scene.probesOf)
    const everyMs = (toMs - fromMs) / names.length
    for (const [i, name] of names.entries()) time.after(i * everyMs, () => probes.redeploy(name))
    return undefined
  },
  'fleet-killed'({ place }, { control }) {
    control.stopFleet(place)
    return () => control.startFleet(place)
  },
  'verdict-killed': (_, { control }) => void control.endVerdict(false),
  'verdict-without-nats': (_, { control }) => void control.endVerdict(false),
  'nats-away'(_, { world }) {
    world.nats.isAway = true
    return () => {
      world.nats.isAway = false
    }
  },
  'nats-clock-set': ({ size }, { stream }) => void stream.setClock(size),
  'postgres-away'(_, { database }) {
    database.setAway(true)
    return () => database.setAway(false)
  },
  'postgres-restored'(_, { database }) {
    database.setAway(true)
    return undefined
  },
  'postgres-clock-set': ({ size }, { database }) => void database.setClock(size),
  'hints-lost'({ size }, { world }) {
    world.hintsLost = size
    return () => {
      world.hintsLost = 0
    }
  },
  'acks-lost'({ size }, { world }) {
    world.acksLost = size / 2
    return () => {
      world.acksLost = 0
    }
  },
}

export function startFaults(parts: Parts): void {
  const { time, plan, world } = parts
  for (const fault of plan.faults) {
    if (fault.kind === 'postgres-restored') restore(fault, parts)
    else
      time.after(fault.fromMs, () => {
        const end = BEGINNINGS[fault.kind](fault, parts)
        world.changed.publish()
        if (!end) return
        time.after(lengthOf(fault), () => {
          end()
          world.changed.publish()
        })
      })
  }
}

/** PostgreSQL is away, and a standby takes its place that lacks what was committed last. */
function restore(
  { fromMs, toMs, size }: Fault,
  { time, database, control, customers, shared, chronicle }: Parts,
): void {
  time.after(fromMs - size, () => {
    const copy = database.copy()
    const { checkpoint } = shared
    const known = chronicle.transitions.length
    time.after(size, () => database.setAway(true))
    time.after(toMs - fromMs + size, () => {
      database.setAway(false)
      database.restore(copy)
      shared.checkpoint = checkpoint
      // what was committed meanwhile is gone
      chronicle.transitions.splice(known)
      customers.noteRestore()
      control.restartVerdict()
    })
  })
}
