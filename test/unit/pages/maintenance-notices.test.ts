import t from 'tap'
import { buildPeriodId, type MaintenanceStage } from '../../../control-plane/alerting/events/maintenance-event.ts'
import type { NoticedMaintenanceView } from '../../../control-plane/pages/core/types.ts'
import { buildFeedEntries } from '../../../control-plane/pages/public/feeds/entries.tsx'
import { listObsoleteNotices, pickNextBatch } from '../../../control-plane/pages/subscribers/notice-batching.ts'
import type { MaintenanceNotice } from '../../../control-plane/pages/subscribers/notice-store.ts'
import { pageView } from '../../support/page-view.ts'

const NOW = new Date('2026-08-01T12:00:00Z')

function notice(seq: number, stage: MaintenanceStage, startsAt: string, pageEventId: string | null = null) {
  const starts_at = new Date(startsAt).toISOString()
  const ends_at = new Date(Date.parse(startsAt) + 3_600_000).toISOString()
  return {
    ...{ seq, dueAt: NOW, pageEventId, lastSubscriberId: null, occurredAt: NOW, name: `maintenance.${stage}` },
    data: { maintenance: { id: 'w1', title: 'Move', description: null, starts_at, ends_at }, monitor_ids: ['m1'] },
  } as MaintenanceNotice
}

const [EARLIER, RUNNING, LATER] = ['2026-08-01T10:00:00Z', '2026-08-01T11:30:00Z', '2026-08-02T10:00:00Z']
/** A notice of the period that began with a day later. */
function moved(seq: number, startsAt: string, stage: MaintenanceStage = 'changed') {
  const made = notice(seq, stage, startsAt)
  Object.assign(made.data.maintenance, { period_id: buildPeriodId('w1', new Date(LATER)) })
  return made
}

const OBSOLETE: [string, MaintenanceNotice[], number[]][] = [
  ['an announcement in time is sent', [notice(1, 'announced', LATER)], []],
  ['an announcement after the beginning is not sent', [notice(1, 'announced', RUNNING)], [1]],
  [
    'an announcement and its cancellation are not sent when both wait',
    [notice(1, 'announced', LATER), notice(2, 'cancelled', LATER), notice(3, 'announced', '2026-08-03T10:00:00Z')],
    [1, 2],
  ],
  [
    'a cancellation of what was announced is sent',
    [notice(1, 'announced', LATER, 'sent'), notice(2, 'cancelled', LATER)],
    [],
  ],
  [
    'maintenance that was moved away and back is announced',
    [notice(1, 'announced', LATER), notice(2, 'cancelled', LATER), notice(3, 'announced', LATER)],
    [1, 2],
  ],
  ['an announcement after a cancellation is sent', [notice(1, 'cancelled', LATER), notice(2, 'announced', LATER)], []],
  [
    'an announcement and its change are not sent when the cancellation waits as well',
    [notice(1, 'announced', LATER), moved(2, LATER), moved(3, LATER, 'cancelled')],
    [1, 2, 3],
  ],
  ['a change is sent', [moved(1, LATER)], []],
  ['a change after the end is not sent', [moved(1, EARLIER)], [1]],
  [
    'an end is not sent without a beginning or an announcement before it',
    [notice(1, 'begun', EARLIER), notice(2, 'ended', EARLIER)],
    [1, 2],
  ],
  [
    'the end of what begins for some subscribers is sent',
    [notice(1, 'begun', EARLIER, 'sent'), notice(2, 'ended', EARLIER)],
    [],
  ],
  [
    'nothing is sent when the announcement, the beginning and the end all wait',
    [notice(1, 'announced', EARLIER), notice(2, 'begun', EARLIER), notice(3, 'ended', EARLIER)],
    [1, 2, 3],
  ],
  [
    'the early end of what has begun is sent, although its announcement waited as well',
    [notice(1, 'announced', RUNNING), notice(2, 'begun', RUNNING), notice(3, 'ended', RUNNING)],
    [1],
  ],
  ['the end of what was announced is sent', [notice(1, 'announced', EARLIER, 'sent'), notice(2, 'ended', EARLIER)], []],
]
t.test('Notices about maintenance that became wrong while they waited are not sent', async t => {
  for (const [title, notices, expected] of OBSOLETE) {
    const obsolete = listObsoleteNotices(notices, new Set(), NOW)
    t.same(
      obsolete.map(({ seq }) => seq),
      expected,
      title,
    )
  }
})

t.test(
  'The end of maintenance is sent when its announcement was sent, also when its beginning came too late',
  async t => {
    const waiting = [notice(1, 'begun', EARLIER), notice(2, 'ended', EARLIER)]
    const seqsWhenSent = (...periods: string[]) =>
      listObsoleteNotices(waiting, new Set(periods), NOW).map(({ seq }) => seq)
    t.same(seqsWhenSent(buildPeriodId('w1', new Date(EARLIER))), [1])
    t.same(seqsWhenSent(buildPeriodId('w1', new Date(LATER))), [1, 2], 'another period does not count')
  },
)

t.test('Each notice about maintenance is a message of its own', async t => {
  const many = [1, 2, 3, 4, 5].map(seq => notice(seq, 'ended', EARLIER))
  t.same(
    pickNextBatch(many, NOW).map(({ seq }) => seq),
    [1],
  )
})

t.test('The feed has an entry for maintenance from its announcement on, with each stage', async t => {
  const period = {
    ...{ id: 'w1-1', name: 'Move', description: 'Read-only.', componentIds: ['c1'], componentNames: ['Shop'] },
    ...{ startsAt: '2026-08-01T11:30:00.000Z', endsAt: '2026-08-01T12:30:00.000Z' },
  }
  const announced = { stage: 'announced' as const, at: '2026-07-31T11:30:00.000Z', previous: null }
  const previous = { startsAt: '2026-08-01T09:00:00.000Z', endsAt: '2026-08-01T10:00:00.000Z' }
  const changed = { stage: 'changed' as const, at: '2026-07-31T11:40:00.000Z', previous }
  const begun = { stage: 'begun' as const, at: '2026-08-01T11:30:02.000Z', previous: null }
  const view = pageView()
  const buildEntries = (notices: NoticedMaintenanceView['notices'], firstStartsAt = period.startsAt) =>
    buildFeedEntries({
      ...view,
      maintenance: [{ ...period, isRunning: true }],
      noticedMaintenance: notices.length === 0 ? [] : [{ ...period, firstStartsAt, notices }],
    }).filter(({ title }) => title === 'Move')
  t.match(buildEntries([]), [{ publishedAt: period.startsAt, updatedAt: period.startsAt }], 'without notices')
  const [entry, ...others] = buildEntries([announced, begun])
  t.same(others, [], 'running maintenance is one entry')
  t.match(entry, { id: 'urn:uuid:w1-1#2026-08-01T11:30:00.000Z', publishedAt: announced.at, updatedAt: begun.at })
  t.match(
    entry?.html,
    /In progress.*11:30.*Announced.*31 Jul 2026.*1 Aug 2026, 11:30 UTC to 1 Aug.*Read-only.*Affects Shop/,
  )
  const [rescheduled, ...more] = buildEntries([announced, changed], previous.startsAt)
  t.same(more, [])
  t.match(
    rescheduled,
    { id: 'urn:uuid:w1-1#2026-08-01T09:00:00.000Z', updatedAt: changed.at },
    'a period that is moved keeps its entry',
  )
  t.match(rescheduled?.html, /Rescheduled.*Before: 1 Aug 2026, 09:00 UTC to 1 Aug.*Announced.*1 Aug 2026, 11:30 UTC to/)
})
