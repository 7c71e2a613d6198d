import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import type { Result } from '../../shared/checks/result.ts'
import {
  createNextResult,
  insertMonitor,
  publish,
  readStatuses,
  startVerdictEngines,
  startVerdictProcess,
} from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const REGION = 'us-east'
const HIGHEST = 4_294_967_295

const { url, server, db, nats, projectId, reaches } = await startVerdictEngines(t)
const verdict = await startVerdictProcess(t, url, server.url)

const kind = (name: string) => verdict.metric(`picket_verdict_region_results_total{region="${REGION}",kind="${name}"}`)
const refused = (what: string, least: number) =>
  waitFor(async () => (await kind(`refused_${what}`)) >= least, { label: `${least} refused` })

const inForce = async () =>
  (await query<{ epoch: number }>(db, 'SELECT epoch FROM region_epochs WHERE region = ?', [REGION]))[0]!.epoch

const PROBE = uuidv7()

/** A new epoch of the region, of which the verdict process is not notified. */
const setEpoch = (epoch: number, probeIds = [PROBE]) =>
  execute(db, 'UPDATE region_epochs SET epoch = ?, probe_ids = ? WHERE region = ?', [epoch, probeIds, REGION])

const from = (probeId: string, result: Result) => publish(nats, [result], REGION, probeId)
const fromProbe = (result: Result) => from(PROBE, result)

await setEpoch(2_000)

t.test('A result of an epoch that was never given out is refused, and its region continues to count', async t => {
  const id = await insertMonitor(db, projectId)
  const epoch = await inForce()
  await fromProbe(createNextResult(id, { up: true, epoch }))
  await reaches(id, 'up')
  const before = await kind('refused_epoch')
  await fromProbe(createNextResult(id, { up: false, epoch: HIGHEST }))
  await from('no probe', createNextResult(id, { up: false, epoch: HIGHEST }))
  await refused('epoch', before + 2)
  t.equal(await readStatuses(db, id), 'up')
  await fromProbe(createNextResult(id, { up: false, epoch }))
  await reaches(id, 'up down')
})

t.test('A new epoch counts from its first result, even if the process has not read it yet', async t => {
  const id = await insertMonitor(db, projectId)
  const before = await kind('refused_epoch')
  let epoch = await inForce()
  for (let i = 0; i < 20; i++) {
    await setEpoch(++epoch)
    await fromProbe(createNextResult(id, { up: i % 2 === 0, epoch }))
  }
  await reaches(id, Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 'up' : 'down')).join(' '))
  t.equal(await kind('refused_epoch'), before)
})

t.test('Results of an epoch that PostgreSQL has lost wait until the fleet gives out a higher one', async t => {
  const id = await insertMonitor(db, projectId)
  const before = await kind('refused_epoch')
  const epoch = await inForce()
  const rounds = () => verdict.metric('picket_loop_rounds_total{loop="verdict-live-sets"')
  const first = await rounds()
  await fromProbe(createNextResult(id, { up: true, epoch: epoch + 3 }))
  await waitFor(async () => (await rounds()) > first, { label: 'the process to look at the live sets' })
  t.equal(await readStatuses(db, id), '')
  await setEpoch(epoch + 4)
  await reaches(id, 'up')
  t.equal(await kind('refused_epoch'), before)
})

t.test('A result counts only from a probe that was live in its epoch', async t => {
  const id = await insertMonitor(db, projectId)
  const other = uuidv7()
  const first = await inForce()
  await setEpoch(first + 10, [PROBE, other])
  await setEpoch(first + 20, [PROBE])
  await fromProbe(createNextResult(id, { up: true, epoch: first + 15 }))
  await reaches(id, 'up')
  const before = await kind('refused_probe')
  const strangers = [
    [other, first + 20],
    [other, first + 9],
    ['no probe', first + 20],
    ['', first + 15],
  ] as const
  for (const [probeId, epoch] of strangers) await from(probeId, createNextResult(id, { up: false, epoch }))
  await refused('probe', before + strangers.length)
  t.equal(await readStatuses(db, id), 'up')
  await from(other, createNextResult(id, { up: false, epoch: first + 19 }))
  await reaches(id, 'up down')
  t.equal(await kind('refused_probe'), before + strangers.length)
})

t.test('The current epoch stays when PostgreSQL is restored, and gets a higher number', async t => {
  const id = await insertMonitor(db, projectId)
  const epoch = (await inForce()) + 1
  await setEpoch(epoch)
  await fromProbe(createNextResult(id, { up: true, epoch }))
  await reaches(id, 'up')
  const before = await kind('refused_epoch')
  await setEpoch(epoch - 1)
  await fromProbe(createNextResult(id, { up: false, epoch }))
  await reaches(id, 'up down')
  await waitFor(async () => (await inForce()) > epoch, { label: 'a higher epoch' })
  await fromProbe(createNextResult(id, { up: true, epoch: await inForce() }))
  await reaches(id, 'up down up')
  t.equal(await kind('refused_epoch'), before)
})

t.test('A probe that sends invented epochs delays the verdict for seconds only', async t => {
  const id = await insertMonitor(db, projectId)
  const before = await kind('refused_epoch')
  const epoch = await inForce()
  for (let i = 1; i <= 60; i++) await fromProbe(createNextResult(id, { up: false, epoch: epoch + i }))
  await fromProbe(createNextResult(id, { up: true, epoch }))
  await reaches(id, 'up')
  await refused('epoch', before + 60)
  t.equal(await kind('refused_epoch'), before + 60)
})
