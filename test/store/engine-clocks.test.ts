import t from 'tap'
import { connectNats } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { monotonicMs } from '../../control-plane/foundation/platform/time/clock.ts'
import { startEngineClocks } from '../../control-plane/foundation/platform/time/engine-clocks.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { countCalls } from '../support/count-calls.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { waitFor } from '../support/wait.ts'

const HOUR_MS = 3_600_000

t.test("PostgreSQL's time is learned from answers to other questions, and asked for when there are none", async t => {
  const db = createPostgres((await createDatabase(t)).url, 2)
  const counted = countCalls(db, 'raw')
  const nats = await connectNats((await startNats(t)).url, 'test')
  const metrics = createMetrics()
  const clocks = await startEngineClocks({ db: counted.client, nats, log: createLog('test', 'silent'), metrics })
  t.teardown(async () => {
    await clocks.stop()
    await nats.close()
    await db.destroy()
  })
  const learnFuture = (roundTripMs: number) => {
    const receivedMs = monotonicMs()
    clocks.learnPostgres({ nowMs: Date.now() + HOUR_MS, sentMs: receivedMs - roundTripMs, receivedMs })
  }
  const aheadHours = () => Math.round((clocks.disagreements().postgres ?? 0) / 3_600)
  const countRounds = async () =>
    Number(/loop="engine-clocks",outcome="ok"\} (\d+)/.exec((await metrics.render()).text)?.[1] ?? 0)
  t.equal(aheadHours(), 0)
  learnFuture(1_000)
  t.equal(aheadHours(), 0, 'a slow answer says nothing about the time')

  learnFuture(1)
  t.equal(aheadHours(), 1)
  const before = { asked: counted.calls(), rounds: await countRounds() }
  await waitFor(
    async () => {
      learnFuture(1)
      clocks.wake()
      return (await countRounds()) >= before.rounds + 3
    },
    { label: 'three rounds' },
  )
  t.equal(counted.calls(), before.asked, 'no question of its own')
  await waitFor(async () => aheadHours() === 0, { label: 'the true time' })
  t.ok(counted.calls() > before.asked)
})
