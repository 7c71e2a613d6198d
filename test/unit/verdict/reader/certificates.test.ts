import t from 'tap'
import {
  type KnownCertificates,
  markNotStored,
  type ObservedCertificate,
  recordCertificate,
} from '../../../../control-plane/verdict/reader/counting/certificates.ts'
import { resultOf } from '../../../support/verdict.ts'

const START_MS = Date.UTC(2026, 10, 21)
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** `isLocked`: what it records is not stored, because its monitor is locked. */
type Check = {
  cert?: string
  ends?: number
  minute?: number
  version?: number
  region?: string
  isLocked?: boolean
}
type Step = Check & { noted: boolean }

/** Returns for each check what is recorded; undefined: nothing. */
function record(checks: Check[]): (ObservedCertificate | undefined)[] {
  const known: KnownCertificates = new Map()
  return checks.map(({ cert = 'aa', ends = 60, minute = 0, version = 1, region = 'us-east', isLocked = false }) => {
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
    const result = resultOf('m', { up: true, certificate, scheduledAtMs, configVersion: version })
    recordCertificate(known, noted, region, result, scheduledAtMs)
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

t.test('a result from the future, or without a certificate, records nothing', async t => {
  const known: KnownCertificates = new Map()
  const noted = new Map<string, ObservedCertificate>()
  const certificate = { subject: '', issuer: '', validFromMs: 0, validToMs: START_MS, names: [], fingerprint: 'aa' }
  recordCertificate(known, noted, 'us-east', resultOf('m', { up: true }), START_MS)
  recordCertificate(
    known,
    noted,
    'us-east',
    resultOf('m', { up: true, certificate, scheduledAtMs: START_MS + 6_000 }),
    START_MS,
  )
  t.same([known.size, noted.size], [0, 0])
})
