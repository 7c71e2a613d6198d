import t from 'tap'
import { formatDelay, summarizeTrust } from '../../../control-plane/pages/public/trust/labels.ts'
import { buildTrustReport, roundUpToTenth } from '../../../control-plane/pages/public/trust/trust.ts'
import { toTrustJson } from '../../../control-plane/pages/public/trust/trust-json.ts'
import { renderTrustPage } from '../../../control-plane/pages/public/trust/trust-page.tsx'
import { createCachedReader } from '../../../control-plane/pages/public/trust/trust-reader.ts'
import { EMPTY, ORDINARY, trustWith, WITH_MISSES } from '../../support/trust.ts'

const renderFacts = (facts: typeof ORDINARY) => renderTrustPage('status.example.com', trustWith(facts)).html

t.test('Without measurements the page shows the guarantee of new canaries', async t => {
  const { rows, pace } = trustWith(EMPTY)
  t.same(pace, { intervalMs: 30_000, timeoutMs: 10_000, retryCount: 2 })
  t.same(
    rows.map(({ kind, limits, measured }) => [
      kind,
      roundUpToTenth(limits.downWithin),
      roundUpToTenth(limits.messageWithin),
      measured,
    ]),
    [
      ['refuse', 37, 39, null],
      ['status', 37, 39, null],
      ['wrong', 37, 39, null],
      ['slow', 67, 69, null],
      ['hang', 49.7, 51.7, null],
    ],
  )
  t.match(summarizeTrust(trustWith(EMPTY)), { sign: 'u', sentence: /^No measurements yet\./ })
  t.match(renderFacts(EMPTY), /No measurements yet\./)
  t.match(renderFacts(EMPTY), /Not measured yet/)
})

t.test('The page summarizes in one sentence whether the guarantee was kept', async t => {
  const first = ORDINARY.figures[0]!
  const formatSentence = (compared: number, misses: number) =>
    summarizeTrust(trustWith({ ...ORDINARY, figures: [{ ...first, compared, misses }] })).sentence
  const rows: [number, number, string][] = [
    [0, 0, 'No planned outage of the last 30 days has been compared with the guarantee yet.'],
    [1, 0, 'The planned outage of the last 30 days was reported within the guarantee.'],
    [1_234, 0, 'All 1,234 planned outages of the last 30 days were reported within the guarantee.'],
    [1_234, 1, '1 of 1,234 planned outages of the last 30 days was not reported within the guarantee.'],
    [1_234, 7, '7 of 1,234 planned outages of the last 30 days were not reported within the guarantee.'],
  ]
  for (const [compared, misses, sentence] of rows) t.equal(formatSentence(compared, misses), sentence)
})

t.test('Figures are never rounded down, and undetected outages are shown as never', async t => {
  for (const [seconds, shown] of [
    [37, 37],
    [49.666_666, 49.7],
    [49.71, 49.8],
    [0.1 + 0.2, 0.3],
  ] as const) {
    t.equal(roundUpToTenth(seconds), shown)
  }
  const html = renderFacts(WITH_MISSES)
  t.match(html, /<td class="over">never<\/td>/)
  t.match(html, /<td class="over">51\.4<\/td>/)
  t.notMatch(renderFacts(ORDINARY), /class="over"/)
  t.match(html, /19 Nov, 03:12 UTC<\/time><\/b>, hanging: reported 11\.7 seconds later than guaranteed\./)
  t.equal(formatDelay({ ...WITH_MISSES.lastMiss!, lateSeconds: null }), 'it was not detected, or no alert arrived.')
})

t.test('The guarantee is that of the slowest canary', async t => {
  const [canary] = ORDINARY.canaries
  const { pace } = trustWith({ ...ORDINARY, canaries: [canary!, { ...canary!, intervalSeconds: 60 }, canary!] })
  t.equal(pace.intervalMs, 60_000)
})

t.test('Kinds without current canaries are shown while they have measurements', async t => {
  const [canary] = ORDINARY.canaries
  const onlyHang = { ...ORDINARY, canaries: [{ ...canary!, kinds: ['hang' as const] }] }
  t.equal(trustWith(onlyHang).rows.length, 5)
  t.same(
    trustWith({ ...onlyHang, figures: [] }).rows.map(({ kind }) => kind),
    ['hang'],
  )
})

t.test('The JSON has the same figures and no tenants, regions or addresses', async t => {
  const document = toTrustJson(trustWith(WITH_MISSES))
  t.match(document, {
    read_at: '2026-11-21T14:05:00.000Z',
    days: 30,
    settings: { interval_seconds: 30, timeout_ms: 10_000, retry_count: 2 },
    compared: 2_880,
    misses: 7,
    last_miss: { kind: 'hanging', started_at: '2026-11-19T03:12:09.000Z', late_seconds: 11.7 },
  })
  t.same(document.outages.at(-1), {
    kind: 'hanging',
    guaranteed: { down_within: 49.7, message_within: 51.7 },
    measured: {
      outages: 576,
      down: { p50: 31.7, p95: 51.4, p99: null },
      message: { p50: 31.8, p95: 53, p99: null },
    },
  })
  const [canary] = ORDINARY.canaries
  const secret = { region: 'us-east', monitorId: 'secret-id', url: 'https://secret.example' }
  const facts = { ...ORDINARY, canaries: [{ ...canary!, ...secret }] }
  const shown = JSON.stringify(toTrustJson(trustWith(facts))) + renderFacts(facts)
  t.notMatch(shown, /us-east|secret/)
})

t.test('A report is cached for a minute and read once at a time', async t => {
  let now = 0
  let reads = 0
  const answers: ((value: number | Error) => void)[] = []
  const get = createCachedReader(
    () =>
      new Promise<number>((resolve, reject) => {
        reads++
        answers.push(value => (typeof value === 'number' ? resolve(value) : reject(value)))
      }),
    () => now,
  )
  const first = [get(), get(), get()]
  t.equal(reads, 1, 'concurrent readers share one read')
  answers.shift()!(1)
  t.same(await Promise.all(first), [1, 1, 1])
  now = 59_999
  t.equal(await get(), 1)
  t.equal(reads, 1)
  now = 60_000
  const second = get()
  t.equal(reads, 2)
  answers.shift()!(new Error('away'))
  t.equal(await second, 1, 'the last report is served after a failure')
  now = 64_999
  t.equal(await get(), 1)
  t.equal(reads, 2, 'and it is read again only after 5 s')
  now = 65_000
  const third = get()
  answers.shift()!(2)
  t.equal(await third, 2)
})

t.test('A report that was never read is an error, and the next visitor tries again', async t => {
  let reads = 0
  const get = createCachedReader(
    async () => {
      reads++
      if (reads === 1) throw new Error('away')
      return reads
    },
    () => 0,
  )
  await t.rejects(get(), /away/)
  t.equal(await get(), 2)
})

t.test('A canary with an interval below its timeout has the guarantee of the shorter value', async t => {
  const [canary] = ORDINARY.canaries
  const { pace } = buildTrustReport({ ...EMPTY, canaries: [{ ...canary!, timeoutMs: 60_000 }] }, new Date())
  t.equal(pace.timeoutMs, 30_000)
})
