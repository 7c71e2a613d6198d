import { createHash } from 'node:crypto'
import { slotFrom } from '../../shared/slots.ts'
import { fnv1a } from '../../shared/subjects.ts'
import type { Failure } from './document.ts'
import type { Child } from './evaluate.ts'
import type { ClaimedSource, Ended } from './worker-store.ts'

/** What came of fetching a source once; `keys` are how many children there could be. */
export type Result = { children: Child[]; keys: number } | { failure: Failure }
export type Fetch = { source: ClaimedSource; result: Result; startedAt: Date; endedAt: Date; responseTimeMs: number }

/** Sources of a process that are asked, read and taken in, or wait for that: each may bring 5 MiB. */
export const MOST_AT_ONCE = 96

/** In a row; then the source's own alert is raised (decisions 9.4). */
export const FAILURES_TO_TELL = 3

/** What a result means, in short: two that mean the same are told apart by nothing that a monitor shows. */
export function meaningOf(result: Result): Buffer {
  if ('failure' in result) return sha256('failed')
  return sha256(JSON.stringify(result.children.map(({ fieldId, key, name, outcome }) => [fieldId, key, name, outcome])))
}

const sha256 = (text: string) => createHash('sha256').update(text).digest()

/**
 * After a good fetch one that fails says nothing yet: as probes do (decisions 4.2), it is asked again soon, and both
 * count as one. So what fails every now and then does not make all its monitors unknown each time.
 */
const isDoubted = ({ seenHash, lastError }: ClaimedSource): boolean => seenHash !== null && lastError === null
const ASKED_AGAIN_AFTER_MS = 3_000

/** True when a fetch changes a monitor, or raises or ends the source's own alert. */
export function isNews({ source, result }: Pick<Fetch, 'source' | 'result'>): boolean {
  const { seenHash, failures, incidentId } = source
  if ('failure' in result && isDoubted(source)) return false
  if (seenHash === null || !seenHash.equals(meaningOf(result))) return true
  return 'failure' in result ? isToTell(result.failure, failures) : incidentId !== null
}

/** `failures`: in a row before this one. Only the one that makes it three: whoever deleted the incident has seen it. */
export const isToTell = ({ isOurFault }: Failure, failures: number): boolean =>
  !isOurFault && failures + 1 === FAILURES_TO_TELL

/**
 * How a fetch is written down with its source, which is due again at its next slot: spread, and never drifting. A failure
 * that is doubted is due again soon.
 */
export function endOf({ source, result, startedAt, endedAt }: Fetch): Ended {
  const failure = 'failure' in result ? result.failure : null
  const isAskedAgain = failure !== null && isDoubted(source)
  return {
    ...placeOf(source),
    nextAt: isAskedAgain ? new Date(endedAt.getTime() + ASKED_AGAIN_AFTER_MS) : nextSlot(source, endedAt),
    at: startedAt,
    said: failure?.message ?? '',
    isFailure: failure !== null && !failure.isOurFault && !isAskedAgain,
    keys: 'failure' in result || result.keys <= result.children.length ? null : result.keys,
  }
}

/** How one is given back that was not fetched, or in vain: due at once, or after a while. */
export function backOf(source: ClaimedSource, at: Date, afterMs: number | null): Ended {
  const nextAt = afterMs === null ? null : new Date(at.getTime() + afterMs)
  return { ...placeOf(source), nextAt, at, said: null, isFailure: false, keys: null }
}

const placeOf = ({ id, revision, dueAt }: ClaimedSource) => ({ id, revision, dueAt })

export function nextSlot({ id, fetchIntervalS }: Pick<ClaimedSource, 'id' | 'fetchIntervalS'>, after: Date): Date {
  const intervalMs = fetchIntervalS * 1_000
  return new Date(slotFrom({ phaseMs: fnv1a(id) % intervalMs, intervalMs }, after.getTime() + 1))
}
