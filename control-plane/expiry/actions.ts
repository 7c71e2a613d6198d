import type { Egress } from '../../shared/egress/index.ts'
import { announce } from '../alerts/announce-actions.ts'
import { openIncidentsOf } from '../incidents/automatic-actions.ts'
import { inMaintenance } from '../maintenance/store.ts'
import { get } from '../platform/http.ts'
import { newId } from '../platform/ids.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import type { SeenCertificate } from '../results/certificates.ts'
import { storeDocument } from './bootstrap-store.ts'
import { linkWatches } from './domain-store.ts'
import { expiryEvent } from './expiry-event.ts'
import { parseBootstrap } from './rdap.ts'
import { registrableDomain } from './registration.ts'
import {
  claimDueWatches,
  type DueWatch,
  holdFreeMonitors,
  isAnyWatchDue,
  setNextLooks,
  statesOf,
  upsertSeen,
  upsertWarnings,
  type Warned,
  warningsOf,
  watchEarliest,
} from './store.ts'
import { daysLeft, lookAt } from './windows.ts'

const DAY_MS = 86_400_000
/** Of a monitor that is paused or in maintenance nothing is told; how soon after that it is thought of again, at the latest. */
const SILENT_LOOK_MS = 600_000
const DOCUMENT_LIMITS = { timeoutMs: 30_000, maxAnswerBytes: 4 * 1024 * 1024 }

/**
 * Keeps certificates that probes met, all in one transaction. The same ones again change nothing. Answers the monitors
 * of which nothing is kept, because other transactions have locked them.
 */
export async function storeCertificates(db: Db, seen: SeenCertificate[], now: Date): Promise<string[]> {
  const ids = [...new Set(seen.map(({ monitorId }) => monitorId))]
  return db.transaction(async tx => {
    const { free, locked } = await holdFreeMonitors(tx, ids)
    await upsertSeen(
      tx,
      seen.filter(({ monitorId }) => free.includes(monitorId)),
    )
    await watchEarliest(tx, free, now)
    return locked
  })
}

/**
 * Looks at up to `limit` watches that are due: ties new ones to their domain, and sends the warnings whose time has
 * come, with the mark that they were sent, in one transaction. Answers how many it looked at.
 */
export async function lookAtDue(db: Db, publicUrl: string, limit: number, now: Date): Promise<number> {
  if (!(await isAnyWatchDue(db, now))) return 0
  return db.transaction(async tx => {
    const due = await claimDueWatches(tx, now, limit)
    const idle = due.filter(watch => watch.isDeleted)
    const unlinked = due.filter(watch => !watch.isDeleted && watch.identity === null)
    const known = due.filter(watch => !watch.isDeleted && watch.identity !== null)
    await setNextLooks(
      tx,
      idle.map(({ monitorId, kind }) => ({ monitorId, kind, nextLookAt: null })),
    )
    if (unlinked.length > 0) {
      const links = unlinked.map(({ monitorId, type, url }) => ({ monitorId, domain: registrableDomain(type, url) }))
      await linkWatches(tx, links, now)
    }
    if (known.length > 0) await warn(tx, known, publicUrl, now)
    return due.length
  })
}

async function warn(tx: Tx, watches: DueWatch[], publicUrl: string, now: Date): Promise<void> {
  const ids = watches.map(({ monitorId }) => monitorId)
  const told = await warningsOf(tx, ids)
  const silent = await inMaintenance(tx, ids, now)
  const warnings: Warned[] = []
  const nextLooks: Parameters<typeof setNextLooks>[1] = []
  const due: DueWatch[] = []
  for (const watch of watches) {
    const { monitorId, kind } = watch
    if (watch.isPaused || silent.has(monitorId)) {
      nextLooks.push({ monitorId, kind, nextLookAt: new Date(now.getTime() + SILENT_LOOK_MS) })
      continue
    }
    const identity = watch.identity!
    const before = told.find(one => one.monitorId === monitorId && one.kind === kind && one.identity === identity)
    const look = lookAt(watch.expiresAt!, before?.warnedDays ?? null, now)
    nextLooks.push({ monitorId, kind, nextLookAt: look.nextLookAt })
    if (look.warn === null) continue
    warnings.push({ monitorId, kind, identity, warnedDays: look.warn })
    due.push(watch)
  }
  await setNextLooks(tx, nextLooks)
  if (due.length === 0) return
  await upsertWarnings(tx, warnings, now)
  await tell(tx, due, publicUrl, now)
}

/** Events and their deliveries, to every channel with a rule on the monitor (decisions 6.5). */
async function tell(tx: Tx, watches: DueWatch[], publicUrl: string, now: Date): Promise<void> {
  const ids = [...new Set(watches.map(({ monitorId }) => monitorId))]
  const states = await statesOf(tx, ids)
  const incidents = await openIncidentsOf(tx, ids)
  const events = watches.map(watch => {
    const state = states.get(watch.monitorId) ?? null
    const incident = incidents.find(one => one.monitor_id === watch.monitorId) ?? null
    const days = daysLeft(watch.expiresAt!, now)
    const monitor = { ...watch, id: watch.monitorId }
    return expiryEvent(newId(), watch.kind, monitor, days, { state, incident, publicUrl }, now)
  })
  await announce(tx, events, now)
}

/**
 * Fetches the list of registries' RDAP services, in the form of IANA's dns.json, for all processes. Answers how many
 * top-level domains it names. Throws a sentence when it cannot be had or is no such list; then the old one stays.
 */
export async function refreshBootstrap(db: Db, egress: Egress, url: string, now: Date): Promise<number> {
  const answer = await get(url, { Accept: 'application/json' }, DOCUMENT_LIMITS, egress)
  if (answer.error) throw new Error(`${url} cannot be fetched: ${answer.error.message}`)
  if (answer.statusCode !== 200) throw new Error(`${url} cannot be fetched: status ${answer.statusCode}`)
  const text = answer.truncated ? '' : String(answer.body ?? '')
  const bootstrap = parseBootstrap(parsed(text))
  if (!bootstrap) throw new Error(`${url} is not a list of RDAP services in the form of IANA's dns.json`)
  await storeDocument(db, text.replaceAll('\\u0000', ''), new Date(now.getTime() + 7 * DAY_MS), now)
  return bootstrap.size
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
