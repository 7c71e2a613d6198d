import { fnv1a } from '../../shared/nats/subjects.ts'
import { createTopic, type Topic } from './topic.ts'

/** A share of the ways from a probe to targets that are broken; which ones, the salt decides. */
export type BrokenRoutes = { share: number; salt: string; isRejecting: boolean }

/** What is broken at a probe, or at all of a region. Faults overlap, so most are counted. */
export type Conditions = {
  /** nothing goes in or out */
  uplink: number
  /** targets cannot be reached, the parts of Picket can */
  targets: number
  partials: BrokenRoutes[]
  /** its resolver does not answer */
  resolver: number
  /** packets to the control plane vanish */
  fleet: number
  /** packets to NATS vanish */
  nats: number
}

const none = (): Conditions => ({ uplink: 0, targets: 0, partials: [], resolver: 0, fleet: 0, nats: 0 })

/** What is broken now, everywhere. */
export type ActiveFaults = {
  /** by name of a probe, or of a region */
  getConditions: (name: string) => Conditions
  nats: { isUnavailable: boolean }
  /** share of hints that get lost */
  hintsLost: number
  /** share of acks of JetStream that get lost */
  acksLost: number
  /** a fault has begun or ended */
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
    hintsLost: 0,
    acksLost: 0,
    changed: createTopic<void>(),
  }
}

/** What a probe meets: what is broken at itself and in its region. */
export type ProbeConditions = { own: Conditions; region: Conditions }

export const isUplinkDown = ({ own, region }: ProbeConditions) => own.uplink > 0 || region.uplink > 0
export const areTargetsUnreachable = ({ own, region }: ProbeConditions) => own.targets > 0 || region.targets > 0
export const isResolverDown = ({ own, region }: ProbeConditions) => own.resolver > 0 || region.resolver > 0
export const isFleetReachable = (conditions: ProbeConditions) =>
  !isUplinkDown(conditions) && conditions.own.fleet === 0 && conditions.region.fleet === 0
export const isNatsReachable = (conditions: ProbeConditions) =>
  !isUplinkDown(conditions) && conditions.own.nats === 0 && conditions.region.nats === 0

/** The broken way to a target; null when it is well. */
export function findBrokenRoute({ own, region }: ProbeConditions, target: string): BrokenRoutes | null {
  for (const partial of own.partials) if (isHit(partial, target)) return partial
  for (const partial of region.partials) if (isHit(partial, target)) return partial
  return null
}

const isHit = ({ share, salt }: BrokenRoutes, target: string) => fnv1a(salt + target) / 2 ** 32 < share

/** The largest share of targets that partial faults hide. */
export const getHiddenShare = ({ own, region }: ProbeConditions): number =>
  [...own.partials, ...region.partials].reduce((most, { share }) => Math.max(most, share), 0)
