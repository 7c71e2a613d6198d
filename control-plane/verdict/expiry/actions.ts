import type { Egress } from '../../../shared/egress/types.ts'
import { publishEvents } from '../../alerting/routing/publishing/publish-actions.ts'
import { newId } from '../../foundation/platform/ids.ts'
import { httpGet } from '../../foundation/platform/network/http-client.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { listOpenAutomaticIncidents } from '../incidents/automatic-actions.ts'
import { listMonitorsInMaintenance } from '../maintenance/store.ts'
import type { ObservedCertificate } from '../reader/counting/certificates.ts'
import { linkWatches } from './domains/domain-store.ts'
import { parseBootstrap } from './domains/rdap.ts'
import { storeRdapDocument } from './domains/rdap-bootstrap-store.ts'
import { findRegistrableDomain } from './domains/registration.ts'
import { buildExpiryEvent } from './expiry-event.ts'
import {
  claimDueWatches,
  type DueExpiryWatch,
  type ExpiryWarning,
  hasDueWatch,
  listWarnings,
  loadVerdictStates,
  scheduleWatches,
  tryLockMonitors,
  upsertCertificates,
  upsertWarnings,
  watchEarliestCertificates,
} from './store.ts'
import { checkWarnings, computeDaysLeft } from './warning-schedule.ts'

const DAY_MS = 86_400_000
/** Of a monitor that is paused or in maintenance nothing is told; how soon after that it is thought of again, at the latest. */
const SUPPRESSED_RETRY_MS = 600_000
const DOCUMENT_LIMITS = { timeoutMs: 30_000, maxAnswerBytes: 4 * 1024 * 1024 }

/**
 * Keeps certificates that probes met, all in one transaction. The same ones again change nothing. Answers the monitors
 * of which nothing is kept, because other transactions have locked them.
 */
export async function storeCertificates(db: Db, seen: ObservedCertificate[], now: Date): Promise<string[]> {
  const ids = [...new Set(seen.map(({ monitorId }) => monitorId))]
  return db.transaction(async tx => {
    const { free, locked } = await tryLockMonitors(tx, ids)
    await upsertCertificates(
      tx,
      seen.filter(({ monitorId }) => free.includes(monitorId)),
    )
    await watchEarliestCertificates(tx, free, now)
    return locked
  })
}

/**
 * Looks at up to `limit` watches that are due: ties new ones to their domain, and sends the warnings whose time has
 * come, with the mark that they were sent, in one transaction. Answers how many it looked at.
 */
export async function processDueWatches(db: Db, publicUrl: string, limit: number, now: Date): Promise<number> {
  if (!(await hasDueWatch(db, now))) return 0
  return db.transaction(async tx => {
    const due = await claimDueWatches(tx, now, limit)
    const idle = due.filter(watch => watch.isDeleted)
    const unlinked = due.filter(watch => !watch.isDeleted && watch.identity === null)
    const known = due.filter(watch => !watch.isDeleted && watch.identity !== null)
    await scheduleWatches(
      tx,
      idle.map(({ monitorId, kind }) => ({ monitorId, kind, nextLookAt: null })),
    )
    if (unlinked.length > 0) {
      const links = unlinked.map(({ monitorId, type, url }) => ({
        monitorId,
        domain: findRegistrableDomain(type, url),
      }))
      await linkWatches(tx, links, now)
    }
    if (known.length > 0) await sendWarnings(tx, known, publicUrl, now)
    return due.length
  })
}

async function sendWarnings(tx: Tx, watches: DueExpiryWatch[], publicUrl: string, now: Date): Promise<void> {
  const ids = watches.map(({ monitorId }) => monitorId)
  const told = await listWarnings(tx, ids)
  const silent = await listMonitorsInMaintenance(tx, ids, now)
  const warnings: ExpiryWarning[] = []
  const nextLooks: Parameters<typeof scheduleWatches>[1] = []
  const due: DueExpiryWatch[] = []
  for (const watch of watches) {
    const { monitorId, kind } = watch
    if (watch.isPaused || silent.has(monitorId)) {
      nextLooks.push({ monitorId, kind, nextLookAt: new Date(now.getTime() + SUPPRESSED_RETRY_MS) })
      continue
    }
    const identity = watch.identity!
    const before = told.find(one => one.monitorId === monitorId && one.kind === kind && one.identity === identity)
    const look = checkWarnings(watch.expiresAt!, before?.warnedDays ?? null, now)
    nextLooks.push({ monitorId, kind, nextLookAt: look.nextLookAt })
    if (look.warn === null) continue
    warnings.push({ monitorId, kind, identity, warnedDays: look.warn })
    due.push(watch)
  }
  await scheduleWatches(tx, nextLooks)
  if (due.length === 0) return
  await upsertWarnings(tx, warnings, now)
  await publishWarnings(tx, due, publicUrl, now)
}

/** Events and their deliveries, to every channel with a rule on the monitor (decisions 6.5). */
async function publishWarnings(tx: Tx, watches: DueExpiryWatch[], publicUrl: string, now: Date): Promise<void> {
  const ids = [...new Set(watches.map(({ monitorId }) => monitorId))]
  const states = await loadVerdictStates(tx, ids)
  const incidents = await listOpenAutomaticIncidents(tx, ids)
  const events = watches.map(watch => {
    const state = states.get(watch.monitorId) ?? null
    const incident = incidents.find(one => one.monitor_id === watch.monitorId) ?? null
    const days = computeDaysLeft(watch.expiresAt!, now)
    const monitor = { ...watch, id: watch.monitorId }
    return buildExpiryEvent(newId(), watch.kind, monitor, days, { state, incident, publicUrl }, now)
  })
  await publishEvents(tx, events, now)
}

/**
 * Fetches the list of registries' RDAP services, in the form of IANA's dns.json, for all processes. Answers how many
 * top-level domains it names. Throws a sentence when it cannot be had or is no such list; then the old one stays.
 */
export async function refreshRdapBootstrap(db: Db, egress: Egress, url: string, now: Date): Promise<number> {
  const answer = await httpGet(url, { Accept: 'application/json' }, DOCUMENT_LIMITS, egress)
  if (answer.error) throw new Error(`${url} cannot be fetched: ${answer.error.message}`)
  if (answer.statusCode !== 200) throw new Error(`${url} cannot be fetched: status ${answer.statusCode}`)
  const text = answer.truncated ? '' : String(answer.body ?? '')
  const bootstrap = parseBootstrap(parseJson(text))
  if (!bootstrap) throw new Error(`${url} is not a list of RDAP services in the form of IANA's dns.json`)
  await storeRdapDocument(db, text.replaceAll('\\u0000', ''), new Date(now.getTime() + 7 * DAY_MS), now)
  return bootstrap.size
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
