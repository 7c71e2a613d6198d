import { createHash } from 'node:crypto'
import { findSlotFrom } from '../../../../shared/checks/slots.ts'
import { fnv1a } from '../../../../shared/nats/subjects.ts'
import type { SourceFailure } from '../document/document.ts'
import type { EvaluatedChild } from '../evaluation/evaluate.ts'
import type { ClaimedSource, FetchEnd } from './claim-store.ts'

/** What came of fetching a source once; `keys` are how many children there could be. */
export type FetchResult = { children: EvaluatedChild[]; keys: number } | { failure: SourceFailure }
export type SourceFetch = {
  source: ClaimedSource
  result: FetchResult
  startedAt: Date
  endedAt: Date
  responseTimeMs: number
}

/** Sources of a process that are asked, read and taken in, or wait for that: each may bring 5 MiB. */
export const MAX_CONCURRENT_FETCHES = 96

/** In a row; then the source's own alert is raised (decisions 9.4). */
export const FAILURES_BEFORE_INCIDENT = 3

/** What a result means, in short: two that mean the same are told apart by nothing that a monitor shows. */
export function hashResult(result: FetchResult): Buffer {
  if ('failure' in result) return sha256('failed')
  return sha256(JSON.stringify(result.children.map(({ fieldId, key, name, outcome }) => [fieldId, key, name, outcome])))
}

const sha256 = (text: string) => createHash('sha256').update(text).digest()

/**
 * After a good fetch one that fails says nothing yet: as probes do (decisions 4.2), it is asked again soon, and both
 * count as one. So what fails every now and then does not make all its monitors unknown each time.
 */
const isUnconfirmed = ({ seenHash, lastError }: ClaimedSource): boolean => seenHash !== null && lastError === null
const CONFIRMATION_DELAY_MS = 3_000

/** True when a fetch changes a monitor, or raises or ends the source's own alert. */
export function hasChanges({ source, result }: Pick<SourceFetch, 'source' | 'result'>): boolean {
  const { seenHash, failures, incidentId } = source
  if ('failure' in result && isUnconfirmed(source)) return false
  if (seenHash === null || !seenHash.equals(hashResult(result))) return true
  return 'failure' in result ? shouldOpenIncident(result.failure, failures) : incidentId !== null
}

/** `failures`: in a row before this one. Only the one that makes it three: whoever deleted the incident has seen it. */
export const shouldOpenIncident = ({ isOurFault }: SourceFailure, failures: number): boolean =>
  !isOurFault && failures + 1 === FAILURES_BEFORE_INCIDENT

/**
 * How a fetch is written down with its source, which is due again at its next slot: spread, and never drifting. A failure
 * that is doubted is due again soon.
 */
export function buildFetchEnd({ source, result, startedAt, endedAt }: SourceFetch): FetchEnd {
  const failure = 'failure' in result ? result.failure : null
  const isAskedAgain = failure !== null && isUnconfirmed(source)
  return {
    ...getClaim(source),
    nextAt: isAskedAgain ? new Date(endedAt.getTime() + CONFIRMATION_DELAY_MS) : computeNextSlot(source, endedAt),
    at: startedAt,
    said: failure?.message ?? '',
    isFailure: failure !== null && !failure.isOurFault && !isAskedAgain,
    keys: 'failure' in result || result.keys <= result.children.length ? null : result.keys,
  }
}

/** How one is given back that was not fetched, or in vain: due at once, or after a while. */
export function buildRelease(source: ClaimedSource, at: Date, afterMs: number | null): FetchEnd {
  const nextAt = afterMs === null ? null : new Date(at.getTime() + afterMs)
  return { ...getClaim(source), nextAt, at, said: null, isFailure: false, keys: null }
}

const getClaim = ({ id, revision, dueAt }: ClaimedSource) => ({ id, revision, dueAt })

export function computeNextSlot(
  { id, fetchIntervalS }: Pick<ClaimedSource, 'id' | 'fetchIntervalS'>,
  after: Date,
): Date {
  const intervalMs = fetchIntervalS * 1_000
  return new Date(findSlotFrom({ phaseMs: fnv1a(id) % intervalMs, intervalMs }, after.getTime() + 1))
}
