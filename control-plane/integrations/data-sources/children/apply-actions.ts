import type { CheckLiteral } from '../../../alerting/channels/types.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { type Db, setLockTimeout, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { draftMonitor } from '../../../monitoring/monitors/actions.ts'
import type { StoredMonitor } from '../../../monitoring/monitors/types.ts'
import { applyDecisions } from '../../../verdict/core/decision-actions.ts'
import { retireMonitors } from '../../../verdict/core/monitor-lifecycle-actions.ts'
import { storeUnknownTransitions } from '../../../verdict/core/unknown-status/unknown-status-actions.ts'
import type { EvaluatedChild } from '../evaluation/evaluate.ts'
import { type ClaimedSource, endFetches, lockClaimed, lockForArchive, saveSeenHash } from '../fetching/claim-store.ts'
import {
  buildFetchEnd,
  FAILURES_BEFORE_INCIDENT,
  hashResult,
  type SourceFetch,
  shouldOpenIncident,
} from '../fetching/fetch-result.ts'
import { type ChildDecision, decideChild, decideUnknown, type TrackedChild } from './child-decision.ts'
import { insertChildren, lockChildren, pruneMonitors, rewriteMonitors, saveSeenChildren } from './child-store.ts'
import { closeSourceIncident, openSourceIncident } from './incident-actions.ts'
import { type MatchedChild, type Reconciliation, reconcile, reviewMissing, type StoredChild } from './reconciliation.ts'

type ApplyTools = { db: Db; secrets: SecretCipher; checkLiteral: CheckLiteral; publicUrl: string }

/** How long a transaction waits for monitors that another one has locked, such as an import of their project. */
const LOCK_TIMEOUT_MS = 1_000

/** A monitor with its locked row, and what a fetch decides about it. */
type DecidedChild = { child: TrackedChild; decision: ChildDecision }

/**
 * Stores the result of a fetch in one transaction:
 *
 * 1. Lock the source, if this process still holds its lease, its revision has not changed, and no other transaction has locked
 *    it. Otherwise return false and store nothing.
 * 2. Lock its monitors. Throws the error of a lock timeout after a second.
 * 3. Create, rename, archive and delete monitors so that they match the document.
 * 4. Store the statuses and everything that follows from them.
 * 5. Open or resolve the incident of the source.
 * 6. Save the hash of the result and release the lease.
 */
export function applyFetch(tools: ApplyTools, owner: string, fetch: SourceFetch): Promise<boolean> {
  const { source, result } = fetch
  return tools.db.transaction(async tx => {
    const claimed = await lockClaimed(tx, owner, source)
    if (claimed === null) return false
    await setLockTimeout(tx, LOCK_TIMEOUT_MS)
    const now = new Date(claimed.nowMs)
    const stored = await lockChildren(tx, source.id)
    const decided =
      'failure' in result
        ? loseStatuses(stored, `The data source cannot be fetched: ${result.failure.message}.`)
        : await applyDocument(tx, tools, fetch, result.children, stored, now)
    await storeDecisions(tx, decided, tools.publicUrl, now)
    const incidentId = await updateSourceIncident(tx, fetch, claimed, tools.publicUrl, now)
    await saveSeenHash(tx, source.id, { seenHash: hashResult(result), incidentId })
    await endFetches(tx, owner, [buildFetchEnd(fetch)])
    return true
  })
}

/**
 * Stores that the statuses of all monitors of a source are unknown, as after a failed fetch: their open outages stay, without
 * an event. `reason` is a sentence. The caller has locked the source.
 */
export async function clearStatuses(
  tx: Tx,
  sourceId: string,
  reason: string,
  publicUrl: string,
  now: Date,
): Promise<void> {
  await storeDecisions(tx, loseStatuses(await lockChildren(tx, sourceId), reason), publicUrl, now)
}

const loseStatuses = (children: readonly StoredChild[], reason: string): DecidedChild[] =>
  children.map(child => ({ child, decision: decideUnknown(child, reason) }))

async function storeDecisions(tx: Tx, decided: DecidedChild[], publicUrl: string, now: Date): Promise<void> {
  const changes = decided.flatMap(({ decision }) => (decision.kind === 'verdict' ? decision.change : []))
  const statusChanges = decided.flatMap(({ child: { monitor }, decision }) => {
    if (decision.kind !== 'status') return []
    const { status, summary, value } = decision
    return { monitor, status, at: now, summary, explanation: value === null ? {} : { data_source: value } }
  })
  await storeUnknownTransitions(tx, statusChanges, now)
  if (changes.length > 0) await applyDecisions(tx, changes, publicUrl, now)
}

async function updateSourceIncident(
  tx: Tx,
  { source, result }: SourceFetch,
  { failures, incidentId }: { failures: number; incidentId: string | null },
  publicUrl: string,
  now: Date,
): Promise<string | null> {
  if (!('failure' in result)) {
    await closeSourceIncident(tx, { ...source, incidentId }, 'fetched', publicUrl, now)
    return null
  }
  if (incidentId !== null || !shouldOpenIncident(result.failure, failures)) return incidentId
  const cause = { message: result.failure.message, failures: FAILURES_BEFORE_INCIDENT }
  return openSourceIncident(tx, source, cause, publicUrl, now)
}

/** Creates, renames, restores and archives monitors so that they match the document. Returns the decision for each. */
async function applyDocument(
  tx: Tx,
  tools: ApplyTools,
  { source, responseTimeMs }: SourceFetch,
  found: EvaluatedChild[],
  stored: StoredChild[],
  now: Date,
): Promise<DecidedChild[]> {
  const reconciliation = reconcile(stored, found, now)
  const created: { child: EvaluatedChild; monitor: StoredMonitor }[] = []
  for (const child of reconciliation.created)
    created.push({ child, monitor: await draftChildMonitor(child, source, tools, now) })
  const newChildren = created.map(({ child, monitor }) => ({ ...child, monitor, madeName: child.name }))
  await insertChildren(tx, source, newChildren, now)
  await storeMatched(tx, source, reconciliation.matched, now)
  await storeMissing(tx, reconciliation, tools.publicUrl, now)
  const ruleTypes = new Map(source.fields.map(({ id, ruleType }) => [id, ruleType]))
  const decide = (child: TrackedChild, evaluated: EvaluatedChild): DecidedChild => {
    const rule = ruleTypes.get(evaluated.fieldId)!
    return { child, decision: decideChild(child, { found: evaluated, rule, atMs: now.getTime(), responseTimeMs }) }
  }
  return [
    ...created.map(({ child, monitor }) => decide({ monitor, state: null }, child)),
    ...reconciliation.matched.map(matched => decide(toTrackedChild(matched.stored), matched.found)),
    ...reconciliation.missing.map(child => ({
      child,
      decision: decideUnknown(child, `The key ${child.key} is missing in the document.`),
    })),
  ]
}

/** A monitor that returns from the archive starts without a state, under a new configuration version. */
function toTrackedChild({ monitor, state, archivedAt }: StoredChild): TrackedChild {
  if (archivedAt === null) return { monitor, state }
  return { monitor: { ...monitor, configVersion: monitor.configVersion + 1, deletedAt: null }, state: null }
}

/** Drafts the monitor of a child. Settings that only probes use have their smallest values. */
async function draftChildMonitor(
  { fieldId, key, name }: EvaluatedChild,
  source: ClaimedSource,
  tools: ApplyTools,
  now: Date,
) {
  const { url, intervalSeconds, timeoutMs } = getMonitorSettings(source)
  const timing = { interval_seconds: intervalSeconds, timeout_ms: timeoutMs, retry_count: 0 }
  const body = { name, type: 'http' as const, url, ...timing, screenshot_on_failure: false }
  const draft = await draftMonitor(tools, source.projectId, body, now)
  return { ...draft, dataSource: { id: source.id, name: source.name, fieldId, key } }
}

const MAX_INTERVAL_S = 3_600
const getMonitorSettings = ({ url, fetchIntervalS, timeoutMs }: ClaimedSource) => ({
  url,
  intervalSeconds: Math.min(fetchIntervalS, MAX_INTERVAL_S),
  timeoutMs,
})

/** Writes only what differs. A name that was set by hand is kept. */
async function storeMatched(tx: Tx, source: ClaimedSource, matched: MatchedChild[], now: Date): Promise<void> {
  const settings = getMonitorSettings(source)
  const rewritten = matched.flatMap(({ stored: { monitor, madeName, archivedAt }, found }) => {
    const name = monitor.name === madeName ? found.name : monitor.name
    const isSame =
      name === monitor.name &&
      settings.url === monitor.url &&
      settings.intervalSeconds === monitor.intervalSeconds &&
      settings.timeoutMs === monitor.timeoutMs
    const isRevived = archivedAt !== null
    return isSame && !isRevived ? [] : [{ id: monitor.id, name, ...settings, isRevived }]
  })
  await rewriteMonitors(tx, rewritten, now)
  const seen = matched.flatMap(({ stored, found }) => {
    const isSame = stored.value === found.value && stored.madeName === found.name && stored.missingSince === null
    if (isSame && stored.archivedAt === null) return []
    return [{ ...toSeenChild(stored), madeName: found.name, value: found.value, missingSince: null, archivedAt: null }]
  })
  await saveSeenChildren(tx, seen, now)
}

type MissingChildren = Pick<Reconciliation, 'missing' | 'archived' | 'pruned'>

async function storeMissing(
  tx: Tx,
  { missing, archived, pruned }: MissingChildren,
  publicUrl: string,
  now: Date,
): Promise<void> {
  const newlyMissing = missing
    .filter(child => child.missingSince === null)
    .map(child => ({ ...toSeenChild(child), value: null, missingSince: now }))
  const newlyArchived = archived.map(child => ({ ...toSeenChild(child), value: null, archivedAt: now }))
  await saveSeenChildren(tx, [...newlyMissing, ...newlyArchived], now)
  const monitors = archived.map(({ monitor }) => monitor).sort((a, b) => (a.id < b.id ? -1 : 1))
  if (monitors.length > 0) await retireMonitors(tx, monitors, 'archived', publicUrl, now)
  await pruneMonitors(
    tx,
    pruned.map(({ monitor }) => monitor.id),
  )
}

const toSeenChild = ({ monitor, madeName, value, missingSince, archivedAt }: StoredChild) => ({
  monitorId: monitor.id,
  madeName,
  value,
  missingSince,
  archivedAt,
})

/** Archives the monitors of a source whose keys were missing for a day, up to a successful fetch (docs/design/data-sources.md#children). */
export function archiveMissing(
  { db, publicUrl }: Pick<ApplyTools, 'db' | 'publicUrl'>,
  sourceId: string,
  now: Date,
): Promise<void> {
  return db.transaction(async tx => {
    const source = await lockForArchive(tx, sourceId)
    if (!source?.lastSuccessAt) return
    await setLockTimeout(tx, LOCK_TIMEOUT_MS)
    const expired = reviewMissing(await lockChildren(tx, sourceId), source.lastSuccessAt)
    await storeMissing(tx, { missing: [], ...expired }, publicUrl, now)
  })
}
