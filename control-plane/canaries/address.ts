import type { Sign } from '../platform/signer.ts'
import type { Kind, Schedule } from './schedule.ts'

/** What the installation's key is split off for (platform/signer.ts). */
export const PURPOSE = 'canaries'

/**
 * `{origin}/canary/{region}?every&for&kinds&key`: what the probes of a region check. The schedule is part of the address, so a
 * process that answers it needs to know nothing else; the key vouches for it, and nobody can guess it.
 */
export function targetUrl(origin: string, schedule: Schedule, sign: Sign): string {
  const { region, everySeconds, forSeconds, kinds } = schedule
  const how = isOldest(kinds) ? '' : `&kinds=${kinds}`
  return `${origin}/canary/${region}?every=${everySeconds}&for=${forSeconds}${how}&key=${targetKey(schedule, sign)}`
}

export const targetKey = ({ region, everySeconds, forSeconds, kinds }: Schedule, sign: Sign): string =>
  sign(`target ${region} ${everySeconds} ${forSeconds}${isOldest(kinds) ? '' : ` ${kinds}`}`)

/** Addresses that were made before there were several kinds name none. */
const isOldest = (kinds: readonly Kind[]) => kinds.length === 1 && kinds[0] === 'status'

/** `{origin}/canary/receive/{key}`: where the alerts go. */
export const receiverUrl = (origin: string, sign: Sign): string => `${origin}/canary/receive/${receiverKey(sign)}`

export const receiverKey = (sign: Sign): string => sign('receiver')
