import type { Signer } from '../../foundation/platform/crypto/signer.ts'
import type { CanarySchedule, FailureKind } from './schedule.ts'

/** The key purpose of the signer (platform/crypto/signer.ts). */
export const CANARY_KEY_PURPOSE = 'canaries'

/**
 * `{origin}/canary/{region}?every&for&kinds&key`: the target of a region. The schedule is part of the address, so a
 * process can respond without a query; the key is a signature of the schedule.
 */
export function buildTargetUrl(origin: string, schedule: CanarySchedule, sign: Signer): string {
  const { region, everySeconds, forSeconds, kinds } = schedule
  const how = isStatusOnly(kinds) ? '' : `&kinds=${kinds}`
  return `${origin}/canary/${region}?every=${everySeconds}&for=${forSeconds}${how}&key=${signTarget(schedule, sign)}`
}

export const signTarget = ({ region, everySeconds, forSeconds, kinds }: CanarySchedule, sign: Signer): string =>
  sign(`target ${region} ${everySeconds} ${forSeconds}${isStatusOnly(kinds) ? '' : ` ${kinds}`}`)

/** Addresses from before there were several kinds contain none. */
const isStatusOnly = (kinds: readonly FailureKind[]) => kinds.length === 1 && kinds[0] === 'status'

/** `{origin}/canary/receive/{key}`: the receiver of the alerts. */
export const buildReceiverUrl = (origin: string, sign: Signer): string =>
  `${origin}/canary/receive/${signReceiver(sign)}`

export const signReceiver = (sign: Signer): string => sign('receiver')
