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
const well = '01900000-0000-7000-8000-000000000002'
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

/** One outage from minute 10 to minute 14, all as it should be. */
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
const acceptedOf = ({ deliveries }: StoredRecords) =>
  new Map(deliveries.map(({ id }) => [id, [{ rawBody: '{}' } as never]]))
const falseOnes = (checks: CheckOutcome[]) =>
  checks.filter(({ violations }) => violations.length > 0).map(({ statement }) => statement)
const telling = (records: StoredRecords, accepted = acceptedOf(records)) =>
  falseOnes(checkNotifications(records, accepted))

t.test('an outage that is told once has nothing against it', async t => {
  t.same(telling(good()), [])
  const doubt = [transition('up', 'degraded', 16 * MINUTE_MS), transition('degraded', 'up', 17 * MINUTE_MS)]
  t.same(telling(good({ transitions: [...good().transitions, ...doubt] })), [], 'of a doubt nobody is told by default')
})

t.test('what is wrong with an incident or a delivery is found', async t => {
  const [down, up] = good().deliveries as [DeliveryRecord, DeliveryRecord]
  const [incident] = good().incidents
  t.same(telling(good({ incidents: [] })), ['one incident an outage'])
  t.same(telling(good({ incidents: [incident!, incident!] })), ['one incident an outage'])
  t.same(telling(good({ incidents: [{ ...incident!, isResolved: false }] })), ['every incident is resolved'])
  const once = 'one delivery id each time it goes down, and one when an outage ends'
  t.same(telling(good({ deliveries: [down] })), [once])
  t.same(telling(good({ deliveries: [down, { ...down, id: 'whd_2' }, up] })), [once])
  const pending = good({ deliveries: [down, { ...up, status: 'pending' }] })
  t.same(telling(pending, acceptedOf(good({ deliveries: [down] }))), [
    'no delivery is pending',
    'every delivery arrived',
  ])
  t.same(telling(good(), acceptedOf(good({ deliveries: [down] }))), ['every delivery arrived'])
  const unknown = acceptedOf(good({ deliveries: [down, up, { ...up, id: 'whd_2' }] }))
  t.same(telling(good(), unknown), ['whatever the receiver took is told as delivered'])
  const inLostSeconds = new Map(unknown).set('whd_2', [{ rawBody: '{}', atMs: 1_000 }] as never)
  t.same(falseOnes(checkNotifications(good(), inLostSeconds, [{ fromMs: 900, toMs: 1_100 }])), [])
  t.same(falseOnes(checkNotifications(good(), inLostSeconds, [{ fromMs: 1_001, toMs: 1_100 }])), [
    'whatever the receiver took is told as delivered',
  ])
  const twice = acceptedOf(good()).set(down.id, [{ rawBody: '{}' }, { rawBody: '{ }' }] as never)
  t.same(telling(good(), twice), ['what comes twice is the same bytes'])
})

t.test('what a customer would complain about is found', async t => {
  const outage = { monitor: 1, fromMs: 9.5 * MINUTE_MS, toMs: 13.5 * MINUTE_MS }
  const complaints = (records: StoredRecords, outages = [outage]) =>
    falseOnes(checkOutageReports(records, outages, [well, id], false))
  const [first, down, up] = good().transitions as [TransitionRecord, TransitionRecord, TransitionRecord]
  t.same(complaints(good()), [])
  t.same(complaints(good({ transitions: [first] })), ['every long outage is told'])
  t.same(
    complaints(good({ transitions: [first] }), [{ ...outage, toMs: 10 * MINUTE_MS }]),
    [],
    'a short one need not be',
  )
  const again = [transition('up', 'down', 14.2 * MINUTE_MS), transition('down', 'up', 14.4 * MINUTE_MS)]
  t.same(complaints(good({ transitions: [first, down, up, ...again] })), ['no outage is told twice'])
  t.same(complaints(good({ transitions: [first, down] })), ['every outage has ended'])
  const early = [transition('up', 'down', 5 * MINUTE_MS), transition('down', 'up', 6 * MINUTE_MS)]
  t.same(complaints(good({ transitions: [first, ...early, down, up] })), ['no outage is told that was none'])
  const doubted = [transition('up', 'degraded', 5 * MINUTE_MS, well)]
  t.same(complaints(good({ transitions: [first, down, up, ...doubted] })), [
    'a target that is always well is always up',
  ])
})

t.test('a history with too little, too much or something else is found', async t => {
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
    falseOnes(checkHistory(acknowledged, good({ history: new Map(rows) })))
  t.same(history([key, 'up']), [])
  t.same(history(), ['every acknowledged result is in the history'])
  t.same(history([key, 'down']), ['each says there what it said'])
  t.same(history([key, 'up'], ['another', 'up']), ['the history holds nothing that was never acknowledged'])
  const elsewhere = good({ monitors: [{ id, regions: ['eu-west'] }] as never, history: new Map([[key, 'up']]) })
  t.same(falseOnes(checkHistory(acknowledged, elsewhere)), ['the history holds nothing that was never acknowledged'])
})

t.test('a write that is lost or made twice is found', async t => {
  const violations = (written: string[], unanswered: string[], reports: string[], lost: LostPeriod[] = []) =>
    checkCustomerWrites(new Map(written.map(title => [title, 1_000])), new Set(unanswered), good({ reports }), lost)
      .violations
  t.same(violations(['a', 'b'], [], ['b', 'a']), [])
  t.same(violations(['a', 'b'], [], ['a']), ['missing: b'])
  t.same(violations(['a'], [], ['a', 'a']), ['too much: a'])
  t.same(violations(['a'], ['b', 'c'], ['a', 'b']), [], 'one that was not answered may be there')
  t.same(violations(['a'], ['b'], ['a', 'b', 'b']), ['too much: b'])
  const lost = [{ fromMs: 900, toMs: 1_100 }]
  t.same(violations(['a', 'b'], [], ['a'], lost), [], 'one that was acknowledged in seconds that PostgreSQL has lost')
  t.same(violations(['a'], [], ['a', 'a'], lost), ['too much: a'])
  t.same(violations(['a'], [], [], [{ fromMs: 1_001, toMs: 1_100 }]), ['missing: a'])
})
