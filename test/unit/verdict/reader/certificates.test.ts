import t from 'tap'
import {
  createKnownCertificates,
  markNotStored,
  type ObservedCertificate,
  recordCertificate,
} from '../../../../control-plane/verdict/reader/counting/certificates.ts'
import { Outcome } from '../../../../shared/checks/result.ts'
import { createNextResult } from '../../../support/verdict.ts'

const START_MS = Date.UTC(2026, 10, 21)
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** `isLocked`: what it records is not stored, because its monitor is locked. `is`: why it is not a check that TLS accepted. */
type Check = {
  is?: 'refused' | 'unknown' | 'doubted'
  cert?: string
  ends?: number
  minute?: number
  version?: number
  region?: string
  isLocked?: boolean
}
type Step = Check & { noted: boolean }

const FAILURES = {
  refused: { error: { source: 1, code: 'tls_error', message: 'the certificate is self-signed' } },
  unknown: { outcome: Outcome.UNKNOWN },
  doubted: { doubted: true },
}

/** Returns for each check what is recorded; undefined: nothing. */
function record(checks: Check[]): (ObservedCertificate | undefined)[] {
  const known = createKnownCertificates()
  return checks.map(check => {
    const { cert = 'aa', ends = 60, minute = 0, version = 1, region = 'us-east', isLocked = false, is } = check
    const noted = new Map<string, ObservedCertificate>()
    const scheduledAtMs = START_MS + minute * MINUTE_MS
    const certificate = {
      subject: 'CN=shop.example',
      issuer: 'CN=authority',
      validFromMs: START_MS,
      validToMs: START_MS + ends * DAY_MS,
      names: ['shop.example'],
      fingerprint: cert,
    }
    const slot = { certificate, scheduledAtMs, configVersion: version }
    const result = createNextResult('m', { up: is === undefined, ...slot, ...(is && FAILURES[is]) })
    recordCertificate(known, noted, { region, regions: ['us-east', 'eu-west'] }, result, scheduledAtMs)
    const copies = [...noted.values()].map(one => ({ ...one }))
    if (isLocked) markNotStored(known, copies)
    return copies[0]
  })
}

const run = (steps: Step[]) => record(steps).map(one => one !== undefined)

/** The hours at which checks every `minutes` record the certificate, and a `*` where the region is steady. */
function recordEvery(minutes: number, hours: [from: number, to: number][]): string[] {
  const checks = hours.flatMap(([from, to]) =>
    Array.from({ length: ((to - from) * 60) / minutes + 1 }, (_, i) => ({ minute: from * 60 + i * minutes })),
  )
  return record(checks).flatMap(one =>
    one ? `${Math.round((one.seenAtMs - START_MS) / 3_600_000)}${one.isSteady ? '*' : ''}` : [],
  )
}

t.test(
  'a certificate that stays the same is recorded again when its region is steady, and then once a day',
  async t => {
    for (const minutes of [1, 5, 60]) {
      const times = recordEvery(minutes, [[0, 24 * 10]])
      t.same(times.slice(0, 2), ['0', '3*'], `${minutes} min`)
      t.ok(times.length >= 10 && times.length <= 14, `${times}`)
      t.ok(times.slice(1).every(time => time.endsWith('*')))
    }
  },
)

t.test(
  'a certificate that is seen again after days is recorded at once, and its region is steady 3 hours later',
  async t => {
    const times = recordEvery(60, [
      [0, 4],
      [240, 244],
    ])
    t.same(times, ['0', '3*', '240', '243*'])
  },
)

t.test('a region that is checked with long gaps is never steady, and recorded no more often than others', async t => {
  const hours = Array.from({ length: 60 }, (_, i): [number, number] => [i * 4, i * 4])
  const times = recordEvery(60, hours)
  t.ok(times.length <= 13, `${times}`)
  t.notOk(times.some(time => time.endsWith('*')))
})

t.test(
  'a certificate whose monitor was locked is recorded again with the next result, and is held as before',
  async t => {
    const hourly = Array.from({ length: 4 }, (_, hour) => ({ minute: hour * 60 }))
    const recorded = record([
      ...hourly,
      { cert: 'bb', ends: 20, minute: 190, isLocked: true },
      { cert: 'cc', ends: 90, minute: 191, isLocked: true },
      { cert: 'bb', ends: 20, minute: 192 },
      { cert: 'bb', ends: 20, minute: 193 },
      { cert: 'cc', ends: 90, minute: 202 },
      { cert: 'cc', ends: 90, minute: 203 },
    ])
    t.same(
      recorded.slice(4).map(one => one?.fingerprint),
      ['bb', 'bb', 'bb', undefined, undefined, 'cc'],
    )
    t.ok(recorded.slice(4).every(one => one === undefined || one.isSteady))
  },
)

t.test('a certificate is recorded if it differs from the known one', async t => {
  const rows: [what: string, steps: Step[]][] = [
    ['once', [{ noted: true }, { minute: 1, noted: false }, { minute: 500, noted: false }]],
    ['each region its own', [{ noted: true }, { region: 'eu-west', noted: true }, { minute: 1, noted: false }]],
    [
      'a new configuration',
      [{ noted: true }, { version: 2, minute: 1, noted: true }, { version: 1, minute: 2, noted: false }],
    ],
    ['one that ends earlier, at once', [{ noted: true }, { cert: 'bb', ends: 20, minute: 1, noted: true }]],
    [
      'a renewal, ten minutes after the old one was last met',
      [
        { noted: true },
        { minute: 9, noted: false },
        { cert: 'bb', ends: 90, minute: 10, noted: false },
        { cert: 'bb', ends: 90, minute: 18, noted: false },
        { cert: 'bb', ends: 90, minute: 19, noted: true },
      ],
    ],
    [
      'two in turn: the one that ends first stays',
      [
        { cert: 'bb', ends: 90, noted: true },
        { cert: 'aa', minute: 1, noted: true },
        { cert: 'bb', ends: 90, minute: 2, noted: false },
        { cert: 'aa', minute: 10, noted: false },
        { cert: 'bb', ends: 90, minute: 15, noted: false },
      ],
    ],
    [
      'an older check says nothing new',
      [
        { minute: 20, noted: true },
        { cert: 'bb', ends: 5, minute: 1, noted: false },
      ],
    ],
    [
      'what cannot be stored',
      [
        { cert: '', noted: false },
        { cert: 'not hex', noted: false },
        { cert: '\0', noted: false },
        { ends: Number.POSITIVE_INFINITY, noted: false },
        { ends: 1e9, noted: false },
        { ends: -1e9, noted: false },
      ],
    ],
  ]
  for (const [what, steps] of rows)
    t.same(
      run(steps),
      steps.map(({ noted }) => noted),
      what,
    )
})

t.test('a certificate that TLS refuses counts after ten minutes, or when a second region sees it', async t => {
  const is = 'refused'
  const portal = { is, cert: 'bb', ends: 20 } as const
  const rows: [what: string, steps: Step[]][] = [
    ['seen once', [{ noted: true }, { ...portal, minute: 1, noted: false }, { minute: 2, noted: false }]],
    ['also one that is the first of all', [{ ...portal, noted: false }]],
    [
      'for ten minutes',
      [
        { noted: true },
        { ...portal, minute: 1, noted: false },
        { ...portal, minute: 10, noted: false },
        { ...portal, minute: 11, noted: true },
        { ...portal, minute: 12, noted: false },
        { minute: 13, noted: false },
        { minute: 22, noted: true },
      ],
    ],
    [
      'at the longest interval',
      [
        { ...portal, noted: false },
        { ...portal, minute: 60, noted: true },
      ],
    ],
    [
      'in two regions',
      [
        { ...portal, noted: false },
        { ...portal, minute: 1, region: 'eu-west', noted: true },
        { ...portal, minute: 2, noted: true },
      ],
    ],
    [
      'as in a region in which it is trusted',
      [
        { cert: 'bb', ends: 20, region: 'eu-west', noted: true },
        { ...portal, minute: 1, noted: true },
      ],
    ],
    [
      'in a region that is not one of the monitor',
      [
        { ...portal, region: 'ap-south', noted: false },
        { ...portal, minute: 1, noted: false },
      ],
    ],
    [
      'in two regions, hours apart',
      [
        { ...portal, noted: false },
        { ...portal, minute: 181, region: 'eu-west', noted: false },
      ],
    ],
    [
      'a trusted check between, or three hours without a sight, begins the wait again',
      [
        { ...portal, noted: false },
        { minute: 5, noted: true },
        { ...portal, minute: 12, noted: false },
        { ...portal, minute: 193, noted: false },
        { ...portal, minute: 203, noted: true },
      ],
    ],
    [
      'several in turn: the one that ends first',
      [
        { is, cert: 'cc', ends: 90, noted: false },
        { ...portal, minute: 1, noted: false },
        { is, cert: 'cc', ends: 90, minute: 8, noted: false },
        { ...portal, minute: 11, noted: true },
        { is, cert: 'cc', ends: 90, minute: 12, noted: false },
        { is, cert: 'cc', ends: 90, minute: 21, noted: false },
        { is, cert: 'cc', ends: 90, minute: 22, noted: true },
      ],
    ],
    [
      'one that ends later, ten minutes after the trusted one',
      [
        { minute: 0, noted: true },
        { is, cert: 'bb', ends: 90, minute: 60, noted: false },
        { is, cert: 'bb', ends: 90, minute: 69, noted: false },
        { is, cert: 'bb', ends: 90, minute: 70, noted: true },
      ],
    ],
    [
      'a known one that is refused now, because it has expired, also with new settings',
      [
        { noted: true },
        { is, minute: 1, noted: false },
        { is, minute: 2, version: 2, noted: true },
        { is, minute: 1_800, version: 2, noted: true },
      ],
    ],
    [
      'an older check than a trusted one',
      [
        { minute: 20, noted: true },
        { ...portal, minute: 10, noted: false },
        { ...portal, minute: 21, noted: false },
        { ...portal, minute: 31, noted: true },
      ],
    ],
    [
      'an older check does not shorten the wait',
      [
        { ...portal, minute: 30, noted: false },
        { ...portal, minute: 10, noted: false },
        { is, cert: 'dd', ends: 10, minute: 31, noted: false },
        { ...portal, minute: 32, noted: false },
      ],
    ],
  ]
  for (const [what, steps] of rows)
    t.same(
      run(steps),
      steps.map(({ noted }) => noted),
      what,
    )
})

t.test('a certificate of an unknown or doubted result records nothing, and confirms none', async t => {
  for (const is of ['unknown', 'doubted'] as const) {
    const recorded = run([
      { is, cert: 'bb', ends: 5, noted: false },
      { is, cert: 'bb', ends: 5, minute: 30, noted: false },
      { is: 'refused', cert: 'bb', ends: 5, minute: 31, region: 'eu-west', noted: false },
    ])
    t.same(recorded, [false, false, false], is)
  }
})

t.test('a result from the future, or without a certificate, records nothing', async t => {
  const known = createKnownCertificates()
  const noted = new Map<string, ObservedCertificate>()
  const certificate = { subject: '', issuer: '', validFromMs: 0, validToMs: START_MS, names: [], fingerprint: 'aa' }
  const regions = ['us-east']
  recordCertificate(known, noted, { region: 'us-east', regions }, createNextResult('m', { up: true }), START_MS)
  recordCertificate(
    known,
    noted,
    { region: 'us-east', regions },
    createNextResult('m', { up: true, certificate, scheduledAtMs: START_MS + 6_000 }),
    START_MS,
  )
  t.same([known.stored.size, known.unconfirmed.size, noted.size], [0, 0, 0])
})
