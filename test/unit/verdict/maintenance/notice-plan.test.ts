import t from 'tap'
import {
  type NoticedPeriod,
  planNextNotice,
  reviseOpenPeriod,
  type StoredStage,
} from '../../../../control-plane/verdict/maintenance/notices/notice-plan.ts'

const at = (time: string) => new Date(`2026-03-${time.replace(' ', 'T')}:00Z`)
const SETTINGS = { notifySubscribers: true, announceMinutes: 60 }
const ONCE = {
  ...{ cron: null, durationMinutes: null, timeZone: null, ...SETTINGS },
  ...{ startsAt: at('10 10:00'), endsAt: at('10 12:00') },
}
const NIGHTLY = {
  ...{ cron: '0 2 * * *', durationMinutes: 60, timeZone: 'UTC', startsAt: null, endsAt: null },
  ...SETTINGS,
  announceMinutes: 2_880,
}
const seen = (from: string, to: string, ...stages: StoredStage[]): NoticedPeriod => ({
  ...{ startsAt: at(from), endsAt: at(to), stages, firstStartsAt: at(from), unsentChange: null },
})
/** A period that was changed at a time, and whose former time subscribers know. */
const changed = (period: NoticedPeriod, time: string): NoticedPeriod => ({
  ...period,
  unsentChange: { startsAt: at('10 08:00'), endsAt: at('10 09:00'), changedAt: at(time) },
})
const MOVE = ['10 10:00', '10 12:00'] as const

type Case = [string, typeof ONCE | typeof NIGHTLY, NoticedPeriod | null, string, string]
const PLANS: Case[] = [
  ['nothing is due before the announcement', ONCE, null, '10 08:59', 'wait 10 09:00'],
  ['the announcement is due', ONCE, null, '10 09:00', 'announced 10 10:00'],
  ['a late process announces until the beginning', ONCE, null, '10 09:59', 'announced 10 10:00'],
  ['a late process announces nothing at the beginning', ONCE, null, '10 10:00', 'begun 10 10:00'],
  ['nothing is sent after the end', ONCE, null, '10 12:00', 'none'],
  ['without an announcement', { ...ONCE, announceMinutes: 0 }, null, '10 09:30', 'wait 10 10:00'],
  ['a window whose subscribers are not notified', { ...ONCE, notifySubscribers: false }, null, '10 09:30', 'none'],
  ['after the announcement', ONCE, seen(...MOVE, 'announced'), '10 09:30', 'wait 10 10:00'],
  ['the beginning', ONCE, seen(...MOVE, 'announced'), '10 10:00', 'begun 10 10:00'],
  ['the end is due at the end', ONCE, seen(...MOVE, 'announced', 'begun'), '10 11:00', 'wait 10 12:00'],
  ['the end', ONCE, seen(...MOVE, 'begun'), '10 12:00', 'ended 10 10:00'],
  [
    'a late process reports only the end of an announced period',
    ONCE,
    seen(...MOVE, 'announced'),
    '11 08:00',
    'ended 10 10:00',
  ],
  ['after the end', ONCE, seen(...MOVE, 'begun', 'ended'), '10 12:00', 'none'],
  ['a night is announced two days ahead', NIGHTLY, null, '09 12:00', 'announced 10 02:00'],
  ['one night at a time', NIGHTLY, seen('10 02:00', '10 03:00', 'announced'), '09 12:00', 'wait 10 02:00'],
  [
    'the next night follows the end',
    NIGHTLY,
    seen('10 02:00', '10 03:00', 'begun', 'ended'),
    '10 03:00',
    'announced 11 02:00',
  ],
  [
    'nights without a process are skipped',
    NIGHTLY,
    seen('10 02:00', '10 03:00', 'ended'),
    '15 12:00',
    'announced 16 02:00',
  ],
  [
    'a change is due after a minute',
    ONCE,
    changed(seen(...MOVE, 'announced'), '10 09:30'),
    '10 09:30',
    'wait 10 09:31',
  ],
  ['the change', ONCE, changed(seen(...MOVE, 'announced'), '10 09:30'), '10 09:31', 'changed 10 10:00'],
  [
    'a change of the end while it runs',
    ONCE,
    changed(seen(...MOVE, 'begun'), '10 11:00'),
    '10 11:05',
    'changed 10 10:00',
  ],
  [
    'a change that waits does not delay the beginning',
    ONCE,
    changed(seen(...MOVE, 'announced'), '10 10:00'),
    '10 09:59',
    'wait 10 10:00',
  ],
  [
    'the beginning contains a change that waits',
    ONCE,
    changed(seen(...MOVE, 'announced'), '10 09:30'),
    '10 10:00',
    'begun 10 10:00',
  ],
  [
    'the end contains a change that waits',
    ONCE,
    changed(seen(...MOVE, 'begun'), '10 11:59'),
    '10 12:00',
    'ended 10 10:00',
  ],
  [
    'a window that was moved away and back begins again',
    ONCE,
    seen(...MOVE, 'begun', 'ended'),
    '10 11:00',
    'begun 10 11:00',
  ],
]
t.test('The next notice of a window follows from its schedule and the notices that were sent', async t => {
  const write = (date: Date) => date.toISOString().slice(8, 16).replace('T', ' ')
  for (const [title, window, last, time, expected] of PLANS) {
    const next = planNextNotice(window, last, at(time))
    const plan =
      'dueAt' in next
        ? next.dueAt
          ? `wait ${write(next.dueAt)}`
          : 'none'
        : `${next.stage} ${write(next.period.startsAt)}`
    t.equal(plan, expected, title)
  }
})

const keep = (from: string, to: string) => ({ kind: 'keep', period: { startsAt: at(from), endsAt: at(to) } })
const ANNOUNCED = seen(...MOVE, 'announced')
const RUNNING = seen(...MOVE, 'begun')
const REVISIONS: [string, object, NoticedPeriod | null, string, object | null][] = [
  ['nothing was sent', {}, null, '10 09:00', null],
  ['a finished period', {}, seen(...MOVE, 'ended'), '10 13:00', null],
  ['an unchanged announcement', {}, ANNOUNCED, '10 09:30', keep(...MOVE)],
  ['another end', { endsAt: at('10 11:00') }, ANNOUNCED, '10 09:30', keep('10 10:00', '10 11:00')],
  ['another beginning', { startsAt: at('10 11:00') }, ANNOUNCED, '10 09:30', keep('10 11:00', '10 12:00')],
  ['a beginning that is now', { startsAt: at('10 09:00') }, ANNOUNCED, '10 09:30', keep('10 09:30', '10 12:00')],
  [
    'a time in the past',
    { startsAt: at('10 08:00'), endsAt: at('10 09:00') },
    ANNOUNCED,
    '10 09:30',
    { kind: 'cancel' },
  ],
  ['an announced window is deleted', { startsAt: null, endsAt: null }, ANNOUNCED, '10 09:30', { kind: 'cancel' }],
  ['an announced period becomes recurring', NIGHTLY, ANNOUNCED, '10 09:30', { kind: 'cancel' }],
  ['a running window is deleted', { startsAt: null, endsAt: null }, RUNNING, '10 10:30', { kind: 'end' }],
  ['a running window is moved', { startsAt: at('10 11:00') }, RUNNING, '10 10:30', { kind: 'end' }],
  ['a running window is longer', { endsAt: at('10 14:00') }, RUNNING, '10 10:30', keep('10 10:00', '10 14:00')],
  ['notices are turned off', { notifySubscribers: false }, RUNNING, '10 10:30', { kind: 'silence' }],
]
t.test('A change of a window cancels, ends, moves or keeps the period that subscribers know', async t => {
  for (const [title, change, last, time, expected] of REVISIONS)
    t.same(reviseOpenPeriod({ ...ONCE, ...change }, last, at(time)), expected, title)
})
