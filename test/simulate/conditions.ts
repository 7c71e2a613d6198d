import { fnv1a } from '../../shared/nats/subjects.ts'
import { createTopic, type Topic } from './topic.ts'

/** A share of the ways from a probe to targets that are broken; which ones, the salt decides. */
export type BrokenWays = { share: number; salt: string; isRejecting: boolean }

/** What is broken at a probe, or at all of a region. Faults overlap, so most are counted. */
export type Conditions = {
  /** nothing goes in or out */
  uplink: number
  /** targets cannot be reached, the parts of Picket can */
  targets: number
  partials: BrokenWays[]
  /** its resolver does not answer */
  resolver: number
  /** packets to the control plane vanish */
  fleet: number
  /** packets to NATS vanish */
  nats: number
}

const none = (): Conditions => ({ uplink: 0, targets: 0, partials: [], resolver: 0, fleet: 0, nats: 0 })

/** What is broken now, everywhere. */
export type World = {
  /** by name of a probe, or of a region */
  of: (name: string) => Conditions
  nats: { isAway: boolean }
  /** share of hints that get lost */
  hintsLost: number
  /** share of acks of JetStream that get lost */
  acksLost: number
  /** a fault has begun or ended */
  changed: Topic<void>
}

export function createWorld(): World {
  const places = new Map<string, Conditions>()
  return {
    of(name) {
      let known = places.get(name)
      if (!known) {
        known = none()
        places.set(name, known)
      }
      return known
    },
    nats: { isAway: false },
    hintsLost: 0,
    acksLost: 0,
    changed: createTopic<void>(),
  }
}

/** What a probe meets: what is broken at itself and in its region. */
export type Outlook = { own: Conditions; region: Conditions }

export const isUplinkGone = ({ own, region }: Outlook) => own.uplink > 0 || region.uplink > 0
export const areTargetsGone = ({ own, region }: Outlook) => own.targets > 0 || region.targets > 0
export const isResolverGone = ({ own, region }: Outlook) => own.resolver > 0 || region.resolver > 0
export const isFleetReached = (outlook: Outlook) =>
  !isUplinkGone(outlook) && outlook.own.fleet === 0 && outlook.region.fleet === 0
export const isNatsReached = (outlook: Outlook) =>
  !isUplinkGone(outlook) && outlook.own.nats === 0 && outlook.region.nats === 0

/** The broken way to a target; null when it is well. */
export function brokenWay({ own, region }: Outlook, target: string): BrokenWays | null {
  for (const partial of own.partials) if (isHit(partial, target)) return partial
  for (const partial of region.partials) if (isHit(partial, target)) return partial
  return null
}

const isHit = ({ share, salt }: BrokenWays, target: string) => fnv1a(salt + target) / 2 ** 32 < share

/** The largest share of targets that partial faults hide. */
export const shareHidden = ({ own, region }: Outlook): number =>
  [...own.partials, ...region.partials].reduce((most, { share }) => Math.max(most, share), 0)
