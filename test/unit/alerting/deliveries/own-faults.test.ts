import t from 'tap'
import { isAttributable } from '../../../../control-plane/alerting/deliveries/attempts/failure-count.ts'
import { createOwnFaultReport } from '../../../../control-plane/alerting/deliveries/attempts/own-fault-actions.ts'
import { postponeAttempt } from '../../../../control-plane/alerting/deliveries/attempts/retry-policy.ts'
import { updateCircuit } from '../../../../control-plane/alerting/deliveries/relay/circuit-breaker.ts'
import { decideRelayRetry } from '../../../../control-plane/alerting/deliveries/relay/retry-policy.ts'
import type { DeliveryOutcome } from '../../../../control-plane/alerting/deliveries/types.ts'
import { createOwnFaultDetector } from '../../../../control-plane/foundation/platform/network/own-faults.ts'
import { toEgressFailure, toResolverFailure } from '../../../../shared/egress/failure.ts'
import type { Log } from '../../../../shared/process/log.ts'

const NO_TIMES = { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: 0, transferUs: 0 }
const LOOKED_UP = { ...NO_TIMES, dnsUs: 900 }

type End = Parameters<ReturnType<typeof createOwnFaultDetector>['inspect']>[1]
const failed = (code: string): End => ({
  error: toEgressFailure(Object.assign(new Error(code), { code })),
  statusCode: null,
  timings: { ...LOOKED_UP, connectUs: 50 },
})
const unresolved = (code: string): End => ({ error: toResolverFailure(code), statusCode: null, timings: LOOKED_UP })
const answered = (timings = { ...LOOKED_UP, connectUs: 50 }): End => ({ error: null, statusCode: 200, timings })
const onKeptConnection = answered(LOOKED_UP)

/** The ends of requests, one a second unless `atS` differs, and what is found about the last one. */
type Step = [host: string, end: End, atS?: number]
/** Attempts once a minute, from 0 s. */
const withoutRoute = (minutes: number): Step[] =>
  Array.from({ length: minutes + 1 }, (_, i) => ['a.com', failed('ENETUNREACH'), 60 * i])

const ROWS: [title: string, steps: Step[], expected: string | null][] = [
  ...['ENETUNREACH', 'ENETDOWN', 'EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'].map(
    (code): (typeof ROWS)[number] => [`${code} is Picket's fault at once`, [['a.com', failed(code)]], 'network'],
  ),
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EPROTO', 'CERT_HAS_EXPIRED', 'HPE_INVALID', 'EUNKNOWN'].map(
    (code): (typeof ROWS)[number] => [
      `${code} is not, for any number of receivers`,
      ['a.com', 'b.com', 'c.com', 'd.com'].map(host => [host, failed(code)]),
      null,
    ],
  ),
  ['a resolver that cannot be reached is, for one receiver', [['a.com', unresolved('ECONNREFUSED')]], 'resolver'],
  ...['ESERVFAIL', 'ETIMEOUT', 'EREFUSED'].flatMap((code): typeof ROWS => [
    [`one name that the resolver fails for (${code}) is not`, [['a.com', unresolved(code)]], null],
    [
      `names of three domains that it fails for (${code}) are`,
      ['a.com', 'b.com', 'c.com'].map(host => [host, unresolved(code)]),
      'resolver',
    ],
  ]),
  [
    'three names of one domain are not: its zone may be broken',
    ['x.a.com', 'y.a.com', 'z.a.com', 'a.com'].map(host => [host, unresolved('ESERVFAIL')]),
    null,
  ],
  [
    'a name that is resolved meanwhile shows that the resolver works',
    [
      ['a.com', unresolved('ESERVFAIL')],
      ['b.com', unresolved('ESERVFAIL')],
      ['d.com', answered()],
      ['c.com', unresolved('ESERVFAIL')],
    ],
    null,
  ],
  [
    'so does a receiver that refuses the connection',
    [
      ['a.com', unresolved('ESERVFAIL')],
      ['b.com', unresolved('ESERVFAIL')],
      ['d.com', failed('ECONNREFUSED')],
      ['c.com', unresolved('ESERVFAIL')],
    ],
    null,
  ],
  [
    'so does a name that does not exist',
    [
      ['a.com', unresolved('ESERVFAIL')],
      ['b.com', unresolved('ESERVFAIL')],
      ['d.com', unresolved('ENOTFOUND')],
      ['c.com', unresolved('ESERVFAIL')],
    ],
    null,
  ],
  [
    'a response on a connection that was open shows nothing about the resolver',
    [
      ['a.com', unresolved('ESERVFAIL')],
      ['b.com', unresolved('ESERVFAIL')],
      ['d.com', onKeptConnection],
      ['c.com', unresolved('ESERVFAIL')],
    ],
    'resolver',
  ],
  [
    'a response of an address shows nothing about the resolver',
    [
      ['a.com', unresolved('ESERVFAIL')],
      ['b.com', unresolved('ESERVFAIL')],
      ['192.0.2.1', answered({ ...NO_TIMES, connectUs: 50 })],
      ['c.com', unresolved('ESERVFAIL')],
    ],
    'resolver',
  ],
  [
    'failures that are further apart than two minutes are not counted together',
    [
      ['a.com', unresolved('ESERVFAIL'), 0],
      ['b.com', unresolved('ESERVFAIL'), 100],
      ['c.com', unresolved('ESERVFAIL'), 121],
    ],
    null,
  ],
  ...['EHOSTUNREACH', 'EACCES', 'EPERM'].flatMap((code): typeof ROWS => [
    [`${code} of one receiver is not`, [['a.com', failed(code)]], null],
    [`${code} of three receivers is`, ['192.0.2.1', '192.0.2.2', 'c.com'].map(host => [host, failed(code)]), 'network'],
    [
      `${code} of three receivers is not while another one answers`,
      [
        ['192.0.2.1', failed(code)],
        ['192.0.2.2', failed(code)],
        ['d.com', onKeptConnection],
        ['c.com', failed(code)],
      ],
      null,
    ],
  ]),
  [
    'without a route for an hour, while nothing answers, is',
    Array.from({ length: 61 }, (_, i): Step => ['a.com', failed('ENETUNREACH'), 60 * i]),
    'network',
  ],
  [
    'without a route for ten minutes while another receiver answers is, still',
    [...withoutRoute(9), ['b.com', answered(), 599], ['a.com', failed('ENETUNREACH'), 600]],
    'network',
  ],
  [
    'without a route for longer while another receiver answers is not: the machine never reaches that address',
    [...withoutRoute(10), ['b.com', answered(), 601], ['a.com', failed('ENETUNREACH'), 602]],
    null,
  ],
  [
    'a response of the receiver begins a new series',
    [...withoutRoute(10), ['a.com', answered(), 601], ['a.com', failed('ENETUNREACH'), 602]],
    'network',
  ],
  [
    'so does a pause of more than half an hour',
    [...withoutRoute(10), ['b.com', answered(), 601], ['a.com', failed('ENETUNREACH'), 2_401]],
    'network',
  ],
  [
    'a pause of minutes does not, because another process may make the attempts of the meantime',
    [...withoutRoute(10), ['b.com', answered(), 1_500], ['a.com', failed('ENETUNREACH'), 1_600]],
    null,
  ],
  [
    'an address that the egress guard refuses is not',
    ['a.com', 'b.com', 'c.com'].map(host => [
      host,
      { error: { source: 1, code: 'blocked_target', message: '' }, statusCode: null, timings: LOOKED_UP },
    ]),
    null,
  ],
]

for (const [title, steps, expected] of ROWS) {
  t.test(title, async t => {
    const faults = createOwnFaultDetector()
    const found = steps.map(([host, end, atS], i) => faults.inspect(host, end, 1_000 * (atS ?? i)))
    t.equal(found.at(-1), expected)
  })
}

t.test('Requests that are hours apart are one series when that is their interval', async t => {
  const hour = 3_600_000
  for (const [intervalMs, expected] of [
    [hour, null],
    [undefined, 'network'],
  ] as const) {
    const faults = createOwnFaultDetector()
    faults.inspect('a.com', failed('ENETUNREACH'), 0, intervalMs)
    faults.inspect('b.com', answered(), hour - 1_000)
    t.equal(faults.inspect('a.com', failed('ENETUNREACH'), hour, intervalMs), expected)
  }
})

const now = new Date('2026-11-21T10:00:00.000Z')
const HOUR = 3_600_000
const seconds = (count: number) => new Date(now.getTime() + 1_000 * count)
const outcome = (changes: Partial<DeliveryOutcome>): DeliveryOutcome => ({
  ...{
    startedAt: now,
    durationMs: 1,
    responseCode: null,
    error: 'no route',
    isPermanent: false,
    responseSnippet: null,
  },
  ...changes,
})
const own = outcome({ ownFault: 'network' })

const POSTPONED: [title: string, given: DeliveryOutcome, ageH: number, isReplay: boolean, made: number, Date | null][] =
  [
    ['the first fault of Picket is tried again after 5 s', own, 0, false, 0, seconds(5)],
    ['the wait doubles', own, 0, false, 2, seconds(20)],
    ['the wait does not grow beyond a minute', own, 1, false, 40, seconds(60)],
    ['after a day the attempts count', own, 24, false, 1_400, null],
    ['an old delivery that is sent again is postponed too', own, 48, true, 3, seconds(40)],
    ['but not for ever', own, 48, true, 1_440, null],
    ['another network error counts', outcome({}), 0, false, 0, null],
    ['a response counts', outcome({ responseCode: 503 }), 0, false, 0, null],
  ]

for (const [title, given, ageH, isReplay, uncountedAttempts, expected] of POSTPONED) {
  t.test(title, async t => {
    const createdAt = new Date(now.getTime() - ageH * HOUR)
    t.same(postponeAttempt({ createdAt, isReplay, uncountedAttempts }, given, now), expected)
  })
}

t.test('A fault of Picket counts against no receiver and no destination of the relay', async t => {
  t.notOk(isAttributable('http', own))
  t.notOk(isAttributable('mail', outcome({ ownFault: 'mail_server' })))
  t.ok(isAttributable('http', outcome({})))
  const circuit = { consecutiveFailures: 4, openedAt: null, nextTrialAt: null }
  t.same(updateCircuit(circuit, own, now), circuit)
  const message = { handedOverAt: now, failures: 0, uncountedAttempts: 2 }
  t.same(decideRelayRetry(message, own, 0, now), { retryAt: seconds(20) })
  t.equal(decideRelayRetry({ ...message, handedOverAt: new Date(now.getTime() - 24 * HOUR) }, own, 0, now), 'dead')
})

t.test('Each fault is counted, and the first of a series is logged', async t => {
  const counted: unknown[] = []
  const logged: object[] = []
  const log = { error: (fields: object) => logged.push(fields) } as unknown as Log
  const report = createOwnFaultReport(log, { ownFaults: { inc: (labels: unknown) => counted.push(labels) } as never })
  for (const atMinute of [0, 1, 10, 19, 30]) report('network', 'no route', atMinute * 60_000)
  t.equal(counted.length, 5)
  t.same(counted[0], { fault: 'network' })
  t.same(logged, Array(2).fill({ event: 'deliveries_postponed', fault: 'network', reason: 'no route' }))
})
