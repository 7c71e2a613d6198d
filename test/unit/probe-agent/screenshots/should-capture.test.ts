import t from 'tap'
import {
  applyComparison,
  computeValidSeconds,
  decideCapture,
} from '../../../../probe-agent/screenshots/should-capture.ts'
import { RegionState } from '../../../../proto/gen/probe/v1/fleet.ts'
import { ScreenshotKind } from '../../../../proto/gen/probe/v1/screenshot.ts'
import { Outcome, type Result } from '../../../../shared/checks/result.ts'
import { assignment, checkSpec } from '../../../support/fleet-server.ts'

const { OK, FAILING, DEGRADED } = RegionState
const spec = checkSpec('https://shop.example', { screenshotOnFailure: true })
const compared = { ...spec, screenshotCompare: true, screenshotThreshold: 0.05 }
const result = (outcome: Outcome) => ({ outcome, failedAssertions: [] }) as unknown as Result

t.test('A screenshot is taken of the attempt that makes its region failing, once per outage', async t => {
  const rows: [string, Partial<typeof spec>, RegionState, RegionState, Outcome, boolean][] = [
    ['the failure is confirmed', {}, OK, FAILING, Outcome.DOWN, true],
    ['degraded before', {}, DEGRADED, FAILING, Outcome.DOWN, true],
    ['a keyword monitor', { type: 'keyword' }, OK, FAILING, Outcome.DOWN, true],
    ['an attempt that is not confirmed', {}, OK, OK, Outcome.DOWN, false],
    ['the outage goes on', {}, FAILING, FAILING, Outcome.DOWN, false],
    ['our own fault', {}, OK, OK, Outcome.UNKNOWN, false],
    ['screenshots are disabled', { screenshotOnFailure: false }, OK, FAILING, Outcome.DOWN, false],
    ['no page', { type: 'tcp' }, OK, FAILING, Outcome.DOWN, false],
    ['what a browser would not ask for', { method: 'POST' }, OK, FAILING, Outcome.DOWN, false],
  ]
  for (const [name, change, before, after, outcome, isTaken] of rows) {
    const kind = decideCapture({ before, after, result: result(outcome) }, { ...spec, ...change }, 0, 900_000)
    t.equal(kind, isTaken ? ScreenshotKind.FAILURE : null, name)
  }
})

t.test('A page that is up is compared at intervals, and not while it fails', async t => {
  const at = (outcome: Outcome, sinceMs: number, of = compared) =>
    decideCapture({ before: OK, after: OK, result: result(outcome) }, of, sinceMs, 900_000)
  t.equal(at(Outcome.UP, Number.POSITIVE_INFINITY), ScreenshotKind.COMPARISON)
  t.equal(at(Outcome.DEGRADED, 900_000), ScreenshotKind.COMPARISON)
  t.equal(at(Outcome.UP, 899_999), null)
  t.equal(at(Outcome.DOWN, 900_000), null)
  t.equal(at(Outcome.UP, 900_000, { ...compared, screenshotCompare: false }), null)
})

t.test('A check that is up is degraded while its page differs by more than the threshold', async t => {
  const seen = (difference: number | undefined, outcome: Outcome, of = compared) => {
    const judged = applyComparison(assignment('m', of, { screenshotDifference: difference }), result(outcome))
    return [judged.outcome, judged.failedAssertions.map(({ type, value, actual }) => [type, value, actual])]
  }
  const failed = [['screenshot', '0.05', '0.0501']]
  t.same(seen(0.0501, Outcome.UP), [Outcome.DEGRADED, failed])
  t.same(seen(0.0501, Outcome.DEGRADED), [Outcome.DEGRADED, failed])
  t.same(seen(0.05, Outcome.UP), [Outcome.UP, []], 'as much as is allowed')
  t.same(seen(undefined, Outcome.UP), [Outcome.UP, []], 'not compared yet')
  t.same(seen(1, Outcome.DOWN), [Outcome.DOWN, []])
  t.same(seen(1, Outcome.UNKNOWN), [Outcome.UNKNOWN, []])
  t.same(seen(1, Outcome.UP, { ...compared, screenshotCompare: false }), [Outcome.UP, []])
})

t.test('A difference counts until it expires', async t => {
  const at = (startedAtMs: number, screenshotValidUntilMs: number | undefined) => {
    const pictured = assignment('m', compared, { screenshotDifference: 1, screenshotValidUntilMs })
    return applyComparison(pictured, { ...result(Outcome.UP), startedAtMs }).outcome
  }
  t.equal(at(1_000, 1_000), Outcome.DEGRADED)
  t.equal(at(1_001, 1_000), Outcome.UP)
  t.equal(at(1_001, undefined), Outcome.DEGRADED, 'a control plane of an earlier version does not send it')
})

t.test('A difference counts for four intervals between comparisons, at least ten minutes', async t => {
  t.equal(computeValidSeconds(900_000, 30), 3_600)
  t.equal(computeValidSeconds(900_000, 3_600), 14_400, 'a page is not compared more often than it is checked')
  t.equal(computeValidSeconds(4_000, 30), 600)
})
