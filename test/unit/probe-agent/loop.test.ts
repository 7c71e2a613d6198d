import t from 'tap'
import { createLoop } from '../../../probe-agent/loop.ts'
import { slotFrom, slotsOf } from '../../../probe-agent/schedule.ts'
import { createWatches } from '../../../probe-agent/watches.ts'
import { Outcome, type Result } from '../../../proto/gen/probe/v1/result.ts'
import { createLog } from '../../../shared/log.ts'
import { assignment, checkSpec } from '../../support/fleet-server.ts'
import { waitFor } from '../../support/wait.ts'

const OBSERVATION = {
  error: null,
  timings: { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: 0, transferUs: 0 },
  totalUs: 1000,
  statusCode: 200,
  headers: null,
  body: null,
  resolvedIp: null,
  certificate: null,
}

t.test('a slot is checked once, also when the clock is learned better and steps back a little', async t => {
  const intervalS = 3600
  const slots = slotsOf('m1', 'eu-west', intervalS)
  const slotMs = slotFrom(slots, Date.UTC(2026, 7, 1))
  let nowMs = slotMs - 5
  const published: Result[] = []
  let runs = 0
  const loop = createLoop({
    watches: createWatches('eu-west'),
    clock: { learn() {}, nowMs: () => nowMs },
    async run() {
      runs++
      nowMs = slotMs - 20
      return {
        observation: OBSERVATION,
        outcome: Outcome.UP,
        failedAssertions: [],
        evidence: undefined,
        certificate: undefined,
      }
    },
    publish: result => published.push(result),
    answer() {},
    maxConcurrentChecks: 10,
    log: createLog('test', 'silent'),
  })
  t.teardown(() => loop.drain())
  const upserts = [assignment('m1', checkSpec('http://127.0.0.1'), { intervalS })]
  loop.apply({ isSnapshot: true, isLast: true, revision: 1, epoch: 1, upserts, removals: [] })
  nowMs = slotMs + 1
  loop.clockLearned()
  await waitFor(() => published.length === 1, { label: 'the slot' })
  nowMs = slotMs + 30
  loop.clockLearned()
  await new Promise(resolve => setImmediate(resolve))
  t.equal(runs, 1)
  nowMs = slotMs + intervalS * 1000 + 1
  loop.clockLearned()
  await waitFor(() => published.length === 2, { label: 'the next slot' })
  t.same(
    published.map(result => result.scheduledAtMs),
    [slotMs, slotMs + intervalS * 1000],
  )
})
