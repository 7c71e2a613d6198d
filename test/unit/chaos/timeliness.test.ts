import t from 'tap'
import type { AppliedFault } from '../../chaos/faults.ts'
import { LONG, SHORT } from '../../chaos/scales.ts'
import { checkReportTimes, computeReportDeadlineMs, type TimedOutage } from '../../chaos/timeliness.ts'

const scale = { ...LONG, hasDisks: true }
const timing = { intervalSeconds: 30, timeoutMs: 5_000, retryCount: 1 }
const outage: TimedOutage = { monitor: 0, fromMs: 100_000, toMs: 400_000, timing, reportedAtMs: null }
/** the next check 30 s, three checks of 5 s, one pause of 1 s, the margin */
const UNDISTURBED_MS = 156_000
const fault = (changes: Partial<AppliedFault>): AppliedFault => ({
  kind: 'kill',
  what: 'verdict-1',
  fromMs: 110_000,
  toMs: 120_000,
  ...changes,
})
const latest = (...faults: AppliedFault[]) => computeReportDeadlineMs(outage, faults, scale) - UNDISTURBED_MS

t.test('without a fault an outage has the time of its checks', async t => {
  t.equal(latest(), 0)
  t.equal(latest(fault({ fromMs: 10_000, toMs: 85_000 })), 0, 'it was over long before')
  t.equal(latest(fault({ fromMs: 300_000, toMs: 310_000 })), 0, 'it came afterwards')
})

t.test('each fault under way allows 15 s, and its length where nothing does the work meanwhile', async t => {
  t.equal(latest(fault({})), 15_000, 'another control plane works')
  t.equal(latest(fault({ kind: 'cut link', what: 'verdict-1 to NATS' })), 15_000)
  t.equal(latest(fault({ kind: 'silent link', what: 'probes to NATS' })), 15_000, 'new connections work')
  t.equal(latest(fault({ kind: 'kill engine', what: 'PostgreSQL' })), 25_000)
  t.equal(latest(fault({ kind: 'freeze', what: 'NATS', fromMs: 90_000, toMs: 105_000 })), 20_000, 'what is left of it')
  t.equal(latest(fault({ kind: 'bad tenant', what: 'another tenant' })), 0, 'other tenants do not notice')
  t.equal(latest(fault({}), fault({ what: 'verdict-2' })), 30_000)
  t.equal(
    latest(fault({}), fault({ fromMs: 160_000, toMs: 170_000 })),
    30_000,
    'it came in the time that the first allowed',
  )
  const alone = computeReportDeadlineMs(outage, [fault({ what: 'front' })], { ...SHORT, hasDisks: false })
  t.equal(alone - UNDISTURBED_MS, 25_000, 'there is no other one')
})

t.test('what is reported too late, or never, is found', async t => {
  const violations = (changes: Partial<TimedOutage>) =>
    checkReportTimes([{ ...outage, ...changes }], [], scale).violations.length
  t.equal(violations({ reportedAtMs: UNDISTURBED_MS }), 0)
  t.equal(violations({ reportedAtMs: UNDISTURBED_MS + 1 }), 1)
  t.equal(violations({}), 1)
  t.equal(violations({ toMs: null }), 1)
  t.equal(violations({ toMs: UNDISTURBED_MS }), 0, 'it need not be reported')
})
