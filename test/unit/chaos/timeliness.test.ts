import t from 'tap'
import type { AppliedFault } from '../../chaos/faults.ts'
import { LONG, SHORT } from '../../chaos/scales.ts'
import { checkReportTimes, computeReportDeadlineMs, type TimedOutage } from '../../chaos/timeliness.ts'

const scale = { ...LONG, hasDisks: true }
const timing = { intervalSeconds: 30, timeoutMs: 5_000, retryCount: 1 }
const outage: TimedOutage = { monitor: 0, fromMs: 100_000, toMs: 400_000, timing, reportedAtMs: null }
/** 30 s until the next check, three checks of 5 s, one pause of 1 s, and the margin */
const UNDISTURBED_MS = 156_000
const fault = (changes: Partial<AppliedFault>): AppliedFault => ({
  kind: 'kill',
  what: 'verdict-1',
  fromMs: 110_000,
  toMs: 120_000,
  ...changes,
})
const latest = (...faults: AppliedFault[]) => computeReportDeadlineMs(outage, faults, scale) - UNDISTURBED_MS

t.test('without a fault the limit is the time of the checks', async t => {
  t.equal(latest(), 0)
  t.equal(latest(fault({ fromMs: 10_000, toMs: 85_000 })), 0, 'the fault ended long before')
  t.equal(latest(fault({ fromMs: 300_000, toMs: 310_000 })), 0, 'the fault began afterwards')
})

t.test('each fault under way adds 15 s, and its duration if no other process can take over', async t => {
  t.equal(latest(fault({})), 15_000, 'another control plane takes over')
  t.equal(latest(fault({ kind: 'cut link', what: 'verdict-1 to NATS' })), 15_000)
  t.equal(latest(fault({ kind: 'silent link', what: 'probes to NATS' })), 15_000, 'new connections work')
  t.equal(latest(fault({ kind: 'kill engine', what: 'PostgreSQL' })), 25_000)
  t.equal(
    latest(fault({ kind: 'freeze', what: 'NATS', fromMs: 90_000, toMs: 105_000 })),
    20_000,
    'the rest of the fault counts',
  )
  t.equal(latest(fault({ kind: 'bad tenant', what: 'another tenant' })), 0, 'other tenants are not affected')
  t.equal(latest(fault({}), fault({ what: 'verdict-2' })), 30_000)
  t.equal(
    latest(fault({}), fault({ fromMs: 160_000, toMs: 170_000 })),
    30_000,
    'the second fault began in the time that the first one added',
  )
  const alone = computeReportDeadlineMs(outage, [fault({ what: 'front' })], { ...SHORT, hasDisks: false })
  t.equal(alone - UNDISTURBED_MS, 25_000, 'no other process has the role')
})

t.test('a late or missing report is found', async t => {
  const violations = (changes: Partial<TimedOutage>) =>
    checkReportTimes([{ ...outage, ...changes }], [], scale).violations.length
  t.equal(violations({ reportedAtMs: UNDISTURBED_MS }), 0)
  t.equal(violations({ reportedAtMs: UNDISTURBED_MS + 1 }), 1)
  t.equal(violations({}), 1)
  t.equal(violations({ toMs: null }), 1)
  t.equal(violations({ toMs: UNDISTURBED_MS }), 0, 'an outage that ended in time need not be reported')
})
