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
  const dropped: string[] = []
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
  const add = (monitorId: string, kind: ScreenshotKind, tenant = 1) =>
    queue.enqueue({
      order: {
        ...{ monitorId, kind, region: 'eu-west', scheduledAtMs: 0, attempt: 0, statusCode: 200 },
        permit: new Uint8Array(),
      },
      spec: checkSpec('https://shop.example'),
      tenant,
      onDrop: () => dropped.push(monitorId),
    })
  const takeAll = async () => {
    while (waiting.length > 0) {
      waiting.shift()!()
      await new Promise(setImmediate)
    }
  }
  return { add, takeAll, sent, dropped }
}

const named = (name: string, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `${name} ${from + i}`)

t.test('A screenshot of a failure is taken before the comparisons that wait, and after earlier failures', async t => {
  const { add, takeAll, sent } = startQueue()
  add('comparison 1', COMPARISON)
  add('comparison 2', COMPARISON)
  add('failure 1', FAILURE)
  add('failure 2', FAILURE)
  await takeAll()
  t.same(sent, ['comparison 1', 'failure 1', 'failure 2', 'comparison 2'])
})

t.test('A full queue drops a comparison for a failure, and a failure only when failures fill it', async t => {
  const { add, takeAll, sent, dropped } = startQueue()
  for (const name of named('comparison', 0, 21)) add(name, COMPARISON)
  t.same(dropped.splice(0), ['comparison 21'])
  for (const name of named('failure', 1, 21)) add(name, FAILURE)
  t.same(dropped, [...named('comparison', 1, 20).reverse(), 'failure 21'], 'the newest comparison first')
  await takeAll()
  t.same(sent, ['comparison 0', ...named('failure', 1, 20)])
})

t.test('Tenants take turns, and one with many captures leaves room for others in a full queue', async t => {
  const { add, takeAll, sent, dropped } = startQueue()
  for (const name of named('first', 1, 25)) add(name, COMPARISON, 1)
  t.same(dropped.splice(0), named('first', 22, 25))
  add('second 1', COMPARISON, 2)
  add('third 1', COMPARISON, 3)
  add('third 2', COMPARISON, 3)
  t.same(dropped, ['first 21', 'first 20', 'first 19'])
  await takeAll()
  t.same(sent.slice(0, 6), ['first 1', 'second 1', 'third 1', 'first 2', 'third 2', 'first 3'])
  t.equal(sent.length, 21)
})

t.test('A comparison of one tenant does not replace the failure of another', async t => {
  const { add, dropped } = startQueue()
  for (const name of named('failure', 0, 20)) add(name, FAILURE, 1)
  add('comparison', COMPARISON, 2)
  add('failure of another', FAILURE, 2)
  t.same(dropped, ['comparison', 'failure 20'])
})
