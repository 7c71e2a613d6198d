import { enqueueDeliveries } from '../../alerting/deliveries/queue/enqueue-actions.ts'
import {
  PAGE_NOTICE,
  type PageChange,
  type PageEventRow,
  type PageNoticeData,
  toPageSubject,
  toSubscriberSubject,
} from '../../alerting/events/page-event.ts'
import { insertEvents } from '../../alerting/events/store.ts'
import { newId } from '../../foundation/platform/ids.ts'
import { type Db, isLockTimeout, type Tx } from '../../foundation/platform/postgres/client.ts'
import { buildPublicUrl } from '../core/public-url.ts'
import type { StoredPage } from '../core/records.ts'
import {
  buildRecipientFilter,
  isMaintenanceNotice,
  listObsoleteNotices,
  pickNextBatch,
  toPageChanges,
} from './notice-batching.ts'
import {
  deleteNotices,
  findNextNoticeDue,
  findPublishedPage,
  type IncidentNotice,
  listAffectedComponents,
  listComponentsOfMonitors,
  listNotices,
  listPagesWithDueNotices,
  listRecipients,
  listSentPeriods,
  loadEventData,
  lockNotices,
  type PageNotice,
  saveNoticeProgress,
} from './notice-store.ts'

/** Per page and turn, so that a page with many subscribers does not delay the others. */
const MAX_RECIPIENTS_PER_BATCH = 1_000
const MAX_NOTICES = 200
/** When a page is tried again that was skipped. */
const RETRY_DELAY_MS = 1_000

/** Gets the error of a page whose notices could not be sent; it throws to end the round. */
type SkipPage = (error: unknown, pageId: string) => void

/**
 * Creates deliveries for the due notices of all pages, one batch per page and turn
 * (docs/design/subscribers.md#notices). A page that is locked, for example by an import, or that fails does not delay the
 * others: another error than that of a lock is passed to `skip`. Returns when the next notice is due.
 */
export async function notifySubscribers(
  db: Db,
  publicUrl: string,
  now: Date,
  skip: SkipPage = rethrow,
): Promise<Date | null> {
  const due = await findNextNoticeDue(db)
  if (due === null || due > now) return due
  let notBefore = 0
  for (const pageId of await listPagesWithDueNotices(db, now)) {
    try {
      await db.transaction(tx => notifyPageSubscribers(tx, pageId, publicUrl, now))
    } catch (error) {
      if (!isLockTimeout(error)) skip(error, pageId)
      notBefore = now.getTime() + RETRY_DELAY_MS
    }
  }
  const next = await findNextNoticeDue(db)
  return next && new Date(Math.max(next.getTime(), notBefore))
}

function rethrow(error: unknown): never {
  throw error
}

async function notifyPageSubscribers(tx: Tx, pageId: string, publicUrl: string, now: Date): Promise<void> {
  await lockNotices(tx, pageId)
  // before its notices, as an unpublishing request does
  const page = await findPublishedPage(tx, pageId)
  const stored = await listNotices(tx, pageId, MAX_NOTICES)
  const ended = stored.filter(isMaintenanceNotice).filter(({ name }) => name === 'maintenance.ended')
  const windowIds = ended.map(({ data }) => data.maintenance.id)
  const obsolete = listObsoleteNotices(stored, await listSentPeriods(tx, pageId, windowIds), now)
  await deleteNotices(
    tx,
    obsolete.map(notice => notice.seq),
  )
  const notices = stored.filter(notice => !obsolete.includes(notice))
  const [oldest] = notices
  if (!oldest || oldest.dueAt > now) return
  // changes during the time in which a page is unpublished are never sent
  if (!page)
    return deleteNotices(
      tx,
      notices.map(notice => notice.seq),
    )
  const event = oldest.pageEventId
    ? { eventId: oldest.pageEventId, data: await loadEventData<PageNoticeData>(tx, oldest.pageEventId) }
    : await createPageEvent(tx, page, pickNextBatch(notices, now), publicUrl, now)
  if (event) await enqueueBatch(tx, page, oldest, event, now)
}

type PageNoticeEvent = { eventId: string; data: PageNoticeData }

/**
 * Writes one page event for the given notices. The first notice stays and carries the progress; the others are deleted.
 */
async function createPageEvent(
  tx: Tx,
  page: StoredPage,
  notices: PageNotice[],
  publicUrl: string,
  now: Date,
): Promise<PageNoticeEvent | null> {
  const changes = await loadChanges(tx, page.id, notices)
  const done = changes.length === 0 ? notices : notices.slice(1)
  await deleteNotices(
    tx,
    done.map(notice => notice.seq),
  )
  if (changes.length === 0) return null
  const { id, projectId, name } = page
  const data = { page: { id, name, url: buildPublicUrl(page, publicUrl) }, changes }
  const event: PageEventRow = {
    id: newId(),
    projectId,
    name: PAGE_NOTICE,
    subject: toPageSubject(id),
    data,
    occurredAt: now,
  }
  await insertEvents(tx, [event])
  return { eventId: event.id, data }
}

/** The changes that concern the page, with its affected components. Maintenance is never combined with other changes. */
async function loadChanges(tx: Tx, pageId: string, notices: PageNotice[]): Promise<PageChange[]> {
  const [first] = notices
  if (!first || !isMaintenanceNotice(first)) {
    const incidents = notices as IncidentNotice[]
    const ids = incidents.map(({ data }) => data.incident.id)
    return toPageChanges(incidents, await listAffectedComponents(tx, pageId, ids))
  }
  const components = await listComponentsOfMonitors(tx, pageId, first.data.monitor_ids)
  if (components.length === 0) return []
  const { maintenance, previous } = first.data
  const at = first.occurredAt.toISOString()
  return [{ event: first.name, at, maintenance, ...(previous && { previous }), components }]
}

async function enqueueBatch(
  tx: Tx,
  page: StoredPage,
  notice: PageNotice,
  { eventId, data }: PageNoticeEvent,
  now: Date,
): Promise<void> {
  const filter = { ...buildRecipientFilter(data.changes), pageId: page.id, after: notice.lastSubscriberId }
  const recipients = await listRecipients(tx, filter, MAX_RECIPIENTS_PER_BATCH)
  const deliveries = recipients.map(({ id, channelId }) => ({
    projectId: page.projectId,
    channelId,
    subscriberId: id,
    eventId,
    eventName: PAGE_NOTICE,
    subject: toSubscriberSubject(id),
    ...(notice.lastSubscriberId !== null && { isCrowd: true }),
  }))
  await enqueueDeliveries(tx, deliveries, now)
  const last = recipients.at(-1)
  if (last && recipients.length === MAX_RECIPIENTS_PER_BATCH)
    await saveNoticeProgress(tx, { ...notice, pageEventId: eventId, lastSubscriberId: last.id })
  else await deleteNotices(tx, [notice.seq])
}
