import { enqueueDeliveries } from '../../deliveries/actions.ts'
import {
  PAGE_NOTICE,
  type PageEventRow,
  type PageNoticeData,
  subjectOfPage,
  subjectOfSubscriber,
} from '../../events/page-event.ts'
import { insertEvents } from '../../events/store.ts'
import { newId } from '../../platform/ids.ts'
import type { Db, Tx } from '../../platform/postgres.ts'
import { publicUrlOf } from '../public-url.ts'
import type { StoredPage } from '../records.ts'
import { changesOf, nextToTell, reachOf } from './gathering.ts'
import {
  audienceOf,
  dropNotices,
  findPublishedPage,
  holdNotices,
  type Notice,
  nextNoticeDue,
  noticesOfPage,
  pagesWithDueNotices,
  storeProgress,
  toldChanges,
  touchedByIncidents,
} from './notice-store.ts'

/** Of one page, before the next one has its turn: a page with many subscribers holds up no other. */
const AT_ONCE = 1_000
const MOST_NOTICES = 200

/** Makes deliveries of what pages have to tell, a batch a page and turn. Answers when there is more to do. */
export async function tellSubscribers(db: Db, publicUrl: string, now: Date): Promise<Date | null> {
  const due = await nextNoticeDue(db)
  if (due === null || due > now) return due
  for (const pageId of await pagesWithDueNotices(db, now)) {
    await db.transaction(tx => tellSome(tx, pageId, publicUrl, now))
  }
  return nextNoticeDue(db)
}

async function tellSome(tx: Tx, pageId: string, publicUrl: string, now: Date): Promise<void> {
  await holdNotices(tx, pageId)
  const notices = await noticesOfPage(tx, pageId, MOST_NOTICES)
  const [oldest] = notices
  if (!oldest || oldest.dueAt > now) return
  const page = await findPublishedPage(tx, pageId)
  // what happens while a page is unpublished is told to nobody, also not afterwards
  if (!page)
    return dropNotices(
      tx,
      notices.map(notice => notice.seq),
    )
  const told = oldest.toldEventId
    ? { eventId: oldest.toldEventId, data: await toldChanges<PageNoticeData>(tx, oldest.toldEventId) }
    : await begin(tx, page, nextToTell(notices, now), publicUrl, now)
  if (told) await tellBatch(tx, page, oldest, told, now)
}

type Told = { eventId: string; data: PageNoticeData }

/** Writes the page's own event of some notices; the first of them stays and is told, the others are in it. */
async function begin(tx: Tx, page: StoredPage, notices: Notice[], publicUrl: string, now: Date): Promise<Told | null> {
  const incidentIds = notices.map(({ data }) => data.incident.id)
  const changes = changesOf(notices, await touchedByIncidents(tx, page.id, incidentIds))
  const done = changes.length === 0 ? notices : notices.slice(1)
  await dropNotices(
    tx,
    done.map(notice => notice.seq),
  )
  if (changes.length === 0) return null
  const { id, projectId, name } = page
  const data = { page: { id, name, url: publicUrlOf(page, publicUrl) }, changes }
  const event: PageEventRow = {
    id: newId(),
    projectId,
    name: PAGE_NOTICE,
    subject: subjectOfPage(id),
    data,
    occurredAt: now,
  }
  await insertEvents(tx, [event])
  return { eventId: event.id, data }
}

async function tellBatch(tx: Tx, page: StoredPage, notice: Notice, { eventId, data }: Told, now: Date): Promise<void> {
  const reach = { ...reachOf(data.changes), pageId: page.id, after: notice.toldTo }
  const audience = await audienceOf(tx, reach, AT_ONCE)
  const deliveries = audience.map(({ id, channelId }) => ({
    projectId: page.projectId,
    channelId,
    subscriberId: id,
    eventId,
    eventName: PAGE_NOTICE,
    subject: subjectOfSubscriber(id),
    ...(notice.toldTo !== null && { isCrowd: true }),
  }))
  await enqueueDeliveries(tx, deliveries, now)
  const last = audience.at(-1)
  if (last && audience.length === AT_ONCE) await storeProgress(tx, { ...notice, toldEventId: eventId, toldTo: last.id })
  else await dropNotices(tx, [notice.seq])
}
