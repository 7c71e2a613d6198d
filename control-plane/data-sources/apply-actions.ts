import type { CheckLiteral } from '../channels/types.ts'
import { draftMonitor } from '../monitors/actions.ts'
import type { StoredMonitor } from '../monitors/types.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { retireMonitors } from '../verdict/actions.ts'
import { judge } from '../verdict/judge.ts'
import { storeSights } from '../verdict/sight-actions.ts'
import { insertChildren, lockChildren, pruneMonitors, rewriteMonitors, storeSeen } from './children-store.ts'
import type { Child } from './evaluate.ts'
import { endOf, FAILURES_TO_TELL, type Fetch, isToTell, meaningOf } from './fetch.ts'
import { closeSourceIncident, openSourceIncident } from './incident-actions.ts'
import { lost, type Outlook, outlookOf, type Watch } from './outlook.ts'
import { type Found, type Reconciled, reconcile, reviewMissing, type StoredChild } from './reconcile.ts'
import { type ClaimedSource, endFetches, lockClaimed, lockForArchive, storeMeaning } from './worker-store.ts'

export type ApplyTools = { db: Db; secrets: Secrets; checkLiteral: CheckLiteral; publicUrl: string }

/** What is said of one monitor, with its row. */
type Said = { watch: Watch; outlook: Outlook }

/**
 * Takes in what a fetch says, in one transaction: the monitors of the source, their verdicts and all that follows from
 * them, the source's own alert, and the end of the claim. False when the source was changed, deleted or taken over
 * meanwhile: then nothing is stored.
 */
export function takeIn(tools: ApplyTools, owner: string, fetch: Fetch): Promise<boolean> {
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
            outlook: lost(watch, `The data source cannot be fetched: ${result.failure.message}.`),
          }))
        : await bringTogether(tx, tools, fetch, result.children, stored, now)
    await storeSaid(tx, said, tools.publicUrl, now)
    const incidentId = await tellOfSource(tx, fetch, claimed, tools.publicUrl, now)
    await storeMeaning(tx, source.id, { seenHash: meaningOf(result), incidentId })
    await endFetches(tx, owner, [endOf(fetch)])
    return true
  })
}

async function storeSaid(tx: Tx, said: Said[], publicUrl: string, now: Date): Promise<void> {
  const changes = said.flatMap(({ outlook }) => (outlook.kind === 'verdict' ? outlook.change : []))
  const sights = said.flatMap(({ watch: { monitor }, outlook }) => {
    if (outlook.kind !== 'sight') return []
    const { status, summary, value } = outlook
    return { monitor, status, at: now, summary, explanation: value === null ? {} : { data_source: value } }
  })
  await storeSights(tx, sights, now)
  if (changes.length > 0) await judge(tx, changes, publicUrl, now)
}

async function tellOfSource(
  tx: Tx,
  { source, result }: Fetch,
  { failures, incidentId }: { failures: number; incidentId: string | null },
  publicUrl: string,
  now: Date,
): Promise<string | null> {
  if (!('failure' in result)) {
    await closeSourceIncident(tx, { ...source, incidentId }, 'fetched', publicUrl, now)
    return null
  }
  if (incidentId !== null || !isToTell(result.failure, failures)) return incidentId
  const told = { message: result.failure.message, failures: FAILURES_TO_TELL }
  return openSourceIncident(tx, source, told, publicUrl, now)
}

/** Makes, renames, brings back and puts aside monitors as the document has them. Answers what it says of each. */
async function bringTogether(
  tx: Tx,
  tools: ApplyTools,
  { source, responseTimeMs }: Fetch,
  found: Child[],
  stored: StoredChild[],
  now: Date,
): Promise<Said[]> {
  const together = reconcile(stored, found, now)
  const made: { child: Child; monitor: StoredMonitor }[] = []
  for (const child of together.made) made.push({ child, monitor: await draftOf(child, source, tools, now) })
  const news = made.map(({ child, monitor }) => ({ ...child, monitor, madeName: child.name }))
  await insertChildren(tx, source, news, now)
  await storeKept(tx, source, together.kept, now)
  await storeAbsent(tx, together, tools.publicUrl, now)
  const ruleOf = new Map(source.fields.map(({ id, ruleType }) => [id, ruleType]))
  const look = (watch: Watch, child: Child): Said => {
    const looked = { found: child, rule: ruleOf.get(child.fieldId)!, atMs: now.getTime(), responseTimeMs }
    return { watch, outlook: outlookOf(watch, looked) }
  }
  return [
    ...made.map(({ child, monitor }) => look({ monitor, state: null }, child)),
    ...together.kept.map(kept => look(watchOf(kept.stored), kept.found)),
    ...together.missing.map(watch => ({
      watch,
      outlook: lost(watch, `The key ${watch.key} is missing in the document.`),
    })),
  ]
}

/** One from the archive begins anew, with a configuration of its own. */
function watchOf({ monitor, state, archivedAt }: StoredChild): Watch {
  if (archivedAt === null) return { monitor, state }
  return { monitor: { ...monitor, configVersion: monitor.configVersion + 1, deletedAt: null }, state: null }
}

/** What no probe needs stays as small as it can be. */
async function draftOf({ fieldId, key, name }: Child, source: ClaimedSource, tools: ApplyTools, now: Date) {
  const { url, intervalSeconds, timeoutMs } = settingsOf(source)
  const pace = { interval_seconds: intervalSeconds, timeout_ms: timeoutMs, retry_count: 0 }
  const body = { name, type: 'http' as const, url, ...pace, screenshot_on_failure: false }
  const draft = await draftMonitor(tools, source.projectId, body, now)
  return { ...draft, dataSource: { id: source.id, name: source.name, fieldId, key } }
}

const LONGEST_INTERVAL_S = 3_600
const settingsOf = ({ url, fetchIntervalS, timeoutMs }: ClaimedSource) => ({
  url,
  intervalSeconds: Math.min(fetchIntervalS, LONGEST_INTERVAL_S),
  timeoutMs,
})

/** Only what differs is written. A name that was set by hand stays. */
async function storeKept(tx: Tx, source: ClaimedSource, kept: Found[], now: Date): Promise<void> {
  const settings = settingsOf(source)
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
    return [{ ...seenOf(stored), madeName: found.name, value: found.value, missingSince: null, archivedAt: null }]
  })
  await storeSeen(tx, seen, now)
}

type Absent = Pick<Reconciled, 'missing' | 'archived' | 'pruned'>

async function storeAbsent(tx: Tx, { missing, archived, pruned }: Absent, publicUrl: string, now: Date): Promise<void> {
  const gone = missing.filter(child => child.missingSince === null)
  const put = archived.map(child => ({ ...seenOf(child), value: null, archivedAt: now }))
  await storeSeen(tx, [...gone.map(child => ({ ...seenOf(child), value: null, missingSince: now })), ...put], now)
  const monitors = archived.map(({ monitor }) => monitor).sort((a, b) => (a.id < b.id ? -1 : 1))
  if (monitors.length > 0) await retireMonitors(tx, monitors, 'archived', publicUrl, now)
  await pruneMonitors(
    tx,
    pruned.map(({ monitor }) => monitor.id),
  )
}

const seenOf = ({ monitor, madeName, value, missingSince, archivedAt }: StoredChild) => ({
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
    await storeAbsent(tx, { missing: [], ...review }, publicUrl, now)
  })
}
