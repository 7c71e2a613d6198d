import t from 'tap'
import {
  decideRelayRetry,
  type RelayRetryDecision,
} from '../../../../control-plane/alerting/deliveries/relay/retry-policy.ts'
import type { DeliveryOutcome } from '../../../../control-plane/alerting/deliveries/types.ts'

const handedOverAt = new Date('2026-11-01T12:00:00.000Z')
const HOUR = 3_600_000

const outcome = (responseCode: number | null, isPermanent = false): DeliveryOutcome => ({
  startedAt: handedOverAt,
  durationMs: 5,
  responseCode,
  error: null,
  isPermanent,
  responseSnippet: null,
})
const after = (seconds: number): RelayRetryDecision => ({ retryAt: new Date(handedOverAt.getTime() + seconds * 1_000) })

const ROWS: [string, number, DeliveryOutcome, number, RelayRetryDecision][] = [
  ['a 2xx delivers a message', 4, outcome(204), 0, 'delivered'],
  ['a refusal ends it immediately', 0, outcome(410, true), 0, 'dead'],
  ['an address that is not allowed ends it immediately', 0, outcome(null, true), 0, 'dead'],
  ['after the first failure it waits ten seconds', 0, outcome(503), 0, after(10)],
  ['the jitter shortens the wait by up to a fifth', 0, outcome(429), 1, after(8)],
  ['the wait doubles with each failure', 5, outcome(null), 0, after(320)],
  ['the wait grows to two hours', 10, outcome(500), 0, after(7_200)],
  ['the wait does not grow beyond two hours', 40, outcome(500), 0.5, after(6_480)],
]

for (const [title, failures, given, chance, expected] of ROWS) {
  t.test(title, async t =>
    t.same(decideRelayRetry({ handedOverAt, failures, uncountedAttempts: 0 }, given, chance, handedOverAt), expected),
  )
}

t.test(
  'A receiver that is unreachable for a day gets some twenty attempts within 24 hours, and then the message is dead',
  async t => {
    let atMs = handedOverAt.getTime()
    let failures = 0
    for (;;) {
      const next = decideRelayRetry({ handedOverAt, failures, uncountedAttempts: 0 }, outcome(503), 0, new Date(atMs))
      if (typeof next === 'string') {
        t.equal(next, 'dead')
        break
      }
      atMs = next.retryAt.getTime()
      failures++
    }
    t.ok(failures >= 18 && failures <= 24, `${failures} retries`)
    const hours = (atMs - handedOverAt.getTime()) / HOUR
    t.ok(hours > 22 && hours <= 24, `the last one after ${hours} hours`)
  },
)
