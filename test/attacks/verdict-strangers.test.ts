import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { deleteMonitors } from '../../control-plane/verdict/core/monitor-lifecycle-actions.ts'
import { computePartition } from '../../shared/nats/subjects.ts'
import {
  createNextResult,
  insertMonitors,
  publish,
  startVerdictEngines,
  startVerdictProcess,
} from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url, server, db, nats, projectId } = await startVerdictEngines(t)

t.test(
  'A probe that sends invented monitors causes few look-ups and uses no memory, and deleted monitors leave memory',
  async t => {
    const ids = await insertMonitors(db, projectId, 50)
    const process = await startVerdictProcess(t, url, server.url)
    const fire = (some: string[], up: boolean) =>
      publish(
        nats,
        some.map(id => createNextResult(id, { up })),
      )
    const reach = (some: string[], status: string) =>
      waitFor(
        async () =>
          (await query(db, 'SELECT FROM monitors WHERE id = ANY(?) AND status = ?', [some, status] as never)).length ===
          some.length,
        { label: status },
      )
    const watched = (count: number) =>
      waitFor(async () => (await process.metric('picket_verdict_watched_monitors')) === count, {
        label: `${count} monitors in memory`,
      })
    await fire(ids, true)
    await reach(ids, 'up')
    await watched(50)

    const [gone, left] = [ids.slice(0, 20), ids.slice(20)]
    await deleteMonitors({ db, publicUrl: 'https://picket.example' }, projectId, gone, new Date())
    await fire(left, false)
    await reach(left, 'down')
    await watched(30)

    const before = await process.metric('picket_verdict_looked_for_total')
    const count = 20_000
    const invented: string[] = []
    while (invented.length < count) {
      const id = uuidv7()
      if (computePartition(id) === 0) invented.push(id)
    }
    for (let i = 0; i < count; i += 1_000) await fire([...invented.slice(i, i + 1_000), ...gone], false)
    await fire(left, true)
    await reach(left, 'up')
    const askedFor = (await process.metric('picket_verdict_looked_for_total')) - before
    t.ok(askedFor > 0 && askedFor < count / 2, `${askedFor} of ${count} ids were asked for`)
    t.equal(await process.metric('picket_verdict_watched_monitors'), 30)
    t.equal(await process.metric('picket_verdict_partition_restarts_total'), 0)
    await process.stop()
  },
)
