import { fnv1a } from '../../shared/nats/subjects.ts'
import { createTopic, type Topic } from './topic.ts'

/** A share of the routes from a probe to targets is broken. The salt decides which ones. */
type BrokenRoutes = { share: number; salt: string; isRejecting: boolean }

/** The active faults of a probe or of a whole region. Faults may overlap, so most are counters. */
export type Conditions = {
  /** no packet is sent or received */
  uplink: number
  /** targets are unreachable, the control plane and NATS are not */
  targets: number
  partials: BrokenRoutes[]
  /** its resolver does not answer */
  resolver: number
  /** packets to the control plane are lost */
  fleet: number
  /** packets to NATS are lost */
  nats: number
}

const none = (): Conditions => ({ uplink: 0, targets: 0, partials: [], resolver: 0, fleet: 0, nats: 0 })

/** All active faults. */
export type ActiveFaults = {
  /** the faults of a probe or a region, by its name */
  getConditions: (name: string) => Conditions
  nats: { isUnavailable: boolean }
  /** `away`: it refuses connections. `answersLost`: it stores rows and does not answer. Faults may overlap. */
  clickhouse: { away: number; answersLost: number }
  /** share of hints that are lost */
  hintsLost: number
  /** share of JetStream's acks that are lost */
  acksLost: number
  /** published when a fault has begun or ended */
  changed: Topic<void>
}

export function createActiveFaults(): ActiveFaults {
  const places = new Map<string, Conditions>()
  return {
    getConditions(name) {
      let known = places.get(name)
      if (!known) {
        known = none()
        places.set(name, known)
      }
      return known
    },
    nats: { isUnavailable: false },
    clickhouse: { away: 0, answersLost: 0 },
    hintsLost: 0,
    acksLost: 0,
    changed: createTopic<void>(),
  }
}

/** The faults that affect a probe: its own and those of its region. */
export type ProbeConditions = { own: Conditions; region: Conditions }

export const isUplinkDown = ({ own, region }: ProbeConditions) => own.uplink > 0 || region.uplink > 0
export const areTargetsUnreachable = ({ own, region }: ProbeConditions) => own.targets > 0 || region.targets > 0
export const isResolverDown = ({ own, region }: ProbeConditions) => own.resolver > 0 || region.resolver > 0
export const isFleetReachable = (conditions: ProbeConditions) =>
  !isUplinkDown(conditions) && conditions.own.fleet === 0 && conditions.region.fleet === 0
export const isNatsReachable = (conditions: ProbeConditions) =>
  !isUplinkDown(conditions) && conditions.own.nats === 0 && conditions.region.nats === 0

/** The broken route to a target; null when the route works. */
export function findBrokenRoute({ own, region }: ProbeConditions, target: string): BrokenRoutes | null {
  for (const partial of own.partials) if (isHit(partial, target)) return partial
  for (const partial of region.partials) if (isHit(partial, target)) return partial
  return null
}

const isHit = ({ share, salt }: BrokenRoutes, target: string) => fnv1a(salt + target) / 2 ** 32 < share

/** The largest share of targets that partial faults hide. */
export const getHiddenShare = ({ own, region }: ProbeConditions): number =>
  [...own.partials, ...region.partials].reduce((most, { share }) => Math.max(most, share), 0)
