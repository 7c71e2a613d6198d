import type { Signer } from '../../foundation/platform/crypto/signer.ts'
import type { CanarySchedule, FailureKind } from './schedule.ts'

/** What the installation's key is split off for (platform/signer.ts). */
export const CANARY_KEY_PURPOSE = 'canaries'

/**
 * `{origin}/canary/{region}?every&for&kinds&key`: what the probes of a region check. The schedule is part of the address, so a
 * process that answers it needs to know nothing else; the key vouches for it, and nobody can guess it.
 */
export function buildTargetUrl(origin: string, schedule: CanarySchedule, sign: Signer): string {
  const { region, everySeconds, forSeconds, kinds } = schedule
  const how = isOldest(kinds) ? '' : `&kinds=${kinds}`
  return `${origin}/canary/${region}?every=${everySeconds}&for=${forSeconds}${how}&key=${signTarget(schedule, sign)}`
}

export const signTarget = ({ region, everySeconds, forSeconds, kinds }: CanarySchedule, sign: Signer): string =>
  sign(`target ${region} ${everySeconds} ${forSeconds}${isOldest(kinds) ? '' : ` ${kinds}`}`)

/** Addresses that were made before there were several kinds name none. */
const isOldest = (kinds: readonly FailureKind[]) => kinds.length === 1 && kinds[0] === 'status'

/** `{origin}/canary/receive/{key}`: where the alerts go. */
export const buildReceiverUrl = (origin: string, sign: Signer): string =>
  `${origin}/canary/receive/${signReceiver(sign)}`

export const signReceiver = (sign: Signer): string => sign('receiver')
