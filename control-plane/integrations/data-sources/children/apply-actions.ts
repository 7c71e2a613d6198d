import type { CheckLiteral } from '../../../alerting/channels/types.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
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

export type ApplyTools = { db: Db; secrets: SecretCipher; checkLiteral: CheckLiteral; publicUrl: string }

/** What is said of one monitor, with its row. */
type DecidedChild = { watch: TrackedChild; outlook: ChildDecision }

/**
 * Takes in what a fetch says, in one transaction: the monitors of the source, their verdicts and all that follows from
 * them, the source's own alert, and the end of the claim. False when the source was changed, deleted or taken over
 * meanwhile: then nothing is stored.
 */
export function applyFetch(tools: ApplyTools, owner: string, fetch: SourceFetch): Promise<boolean> {
  const { source, result } = fetch
  return tools.db.transaction(async tx => {
    const claimed = await lockClaimed(tx, owner, source)
    if (claimed === null) return false
    const now = new Date(claimed.nowMs)
    const stored = await lockChildren(tx, source.id)
    const said =
      'failure' in result
        ? stored.map(watch => ({
            watch,
            outlook: decideUnknown(watch, `The data source cannot be fetched: ${result.failure.message}.`),
          }))
        : await applyDocument(tx, tools, fetch, result.children, stored, now)
    await storeDecisions(tx, said, tools.publicUrl, now)
    const incidentId = await updateSourceIncident(tx, fetch, claimed, tools.publicUrl, now)
    await saveSeenHash(tx, source.id, { seenHash: hashResult(result), incidentId })
    await endFetches(tx, owner, [buildFetchEnd(fetch)])
    return true
  })
}

async function storeDecisions(tx: Tx, said: DecidedChild[], publicUrl: string, now: Date): Promise<void> {
  const changes = said.flatMap(({ outlook }) => (outlook.kind === 'verdict' ? outlook.change : []))
  const sights = said.flatMap(({ watch: { monitor }, outlook }) => {
    if (outlook.kind !== 'sight') return []
    const { status, summary, value } = outlook
    return { monitor, status, at: now, summary, explanation: value === null ? {} : { data_source: value } }
  })
  await storeUnknownTransitions(tx, sights, now)
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
  const told = { message: result.failure.message, failures: FAILURES_BEFORE_INCIDENT }
  return openSourceIncident(tx, source, told, publicUrl, now)
}

/** Makes, renames, brings back and puts aside monitors as the document has them. Answers what it says of each. */
async function applyDocument(
  tx: Tx,
  tools: ApplyTools,
  { source, responseTimeMs }: SourceFetch,
  found: EvaluatedChild[],
  stored: StoredChild[],
  now: Date,
): Promise<DecidedChild[]> {
  const together = reconcile(stored, found, now)
  const made: { child: EvaluatedChild; monitor: StoredMonitor }[] = []
  for (const child of together.created)
    made.push({ child, monitor: await draftChildMonitor(child, source, tools, now) })
  const news = made.map(({ child, monitor }) => ({ ...child, monitor, madeName: child.name }))
  await insertChildren(tx, source, news, now)
  await storeMatched(tx, source, together.matched, now)
  await storeMissing(tx, together, tools.publicUrl, now)
  const ruleOf = new Map(source.fields.map(({ id, ruleType }) => [id, ruleType]))
  const look = (watch: TrackedChild, child: EvaluatedChild): DecidedChild => {
    const looked = { found: child, rule: ruleOf.get(child.fieldId)!, atMs: now.getTime(), responseTimeMs }
    return { watch, outlook: decideChild(watch, looked) }
  }
  return [
    ...made.map(({ child, monitor }) => look({ monitor, state: null }, child)),
    ...together.matched.map(kept => look(toTrackedChild(kept.stored), kept.found)),
    ...together.missing.map(watch => ({
      watch,
      outlook: decideUnknown(watch, `The key ${watch.key} is missing in the document.`),
    })),
  ]
}

/** One from the archive begins anew, with a configuration of its own. */
function toTrackedChild({ monitor, state, archivedAt }: StoredChild): TrackedChild {
  if (archivedAt === null) return { monitor, state }
  return { monitor: { ...monitor, configVersion: monitor.configVersion + 1, deletedAt: null }, state: null }
}

/** What no probe needs stays as small as it can be. */
async function draftChildMonitor(
  { fieldId, key, name }: EvaluatedChild,
  source: ClaimedSource,
  tools: ApplyTools,
  now: Date,
) {
  const { url, intervalSeconds, timeoutMs } = getMonitorSettings(source)
  const pace = { interval_seconds: intervalSeconds, timeout_ms: timeoutMs, retry_count: 0 }
  const body = { name, type: 'http' as const, url, ...pace, screenshot_on_failure: false }
  const draft = await draftMonitor(tools, source.projectId, body, now)
  return { ...draft, dataSource: { id: source.id, name: source.name, fieldId, key } }
}

const MAX_INTERVAL_S = 3_600
const getMonitorSettings = ({ url, fetchIntervalS, timeoutMs }: ClaimedSource) => ({
  url,
  intervalSeconds: Math.min(fetchIntervalS, MAX_INTERVAL_S),
  timeoutMs,
})

/** Only what differs is written. A name that was set by hand stays. */
async function storeMatched(tx: Tx, source: ClaimedSource, kept: MatchedChild[], now: Date): Promise<void> {
  const settings = getMonitorSettings(source)
  const rewritten = kept.flatMap(({ stored: { monitor, madeName, archivedAt }, found }) => {
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
  const seen = kept.flatMap(({ stored, found }) => {
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
  const gone = missing.filter(child => child.missingSince === null)
  const put = archived.map(child => ({ ...toSeenChild(child), value: null, archivedAt: now }))
  await saveSeenChildren(
    tx,
    [...gone.map(child => ({ ...toSeenChild(child), value: null, missingSince: now })), ...put],
    now,
  )
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

/** Puts those monitors of a source aside whose keys have been missing for a day (decisions 9.4). */
export function archiveMissing(
  { db, publicUrl }: Pick<ApplyTools, 'db' | 'publicUrl'>,
  sourceId: string,
  now: Date,
): Promise<void> {
  return db.transaction(async tx => {
    if (!(await lockForArchive(tx, sourceId))) return
    const review = reviewMissing(await lockChildren(tx, sourceId), now)
    await storeMissing(tx, { missing: [], ...review }, publicUrl, now)
  })
}
