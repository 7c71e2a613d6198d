import t from 'tap'
import { monotonicMs, withTimeout } from '../../../../control-plane/foundation/platform/time/clock.ts'

/** Blocks the event loop again and again until `signal` is aborted. */
function keepBusy(signal: AbortSignal): void {
  const untilMs = monotonicMs() + 100
  while (monotonicMs() < untilMs);
  if (!signal.aborted) setImmediate(() => keepBusy(signal))
}

t.test('Work that ends in time gives its result, and an error of the work is passed on', async t => {
  t.equal(await withTimeout(Promise.resolve(5), 60_000), 5)
  await t.rejects(withTimeout(Promise.reject(new Error('broken')), 60_000), { message: 'broken' })
})

t.test('A limit ends the wait, also in a process that is always busy', async t => {
  t.equal(await withTimeout(new Promise(() => {}), 20), null)
  const busy = new AbortController()
  keepBusy(busy.signal)
  t.equal(await withTimeout(new Promise(() => {}), 500), null)
  busy.abort()
})
