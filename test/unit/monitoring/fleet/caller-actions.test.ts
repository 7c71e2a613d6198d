import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { createCallerAuthentication } from '../../../../control-plane/monitoring/fleet/probes/caller-actions.ts'
import type { ProbeIdentity } from '../../../../control-plane/monitoring/fleet/probes/enrolment-actions.ts'
import { createMetrics } from '../../../../shared/process/metrics.ts'
import { readMetric } from '../../../support/rounds.ts'
import type { Teardown } from '../../../support/teardown.ts'

const hash = (text: string) => createHash('sha256').update(text).digest()
const PROBE: ProbeIdentity = {
  region: 'eu-west',
  tokenId: 'token',
  isReusable: false,
  probeId: 'probe',
  capabilities: [],
  secretHash: null,
}
const REFUSED = { refusal: 'this probe is unknown' }

/** Look-ups that end when the test says so, or with it. */
function setUp(t: Teardown, { known = [] as string[] } = {}) {
  const metrics = createMetrics()
  const callsRefused = metrics.counter('refused_total', 'Refused calls', ['why'])
  const running: { secret: string | null; end(found: ProbeIdentity | typeof REFUSED): void; fail(): void }[] = []
  const authenticate = createCallerAuthentication({
    authenticate: ({ secret }) =>
      new Promise((resolve, reject) => {
        running.push({ secret, end: resolve, fail: () => reject(new Error('no connection to PostgreSQL')) })
      }),
    known: known.map(hash),
    metrics: { callsRefused },
  })
  const end = async (found: ProbeIdentity | typeof REFUSED) => {
    await turn()
    running.shift()!.end(found)
    await turn()
  }
  t.teardown(async () => {
    while (running.length > 0) await end(PROBE)
  })
  const call = (network: string, secret: string | null, token: string | null = null) =>
    authenticate(network, { secret, token })
  return {
    running,
    call,
    /** a hundred calls with unknown secrets, of which two are looked up */
    async crowd(network: string) {
      for (let i = 0; i < 100; i++) void call(network, `x${i}`)
      await turn()
    },
    /** the secrets that are being looked up */
    async names() {
      await turn()
      return running.map(one => one.secret)
    },
    refused: (why: string) => readMetric(metrics, `refused_total{why="${why}"}`),
    /** ends the oldest look-up and waits until the next ones have started */
    end,
  }
}

t.test('Unknown credentials are looked up two at a time, and networks take turns', async t => {
  const { call, names, end } = setUp(t)
  const calls = ['a1', 'a2', 'a3', 'a4'].map(secret => call('192.0.2.1', secret))
  calls.push(call('192.0.2.2', 'b1'))
  t.same(await names(), ['a1', 'a2'])
  await end(REFUSED)
  await end(REFUSED)
  t.same(await names(), ['a3', 'b1'], 'the other network does not wait for all calls of the first')
  for (let i = 0; i < 3; i++) await end(REFUSED)
  t.same(
    await Promise.all(calls),
    calls.map(() => REFUSED),
  )
})

t.test('A known probe waits for no unknown one', async t => {
  const { call, crowd, names, running } = setUp(t, { known: ['known', 'reusable'] })
  await crowd('192.0.2.1')
  const known = call('192.0.2.1', 'known')
  const byToken = call('192.0.2.1', 'new', 'reusable')
  t.same(await names(), ['x0', 'x1', 'known', 'new'])
  for (const one of running.splice(2)) one.end(PROBE)
  t.same(await Promise.all([known, byToken]), [PROBE, PROBE])

  await t.test('as does one that connected since the start', async t => {
    const { call, crowd, names, end } = setUp(t)
    const first = call('192.0.2.1', 'later')
    await end(PROBE)
    await first
    await crowd('192.0.2.1')
    void call('192.0.2.1', 'later')
    t.same(await names(), ['x0', 'x1', 'later'])
  })

  await t.test('but not one that was revoked since', async t => {
    const { call, crowd, names, end } = setUp(t, { known: ['revoked'] })
    const first = call('192.0.2.1', 'revoked')
    await end(REFUSED)
    t.same(await first, REFUSED)
    await crowd('192.0.2.1')
    void call('192.0.2.1', 'revoked')
    t.same(await names(), ['x0', 'x1'])
  })
})

t.test('A token for one probe makes no other probe known; a reusable one does', async t => {
  for (const isReusable of [false, true]) {
    const { call, crowd, names, end } = setUp(t)
    const enrolled = call('192.0.2.1', 'one', 'token')
    await end({ ...PROBE, probeId: null, isReusable })
    await enrolled
    await crowd('192.0.2.1')
    void call('192.0.2.1', 'two', 'token')
    t.equal((await names()).includes('two'), isReusable)
  }
})

t.test('A network with 300 refused credentials in a minute waits; other networks and known probes do not', async t => {
  const { call, end, names, refused } = setUp(t, { known: ['known'] })
  // a minute can end between two calls, and then the count begins again
  let busy = 0
  for (let i = 0; i < 900 && busy === 0; i++) {
    const found = call('192.0.2.1', `x${i}`)
    if ((await names()).length > 0) await end(REFUSED)
    if ('busy' in (await found)) busy = i
  }
  t.ok(busy >= 300, `refused after ${busy}`)
  t.equal(await refused('misses'), 1)
  t.match(await call('192.0.2.1', 'y'), { busy: /^more than 300 unknown credentials a minute came from 192\.0\.2\.1$/ })
  void call('192.0.2.2', 'other')
  void call('192.0.2.1', 'known')
  t.same((await names()).toSorted(), ['known', 'other'])
})

t.test('Credentials that are valid, or could not be looked up, are not counted as refused', async t => {
  const { call, end, running } = setUp(t)
  for (let i = 0; i < 350; i++) {
    const valid = call('192.0.2.1', `valid-${i}`)
    await end(PROBE)
    t.equal(await valid, PROBE)
    const failed = call('192.0.2.1', `failed-${i}`)
    await turn()
    running.shift()!.fail()
    await t.rejects(failed, { message: 'no connection to PostgreSQL' })
  }
})

t.test('At most 250 calls of a network wait', async t => {
  const { call, refused, names } = setUp(t)
  const calls = Array.from({ length: 253 }, (_, i) => call('192.0.2.1', `x${i}`))
  t.same(await calls.at(-1), { busy: 'too many unknown probes are waiting; try again' })
  t.equal(await refused('full'), 1)
  t.equal((await names()).length, 2)
  void call('192.0.2.2', 'other')
  t.equal((await names()).length, 2, 'another network waits for its turn and is not refused')
})
