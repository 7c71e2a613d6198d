import t from 'tap'
import { NO_DETAILS, Outcome, Trigger } from '../../../shared/checks/result.ts'
import {
  type CheckOutcome,
  checkCustomerWrites,
  checkHistory,
  checkNotifications,
  checkOutageReports,
} from '../../chaos/checks.ts'
import type { AcknowledgedMessage } from '../../chaos/ledger.ts'
import type { DeliveryRecord, StoredRecords, TransitionRecord } from '../../chaos/records.ts'
import type { LostPeriod } from '../../chaos/standby.ts'

const id = '01900000-0000-7000-8000-000000000001'
const healthyId = '01900000-0000-7000-8000-000000000002'
const MINUTE_MS = 60_000

const transition = (from: string | null, to: string, atMs: number, monitorId = id): TransitionRecord => ({
  monitorId,
  from,
  to,
  atMs,
  quorum: 'full',
})
const delivery = (event: string, occurredMs: number, changes: Partial<DeliveryRecord> = {}): DeliveryRecord => ({
  id: `whd_${event}_${occurredMs}`,
  status: 'delivered',
  event,
  monitorId: id,
  occurredMs,
  attempts: [],
  ...changes,
})

/** Valid records with one outage from minute 10 to minute 14. */
const good = (changes: Partial<StoredRecords> = {}): StoredRecords => ({
  monitors: [],
  absentRegions: [],
  transitions: [
    transition(null, 'up', 0),
    transition('up', 'down', 10 * MINUTE_MS),
    transition('down', 'up', 14 * MINUTE_MS),
  ],
  incidents: [{ monitorId: id, startedMs: 10 * MINUTE_MS, isResolved: true }],
  reports: [],
  deliveries: [delivery('monitor.down', 10 * MINUTE_MS), delivery('monitor.up', 14 * MINUTE_MS)],
  history: new Map(),
  historyTwice: 0,
  ...changes,
})
const acceptAll = ({ deliveries }: StoredRecords) =>
  new Map(deliveries.map(({ id }) => [id, [{ rawBody: '{}' } as never]]))
const listFailed = (checks: CheckOutcome[]) =>
  checks.filter(({ violations }) => violations.length > 0).map(({ statement }) => statement)
const checkRecords = (records: StoredRecords, accepted = acceptAll(records)) =>
  listFailed(checkNotifications(records, accepted))

t.test('an outage that is reported once has no violations', async t => {
  t.same(checkRecords(good()), [])
  const partialFailure = [transition('up', 'degraded', 16 * MINUTE_MS), transition('degraded', 'up', 17 * MINUTE_MS)]
  t.same(
    checkRecords(good({ transitions: [...good().transitions, ...partialFailure] })),
    [],
    'degraded is not notified by default',
  )
})

t.test('a wrong incident or delivery is found', async t => {
  const [down, up] = good().deliveries as [DeliveryRecord, DeliveryRecord]
  const [incident] = good().incidents
  t.same(checkRecords(good({ incidents: [] })), ['every outage has one incident'])
  t.same(checkRecords(good({ incidents: [incident!, incident!] })), ['every outage has one incident'])
  t.same(checkRecords(good({ incidents: [{ ...incident!, isResolved: false }] })), ['every incident is resolved'])
  const once = 'each transition to down and each end of an outage has one delivery'
  t.same(checkRecords(good({ deliveries: [down] })), [once])
  t.same(checkRecords(good({ deliveries: [down, { ...down, id: 'whd_2' }, up] })), [once])
  const pending = good({ deliveries: [down, { ...up, status: 'pending' }] })
  t.same(checkRecords(pending, acceptAll(good({ deliveries: [down] }))), [
    'no delivery is pending',
    'every delivery arrived',
  ])
  t.same(checkRecords(good(), acceptAll(good({ deliveries: [down] }))), ['every delivery arrived'])
  const unknown = acceptAll(good({ deliveries: [down, up, { ...up, id: 'whd_2' }] }))
  t.same(checkRecords(good(), unknown), ['every delivery that the receiver accepted has the status delivered'])
  const inLostPeriod = new Map(unknown).set('whd_2', [{ rawBody: '{}', atMs: 1_000 }] as never)
  t.same(listFailed(checkNotifications(good(), inLostPeriod, [{ fromMs: 900, toMs: 1_100 }])), [])
  t.same(listFailed(checkNotifications(good(), inLostPeriod, [{ fromMs: 1_001, toMs: 1_100 }])), [
    'every delivery that the receiver accepted has the status delivered',
  ])
  const twice = acceptAll(good()).set(down.id, [{ rawBody: '{}' }, { rawBody: '{ }' }] as never)
  t.same(checkRecords(good(), twice), ['every repeated delivery has the same bytes'])
})

t.test('missing, repeated and false outage reports are found', async t => {
  const outage = { monitor: 1, fromMs: 9.5 * MINUTE_MS, toMs: 13.5 * MINUTE_MS }
  const listProblems = (records: StoredRecords, outages = [outage]) =>
    listFailed(checkOutageReports(records, outages, [healthyId, id], false))
  const [first, down, up] = good().transitions as [TransitionRecord, TransitionRecord, TransitionRecord]
  t.same(listProblems(good()), [])
  t.same(listProblems(good({ transitions: [first] })), ['every long outage is reported'])
  t.same(
    listProblems(good({ transitions: [first] }), [{ ...outage, toMs: 10 * MINUTE_MS }]),
    [],
    'a short outage need not be reported',
  )
  const again = [transition('up', 'down', 14.2 * MINUTE_MS), transition('down', 'up', 14.4 * MINUTE_MS)]
  t.same(listProblems(good({ transitions: [first, down, up, ...again] })), ['no outage is reported twice'])
  t.same(listProblems(good({ transitions: [first, down] })), ['every outage has ended'])
  const early = [transition('up', 'down', 5 * MINUTE_MS), transition('down', 'up', 6 * MINUTE_MS)]
  t.same(listProblems(good({ transitions: [first, ...early, down, up] })), ['every reported outage is real'])
  const degraded = [transition('up', 'degraded', 5 * MINUTE_MS, healthyId)]
  t.same(listProblems(good({ transitions: [first, down, up, ...degraded] })), [
    'a target that never fails is always up',
  ])
})

t.test('missing, additional and changed rows of the history are found', async t => {
  const result = {
    monitorId: id,
    configVersion: 1,
    epoch: 3,
    scheduledAtMs: 1_000,
    startedAtMs: 1_000,
    attempt: 1,
    outcome: Outcome.UP,
    trigger: Trigger.SLOT,
    runId: '',
    totalUs: 1,
    timings: undefined,
    statusCode: 200,
    error: undefined,
    failedAssertions: [],
    resolvedIp: '',
    ...NO_DETAILS,
  }
  const batch = { probeId: 'p', region: 'us-east', results: [result] }
  const subject = 'RESULTS.3.us-east'
  const foreign = { subject: 'RESULTS.3.eu-west', batch }
  const acknowledged = [{ subject, batch }, { subject, batch }, foreign] as unknown as AcknowledgedMessage[]
  const key = `${id} us-east 1000 1 p 3`
  const history = (...rows: [string, string][]) =>
    listFailed(checkHistory(acknowledged, good({ history: new Map(rows) })))
  t.same(history([key, 'up']), [])
  t.same(history(), ['every acknowledged result is in the history'])
  t.same(history([key, 'down']), ['every result in the history has the acknowledged status'])
  t.same(history([key, 'up'], ['another', 'up']), ['every result in the history was acknowledged'])
  const elsewhere = good({ monitors: [{ id, regions: ['eu-west'] }] as never, history: new Map([[key, 'up']]) })
  t.same(listFailed(checkHistory(acknowledged, elsewhere)), ['every result in the history was acknowledged'])
})

t.test('a lost or repeated write is found', async t => {
  const violations = (written: string[], unanswered: string[], reports: string[], lost: LostPeriod[] = []) =>
    checkCustomerWrites(new Map(written.map(title => [title, 1_000])), new Set(unanswered), good({ reports }), lost)
      .violations
  t.same(violations(['a', 'b'], [], ['b', 'a']), [])
  t.same(violations(['a', 'b'], [], ['a']), ['missing: b'])
  t.same(violations(['a'], [], ['a', 'a']), ['unexpected: a'])
  t.same(violations(['a'], ['b', 'c'], ['a', 'b']), [], 'a write that was not answered may be stored')
  t.same(violations(['a'], ['b'], ['a', 'b', 'b']), ['unexpected: b'])
  const lost = [{ fromMs: 900, toMs: 1_100 }]
  t.same(violations(['a', 'b'], [], ['a'], lost), [], 'a write that was acknowledged in a lost period may be missing')
  t.same(violations(['a'], [], ['a', 'a'], lost), ['unexpected: a'])
  t.same(violations(['a'], [], [], [{ fromMs: 1_001, toMs: 1_100 }]), ['missing: a'])
})
