import t from 'tap'
import type { ScreenshotCapture } from '../../../../probe-agent/screenshots/capture.ts'
import { createCaptureQueue } from '../../../../probe-agent/screenshots/capture-queue.ts'
import { ScreenshotKind } from '../../../../proto/gen/probe/v1/screenshot.ts'
import { createLog } from '../../../../shared/process/log.ts'
import { checkSpec } from '../../../support/fleet-server.ts'

const { FAILURE, COMPARISON } = ScreenshotKind

/** A queue whose capture takes one picture for each call of `take`, and the names of the pages in the order they were sent. */
function startQueue() {
  const sent: string[] = []
  const waiting: (() => void)[] = []
  const capture: ScreenshotCapture = {
    take: () =>
      new Promise(resolve =>
        waiting.push(() => resolve({ statusCode: 200, contentType: 'image/png', bytes: Buffer.from('x') })),
      ),
    stop: () => {},
    withinMs: 15_000,
  }
  const queue = createCaptureQueue({
    capture,
    probeId: 'probe',
    nowMs: () => 0,
    send: async ({ order }) => void sent.push(order!.monitorId),
    log: createLog('test', 'silent'),
  })
  const add = (monitorId: string, kind: ScreenshotKind) =>
    queue.enqueue(
      { monitorId, kind, region: 'eu-west', scheduledAtMs: 0, attempt: 0, statusCode: 200, permit: new Uint8Array() },
      checkSpec('https://shop.example'),
    )
  const take = async () => {
    waiting.shift()!()
    await new Promise(setImmediate)
  }
  return { add, take, sent, isIdle: () => waiting.length === 0 }
}

t.test('A screenshot of a failure is taken before the comparisons that wait, and after earlier failures', async t => {
  const { add, take, sent, isIdle } = startQueue()
  add('comparison 1', COMPARISON)
  add('comparison 2', COMPARISON)
  add('failure 1', FAILURE)
  add('failure 2', FAILURE)
  while (!isIdle()) await take()
  t.same(sent, ['comparison 1', 'failure 1', 'failure 2', 'comparison 2'])
})

t.test('A full queue drops a comparison for a failure, and a failure only when failures fill it', async t => {
  const { add, take, sent, isIdle } = startQueue()
  for (let i = 0; i <= 20; i++) t.equal(add(`comparison ${i}`, COMPARISON), true)
  t.equal(add('one comparison too many', COMPARISON), false)
  for (let i = 1; i <= 20; i++) t.equal(add(`failure ${i}`, FAILURE), true)
  t.equal(add('one failure too many', FAILURE), false)
  while (!isIdle()) await take()
  t.same(sent, ['comparison 0', ...Array.from({ length: 20 }, (_, i) => `failure ${i + 1}`)])
})
