import { createHash } from 'node:crypto'
import { findSlotFrom } from '../../../../shared/checks/slots.ts'
import { fnv1a } from '../../../../shared/nats/subjects.ts'
import { type SourceFailure, TOO_COSTLY } from '../document/document.ts'
import type { EvaluatedChild } from '../evaluation/evaluate.ts'
import type { ClaimedSource, FetchEnd } from './claim-store.ts'

/** The result of one fetch. `keys` is the number of children that there could be. */
export type FetchResult = { children: EvaluatedChild[]; keys: number } | { failure: SourceFailure }
export type SourceFetch = {
  source: ClaimedSource
  result: FetchResult
  startedAt: Date
  endedAt: Date
  responseTimeMs: number
}

/** Sources that a process fetches, evaluates and applies, or that wait for it. Each document may have 5 MiB. */
export const MAX_CONCURRENT_FETCHES = 96

/** Consecutive failures after which the incident of the source opens. */
export const FAILURES_BEFORE_INCIDENT = 3

/**
 * A busy machine may be the cause once that a document needs too much time or memory. When the fetch before failed in the same way,
 * the document is the cause.
 */
export const judgeFailure = ({ lastError }: Pick<ClaimedSource, 'lastError'>, failure: SourceFailure): SourceFailure =>
  failure.code === TOO_COSTLY && failure.message === lastError ? { ...failure, isOurFault: false } : failure

/** Hashes what monitors show of a result. Results with the same hash need no transaction. */
export function hashResult(result: FetchResult): Buffer {
  if ('failure' in result) return sha256('failed')
  return sha256(JSON.stringify(result.children.map(({ fieldId, key, name, outcome }) => [fieldId, key, name, outcome])))
}

const sha256 = (text: string) => createHash('sha256').update(text).digest()

/**
 * A failure directly after a successful fetch is not confirmed: the source is fetched again soon, and both count as
 * one. So an occasional failure does not make all monitors unknown (docs/design/data-sources.md#failed-fetches).
 */
const isUnconfirmed = ({ seenHash, lastError }: ClaimedSource): boolean => seenHash !== null && lastError === null
const CONFIRMATION_DELAY_MS = 3_000

/** Whether a fetch changes a monitor, or opens or resolves the incident of the source. */
export function hasChanges({ source, result }: Pick<SourceFetch, 'source' | 'result'>): boolean {
  const { seenHash, failures, incidentId } = source
  if ('failure' in result && isUnconfirmed(source)) return false
  if (seenHash === null || !seenHash.equals(hashResult(result))) return true
  return 'failure' in result ? shouldOpenIncident(result.failure, failures) : incidentId !== null
}

/** `failures`: consecutive failures before this one. Only the third one opens an incident, so a deleted one is not opened again. */
export const shouldOpenIncident = ({ isOurFault }: SourceFailure, failures: number): boolean =>
  !isOurFault && failures + 1 === FAILURES_BEFORE_INCIDENT

/**
 * Builds the end of a fetch. The source is due again at its next slot, without drift. After an unconfirmed failure it
 * is due again soon.
 */
export function buildFetchEnd({ source, result, startedAt, endedAt }: SourceFetch): FetchEnd {
  const failure = 'failure' in result ? result.failure : null
  const isRetried = failure !== null && isUnconfirmed(source)
  return {
    ...getClaim(source),
    nextAt: isRetried ? new Date(endedAt.getTime() + CONFIRMATION_DELAY_MS) : computeNextSlot(source, endedAt),
    at: startedAt,
    error: failure?.message ?? '',
    isFailure: failure !== null && !failure.isOurFault && !isRetried,
    keys: 'failure' in result || result.keys <= result.children.length ? null : result.keys,
  }
}

/** Builds the fetch of a source that Picket could not process. `message` is shown to users and contains nothing of the error. */
export function buildInternalFailure(source: ClaimedSource, message: string, at: Date): SourceFetch {
  const failure = { code: 'internal_error', message, isOurFault: true }
  return { source, result: { failure }, startedAt: at, endedAt: at, responseTimeMs: 0 }
}

/** Builds the release of a source whose result is not recorded. `afterMs` null: it stays due. */
export function buildRelease(source: ClaimedSource, at: Date, afterMs: number | null): FetchEnd {
  const nextAt = afterMs === null ? null : new Date(at.getTime() + afterMs)
  return { ...getClaim(source), nextAt, at, error: null, isFailure: false, keys: null }
}

const getClaim = ({ id, revision, dueAt }: ClaimedSource) => ({ id, revision, dueAt })

export function computeNextSlot(
  { id, fetchIntervalS }: Pick<ClaimedSource, 'id' | 'fetchIntervalS'>,
  after: Date,
): Date {
  const intervalMs = fetchIntervalS * 1_000
  return new Date(findSlotFrom({ phaseMs: fnv1a(id) % intervalMs, intervalMs }, after.getTime() + 1))
}
