import t from 'tap'
import { NO_DETAILS, Outcome, type Result, Trigger } from '../../../shared/checks/result.ts'
import { computePartition } from '../../../shared/nats/subjects.ts'
import { replayMessages, type StoredMessage } from '../../chaos/replay.ts'

const id = '01900000-0000-7000-8000-000000000001'
const partition = computePartition(id)
const monitor = {
  id,
  configVersion: 1,
  streaksSince: 1,
  regions: ['us-east', 'eu-west'],
  retryCount: 0,
  intervalSeconds: 30,
  timeoutMs: 5_000,
  status: null,
  isPaused: false,
  isDeleted: false,
}
const BEGIN_MS = 1_800_000_000_000

/** Messages in stream order. `at`: in seconds. */
function buildMessages(...checks: [at: number, region: string, up: boolean][]): StoredMessage[] {
  return checks.map(([at, region, up], i) => {
    const ms = BEGIN_MS + at * 1_000
    const result: Result = {
      monitorId: id,
      configVersion: 1,
      epoch: 1,
      scheduledAtMs: ms,
      startedAtMs: ms,
      attempt: 1,
      outcome: up ? Outcome.UP : Outcome.DOWN,
      trigger: Trigger.SLOT,
      runId: '',
      totalUs: 1,
      timings: undefined,
      statusCode: up ? 200 : 503,
      error: undefined,
      failedAssertions: [],
      resolvedIp: '',
      ...NO_DETAILS,
    }
    return { sequence: i + 1, takenAtMs: ms, partition, batch: { probeId: `of ${region}`, region, results: [result] } }
  })
}

const statuses = (messages: StoredMessage[]) =>
  replayMessages(messages, [monitor]).map(({ transition }) => transition.to)

t.test('the replay of ordered results returns the transitions of the pure core', async t => {
  const outage = buildMessages(
    [0, 'us-east', true],
    [1, 'eu-west', true],
    [30, 'us-east', false],
    [31, 'eu-west', false],
  )
  t.same(statuses(outage), ['up', 'down'])
  const again = outage.map(one => ({ ...one, sequence: one.sequence + 10, takenAtMs: one.takenAtMs + 40_000 }))
  t.same(statuses([...outage, ...again]), ['up', 'down'], 'a repeated result counts once')
})

t.test('an expired vote does not count', async t => {
  // eu-west is silent until its vote expires; us-east alone is not a majority
  const silent = buildMessages(
    [0, 'us-east', true],
    [1, 'eu-west', false],
    [30, 'us-east', true],
    [150, 'us-east', false],
  )
  t.same(statuses(silent), ['degraded'])
})
