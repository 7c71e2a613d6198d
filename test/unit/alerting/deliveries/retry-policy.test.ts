import t from 'tap'
import { countFailures } from '../../../../control-plane/alerting/deliveries/attempts/failure-count.ts'
import { toHttpOutcome } from '../../../../control-plane/alerting/deliveries/attempts/outcome.ts'
import { decideRetry } from '../../../../control-plane/alerting/deliveries/attempts/retry-policy.ts'
import type { DeliveryOutcome } from '../../../../control-plane/alerting/deliveries/types.ts'

const now = new Date('2026-11-21T10:00:00.000Z')
const at = (ms: number) => ({ retryAt: new Date(now.getTime() + ms) })
const answered = (statusCode: number) => toHttpOutcome({ statusCode, error: null, body: null, totalUs: 5_000 }, now, [])
const nothing: DeliveryOutcome = {
  startedAt: now,
  durationMs: 5,
  responseCode: null,
  error: null,
  isPermanent: false,
  responseSnippet: null,
}
const broken: DeliveryOutcome = { ...nothing, error: 'the target closed the connection' }
const refused: DeliveryOutcome = { ...nothing, error: '10.0.0.1 is private', isPermanent: true }

const ATTEMPTS: [string, number, DeliveryOutcome, ReturnType<typeof decideRetry>][] = [
  ['any 2xx is a delivery', 1, answered(200), 'delivered'],
  ['204 is a delivery', 1, answered(204), 'delivered'],
  ['299 is a delivery', 3, answered(299), 'delivered'],
  ['a 500 is retried after 1 s', 1, answered(500), at(1_000)],
  ['a second 500 is retried after 5 s', 2, answered(500), at(5_000)],
  ['a third 500 fails', 3, answered(500), 'failed'],
  ['a 599 is retried', 1, answered(599), at(1_000)],
  ['a 429 is retried', 2, answered(429), at(5_000)],
  ['a third 429 fails', 3, answered(429), 'failed'],
  ['a network error is retried like a 5xx', 1, broken, at(1_000)],
  ['a third network error fails', 3, broken, 'failed'],
  ['a 400 fails without a retry', 1, answered(400), 'failed'],
  ['a 404 fails without a retry', 1, answered(404), 'failed'],
  ['a 410 fails without a retry', 1, answered(410), 'failed'],
  ['a 499 fails without a retry', 1, answered(499), 'failed'],
  ['a 301 is not followed and fails without a retry', 1, answered(301), 'failed'],
  ['a 304 fails without a retry', 1, answered(304), 'failed'],
  ['an address that is not allowed fails without a retry', 1, refused, 'failed'],
]

for (const [title, made, outcome, expected] of ATTEMPTS) {
  t.test(title, async t => t.same(decideRetry(made, outcome, now), expected))
}

const PAUSES: [string, number, boolean[], number, boolean][] = [
  ['49 failures in a row leave a channel active', 48, [false], 49, false],
  ['the 50th failure in a row pauses it', 49, [false], 50, true],
  ['a success clears the count', 49, [true], 0, false],
  ['a success between failures resets the count', 48, [false, true, false], 1, false],
  ['50 within one batch pause it even when a success comes after', 49, [false, true], 0, true],
  ['100 simultaneous failures pause it', 0, Array(100).fill(false), 100, true],
]

for (const [title, before, outcomes, after, pauses] of PAUSES) {
  t.test(title, async t => {
    const { consecutiveFailures, pausedReason } = countFailures(before, outcomes)
    t.equal(consecutiveFailures, after)
    t.equal(pausedReason !== null, pauses)
  })
}
