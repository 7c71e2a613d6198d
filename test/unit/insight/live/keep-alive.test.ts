import t from 'tap'
import { startKeepAlive } from '../../../../control-plane/insight/live/events/keep-alive-worker.ts'
import {
  createStreamRegistry,
  type EventStream,
  type StreamEnd,
} from '../../../../control-plane/insight/live/events/stream-registry.ts'
import { createLog } from '../../../../shared/process/log.ts'
import { createMetrics } from '../../../../shared/process/metrics.ts'
import { waitFor } from '../../../support/wait.ts'

const COUNT = 50
/** More streams than are checked at the same time. */
const MAX_CHECKS = 5

/** Streams that are due, of which stream 0 was checked last. Their checks end when the test says so. */
function setUp() {
  const registry = createStreamRegistry(() => {})
  const running: { number: number; end(isAllowed: boolean | Error): void }[] = []
  const streams = Array.from({ length: COUNT }, (_, number) => {
    const stream: EventStream & { heartbeats: number; endedBy: StreamEnd | null } = {
      ...{ projectId: `p${number}`, keyId: `k${number}`, position: null, version: 0, greeting: null },
      ...{ checkedMs: -1_000_000 - number, heartbeatMs: -1_000_000, heartbeats: 0, endedBy: null },
      write() {
        stream.heartbeats++
      },
      end(why) {
        stream.endedBy = why
      },
      isAllowed: () =>
        new Promise((resolve, reject) => {
          const end = (answer: boolean | Error) => (answer instanceof Error ? reject(answer) : resolve(answer))
          running.push({ number, end })
        }),
    }
    registry.add(stream)
    return stream
  })
  const loops = startKeepAlive({ registry, log: createLog('test', 'silent'), metrics: createMetrics() })
  return { running, streams, loops }
}

t.test('Streams are checked five at a time, the longest unchecked first, and heartbeats do not wait', async t => {
  const { running, streams, loops } = setUp()
  await waitFor(() => running.length === MAX_CHECKS, { label: 'the first checks' })
  t.same(
    running.map(({ number }) => number),
    [49, 48, 47, 46, 45],
  )
  await waitFor(() => streams.every(({ heartbeats }) => heartbeats > 0), { label: 'a heartbeat for each stream' })
  t.ok(
    streams.every(({ checkedMs }) => checkedMs < 0),
    'a check that has not ended does not count',
  )

  const [lost, unknown, kept] = running.splice(0, 3)
  lost!.end(false)
  unknown!.end(new Error('no connection to PostgreSQL'))
  kept!.end(true)
  await waitFor(() => running.length === MAX_CHECKS, { label: 'the next three' })
  t.same(
    [49, 48, 47].map(number => [streams[number]!.endedBy, streams[number]!.checkedMs > 0]),
    [
      ['unauthorized', true],
      [null, true],
      [null, true],
    ],
  )
  const stopped = loops.stop()
  for (const check of running.splice(0)) check.end(true)
  await stopped
  t.equal(running.length, 0, 'no check begins after the stop')
})
