import type { Egress } from '../../../shared/egress/types.ts'
import { publishEvents } from '../../alerting/routing/publishing/publish-actions.ts'
import { newId } from '../../foundation/platform/ids.ts'
import { httpGet } from '../../foundation/platform/network/http-client.ts'
import { type Db, isInvalidRowError, type Tx } from '../../foundation/platform/postgres/client.ts'
import { listOpenAutomaticIncidents } from '../incidents/automatic-actions.ts'
import { listMonitorsInMaintenance } from '../maintenance/store.ts'
import type { CertificateOutcome, ObservedCertificate } from '../reader/counting/certificates.ts'
import { loadActiveSilences } from '../silences/store.ts'
import { linkWatches } from './domains/domain-store.ts'
import { parseBootstrap } from './domains/rdap.ts'
import { storeRdapDocument } from './domains/rdap-bootstrap-store.ts'
import { findRegistrableDomain } from './domains/registration.ts'
import { buildExpiryEvent } from './expiry-event.ts'
import {
  claimDueWatches,
  type DueExpiryWatch,
  deleteUnseenCertificates,
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
/** No warning is sent for a monitor that is paused or in maintenance. Its watch is looked at again after this. */
const SUPPRESSED_RETRY_MS = 600_000
const DOCUMENT_LIMITS = { timeoutMs: 30_000, maxAnswerBytes: 4 * 1024 * 1024 }

/**
 * Stores certificates that probes saw. Of known certificates, only the time changes. Deletes those that no longer count. All
 * are stored in one transaction; if PostgreSQL rejects a row, each half by itself, so that all others are stored.
 */
export async function storeCertificates(db: Db, seen: ObservedCertificate[], now: Date): Promise<CertificateOutcome> {
  try {
    return { locked: await storeTogether(db, seen, now), rejected: [] }
  } catch (error) {
    if (!isInvalidRowError(error)) throw error
    if (seen.length === 1) return { locked: [], rejected: [{ certificate: seen[0]!, error }] }
    const middle = Math.ceil(seen.length / 2)
    const first = await storeCertificates(db, seen.slice(0, middle), now)
    const second = await storeCertificates(db, seen.slice(middle), now)
    return { locked: [...first.locked, ...second.locked], rejected: [...first.rejected, ...second.rejected] }
  }
}

/** Returns the monitors whose certificates were not stored, because other transactions have locked them. */
async function storeTogether(db: Db, seen: ObservedCertificate[], now: Date): Promise<string[]> {
  const ids = [...new Set(seen.map(({ monitorId }) => monitorId))]
  return db.transaction(async tx => {
    const { free, locked } = await tryLockMonitors(tx, ids)
    const stored = seen.filter(({ monitorId }) => free.includes(monitorId))
    await upsertCertificates(tx, stored)
    const steady = new Set(stored.flatMap(({ monitorId, isSteady }) => (isSteady ? monitorId : [])))
    await deleteUnseenCertificates(tx, free, [...steady])
    await watchEarliestCertificates(tx, free, now)
    return locked
  })
}

/**
 * Processes up to `limit` watches that are due, in one transaction: links new ones to their domain, and sends the
 * warnings that are due together with the mark that they were sent. Returns the number of watches.
 */
export async function processDueWatches(db: Db, publicUrl: string, limit: number, now: Date): Promise<number> {
  if (!(await hasDueWatch(db, now))) return 0
  return db.transaction(async tx => {
    const due = await claimDueWatches(tx, now, limit)
    const deleted = due.filter(watch => watch.isDeleted)
    const unlinked = due.filter(watch => !watch.isDeleted && watch.identity === null)
    const known = due.filter(watch => !watch.isDeleted && watch.identity !== null)
    await scheduleWatches(
      tx,
      deleted.map(({ monitorId, kind }) => ({ monitorId, kind, nextLookAt: null })),
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
  const sent = await listWarnings(tx, ids)
  const inMaintenance = await listMonitorsInMaintenance(tx, ids, now)
  const silenced = await loadActiveSilences(tx, ids, now)
  const warnings: ExpiryWarning[] = []
  const nextLooks: Parameters<typeof scheduleWatches>[1] = []
  const due: DueExpiryWatch[] = []
  for (const watch of watches) {
    const { monitorId, kind } = watch
    if (watch.isPaused || inMaintenance.has(monitorId) || silenced.has(monitorId)) {
      nextLooks.push({ monitorId, kind, nextLookAt: new Date(now.getTime() + SUPPRESSED_RETRY_MS) })
      continue
    }
    const identity = watch.identity!
    const before = sent.find(one => one.monitorId === monitorId && one.kind === kind && one.identity === identity)
    const check = checkWarnings(watch.expiresAt!, before?.warnedDays ?? null, now)
    nextLooks.push({ monitorId, kind, nextLookAt: check.nextLookAt })
    if (check.warn === null) continue
    warnings.push({ monitorId, kind, identity, warnedDays: check.warn })
    due.push(watch)
  }
  await scheduleWatches(tx, nextLooks)
  if (due.length === 0) return
  await upsertWarnings(tx, warnings, now)
  await publishWarnings(tx, due, publicUrl, now)
}

/** Publishes warnings to every channel with a rule on the monitor. */
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
 * Fetches the list of RDAP services, in the format of IANA's dns.json, for all processes. Returns the number of
 * top-level domains in it. Throws an error with a readable message if the list cannot be fetched or is invalid; the old
 * one stays.
 */
export async function refreshRdapBootstrap(db: Db, egress: Egress, url: string, now: Date): Promise<number> {
  const answer = await httpGet(url, { Accept: 'application/json' }, DOCUMENT_LIMITS, egress)
  if (answer.error) throw new Error(`${url} cannot be fetched: ${answer.error.message}`)
  if (answer.statusCode !== 200) throw new Error(`${url} cannot be fetched: status ${answer.statusCode}`)
  const text = answer.truncated ? '' : String(answer.body ?? '')
  const bootstrap = parseBootstrap(parseJson(text))
  if (!bootstrap) throw new Error(`${url} is not a list of RDAP services in the format of IANA's dns.json`)
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
