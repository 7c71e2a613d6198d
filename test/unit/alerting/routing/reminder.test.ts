import t from 'tap'
import type { EventRow, MonitorEventData } from '../../../../control-plane/alerting/events/catalog.ts'
import {
  buildReminderEvent,
  buildReminders,
  computeNextReminderAt,
  type DueReminder,
  isDeferred,
  isStillDue,
  planReminder,
} from '../../../../control-plane/alerting/routing/reminders/reminder.ts'

const at = (minutes: number) => new Date(1_700_000_000_000 + minutes * 60_000)

const BEATS: [title: string, due: number, every: number, now: number, next: number][] = [
  ['the next reminder is one interval after the last', 60, 60, 60, 120],
  ['also when the last one was some seconds late', 60, 60, 60.5, 120],
  ['after a long delay the next reminder is one interval from now', 60, 60, 200, 260],
  ['after a long delay there is no backlog', 5, 5, 1_000, 1_005],
]
for (const [title, due, every, now, next] of BEATS) {
  t.test(title, async t => t.same(computeNextReminderAt(at(due), every, at(now)), at(next)))
}

const incident = { id: 'i', title: 'Shop is down', status: 'investigating', severity: 'major', started_at: 'then' }
const data: MonitorEventData = {
  monitor: { id: 'm', name: 'Shop', url: 'https://shop.example', type: 'http', status: 'down' },
  check: { region: 'us-east', regions: ['us-east'], status_code: 500, response_time_ms: 12, error: 'status 500' },
  ssl_expiry_days: null,
  domain_expiry_days: null,
  down_duration: null,
  incident,
  dashboard_url: 'http://picket.test/monitors/m',
}
const down = {
  id: 'e',
  projectId: 'p',
  name: 'monitor.down',
  subject: 'monitor:m',
  data,
  occurredAt: at(0),
} as EventRow
const rule = { id: 'r', monitorId: 'm', onDown: true, remindEveryMinutes: 30 }

t.test('An outage that was sent is sent again after the interval of the rule', async t => {
  t.same(buildReminders(down, [rule], at(0)), [
    { ruleId: 'r', monitorId: 'm', incidentId: 'i', eventId: 'e', dueAt: at(30) },
  ])
})

t.test('No reminder starts without an interval, without on_down or without an outage', async t => {
  t.same(buildReminders(down, [{ ...rule, remindEveryMinutes: null }], at(0)), [])
  t.same(buildReminders(down, [{ ...rule, onDown: false }], at(0)), [])
  t.same(buildReminders({ ...down, data: { ...data, incident: null } }, [rule], at(0)), [])
  t.same(buildReminders({ ...down, name: 'monitor.degraded' }, [rule], at(0)), [])
})

type PlannedReminder = Parameters<typeof planReminder>[0]

const due: DueReminder = {
  ruleId: 'r',
  projectId: 'p',
  channelId: 'c',
  onDown: true,
  everyMinutes: 30,
  sentCount: 2,
  dueAt: at(30),
  monitor: { id: 'm', name: 'Shop 2', url: 'https://shop2.example', status: 'down', isPaused: false },
  isDeleted: false,
  isSilenced: false,
  isOutdated: false,
  isSourcePaused: false,
  incident: { ...incident, status: 'identified' },
  isResolved: false,
  isAcknowledged: false,
  data,
}

const ENDS: [title: string, change: Partial<DueReminder>][] = [
  ['the recovery', { monitor: { ...due.monitor, status: 'up' } }],
  ['a pause', { monitor: { ...due.monitor, isPaused: true } }],
  ['the deletion of the monitor', { isDeleted: true }],
  ['the end of the incident', { isResolved: true }],
  ['its acknowledgement', { isAcknowledged: true }],
  ['a rule without on_down', { onDown: false }],
  ['a rule without an interval', { everyMinutes: null }],
]
t.ok(isStillDue(due), 'a lasting outage is sent again')
for (const [title, change] of ENDS) {
  t.test(`${title} ends the reminders`, async t => t.notOk(isStillDue({ ...due, ...change })))
}

for (const status of ['degraded', null]) {
  t.test(`A monitor that is ${status ?? 'without a status'} during an outage defers the reminders`, async t => {
    const reminder = { ...due, monitor: { ...due.monitor, status } }
    t.ok(isStillDue(reminder))
    t.ok(isDeferred(reminder))
  })
}

t.test('A silence and a paused data source defer the reminders, and an outage without them does not', async t => {
  t.ok(isDeferred({ ...due, isSilenced: true }))
  t.ok(isDeferred({ ...due, isSourcePaused: true }))
  t.notOk(isDeferred(due))
})

const PLANS: [title: string, change: Partial<DueReminder>, isSent: boolean, dueMinutes: number][] = [
  ['a lasting outage is sent, and the next time is an interval later', {}, true, 60],
  ['a silence skips the time', { isSilenced: true }, false, 60],
  ['a status that may be out of date is asked for again soon', { isOutdated: true }, false, 30.5],
  ['a silence comes first', { isSilenced: true, isOutdated: true }, false, 60],
  ['and so does a status that is not down', { monitor: { ...due.monitor, status: null }, isOutdated: true }, false, 60],
]
for (const [title, change, isSent, dueMinutes] of PLANS) {
  t.test(`Reminders: ${title}`, async t =>
    t.same(planReminder({ ...due, everyMinutes: 30, ...change } as PlannedReminder, at(30)), {
      isSent,
      dueAt: at(dueMinutes),
    }),
  )
}

t.test('A reminder has the current monitor and incident, in the shape of a monitor.down', async t => {
  const event = buildReminderEvent('e2', due, at(30))
  t.match(event, { id: 'e2', name: 'monitor.down', subject: 'monitor:m', occurredAt: at(30) })
  t.same(event.data, {
    ...data,
    monitor: { id: 'm', name: 'Shop 2', url: 'https://shop2.example', type: 'http', status: 'down' },
    incident: { ...incident, status: 'identified' },
  })
  t.same(Object.keys(event.data), Object.keys(data))
})
