import { type HistoryPlace, historyPlace, isOtherHistory, monitorsSince } from '../monitors/store.ts'
import type { StoredMonitor } from '../monitors/types.ts'
import { nowMs } from '../platform/clock.ts'
import { enterMonitor, type Mark } from './book.ts'
import { type Desk, markLinks } from './desk.ts'
import { giveNewEpochs } from './epoch-actions.ts'
import { pump } from './grpc.ts'
import {
  beginAgain,
  type Entry,
  enter,
  entryOf,
  forget,
  forgetDeleted,
  isForgotten,
  isSameWork,
  noteDeletion,
  uncheckedEntry,
} from './roster.ts'

const PAGE = 2_000

/**
 * Answers what reads monitors that are new or changed since the last time, into the book and to the probes of this process.
 * When the database has another history than the last time, as after a restore, it reads all of them again.
 */
export function followMonitors(desk: () => Desk): () => Promise<void> {
  let place: HistoryPlace | null = null
  /** reading all of them again has begun and has not been finished yet */
  let isAgainDue = false
  return async () => {
    const now = await historyPlace(desk().db)
    isAgainDue ||= isOtherHistory(now, place, desk().book.roster.revision)
    if (isAgainDue) await readAgain(desk())
    else if (now.revision > desk().book.roster.revision)
      await readChanges(desk(), monitor => enterChanged(desk(), monitor))
    else forgetDeleted(desk().book.roster, nowMs())
    isAgainDue = false
    place = now
  }
}

type Take = (monitor: StoredMonitor) => Mark[]

/** Page by page, in the order of revisions. */
async function readChanges(desk: Desk, take: Take): Promise<void> {
  const { roster } = desk.book
  for (;;) {
    const page = await monitorsSince(desk.db, roster.revision, PAGE)
    const marks: Mark[] = []
    for (const monitor of page) for (const mark of take(monitor)) marks.push(mark)
    tell(desk, marks)
    if (page.length < PAGE) break
  }
  forgetDeleted(roster, nowMs())
}

function enterChanged(desk: Desk, monitor: StoredMonitor): Mark[] {
  const { roster } = desk.book
  if (isForgotten(monitor, nowMs())) {
    forget(roster, monitor)
    return []
  }
  if (monitor.deletedAt === null) return enterMonitor(desk.book, toEntry(desk, monitor))
  const marks = enterMonitor(desk.book, uncheckedEntry(monitor))
  noteDeletion(roster, monitor)
  return marks
}

/**
 * What the database has counts, and what it has not is deleted. Probes hear of what differs; each region gets a new epoch, so
 * that what a probe that is away has is replaced as a whole: its revision is one of another history.
 */
async function readAgain(desk: Desk): Promise<void> {
  const { roster } = desk.book
  desk.log.warn({ revision: roster.revision }, 'PostgreSQL has another history; all monitors are read again')
  const missing = new Set(roster.entries.keys())
  beginAgain(roster)
  await readChanges(desk, monitor => {
    missing.delete(monitor.id)
    const known = roster.entries.get(monitor.id)
    const entry = monitor.deletedAt === null ? toEntry(desk, monitor) : null
    if (!known || !entry || !isSameWork(known, entry)) return enterChanged(desk, monitor)
    enter(roster, entry)
    return []
  })
  const marks: Mark[] = []
  for (const id of missing) {
    const { revision } = roster
    const { configVersion } = roster.entries.get(id) ?? { configVersion: 0 }
    for (const mark of enterMonitor(desk.book, uncheckedEntry({ id, revision, configVersion }))) marks.push(mark)
    noteDeletion(roster, { id, revision, deletedAt: new Date(nowMs()) })
  }
  tell(desk, marks)
  await giveNewEpochs(desk)
}

/** One monitor whose secrets do not open must not keep the others from being checked. */
function toEntry(desk: Desk, monitor: StoredMonitor): Entry {
  try {
    return entryOf(monitor, desk.secrets)
  } catch (error) {
    desk.log.error({ err: error, monitorId: monitor.id }, 'a monitor cannot be checked: its secrets do not open')
    return uncheckedEntry(monitor)
  }
}

function tell(desk: Desk, marks: readonly Mark[]): void {
  for (const link of markLinks(desk.links, marks)) pump(desk, link)
}
