import t from 'tap'
import { startCrowd } from '../support/crowd.ts'
import { waitFor } from '../support/wait.ts'

const LONG_WAIT = { timeoutMs: 600_000 }

t.test('An event of a tenant with 20,000 channels does not delay another tenant of the same partition', async t => {
  const { receiver, loud, quiet, check, waiting, madeBefore, countSequences } = await startCrowd(t, 20_000)
  await check([...loud, quiet[0]!], false)
  await check([quiet[1]!], false)
  await receiver.waitFor(2)
  await waitFor(async () => (await waiting()) === 0, { ...LONG_WAIT, label: 'the end of the fan-out' })
  t.ok((await madeBefore(quiet[0]!)) < 20_000, 'not half of the deliveries of the big one were made before')
  t.ok((await madeBefore(quiet[1]!)) < 40_000, 'nor all of them before the next')
  t.same(await countSequences(), [{ sequence: 'monitor.down', count: 40_000 }])
})

t.test('When a process is killed during a fan-out, another one makes the remaining deliveries, each once', async t => {
  const { picket, loud, check, waiting, made, countSequences } = await startCrowd(t, 6_000, { ROLES: 'api,verdict' })
  const deliverers = [
    await picket.addControlPlane({ ROLES: 'deliver' }),
    await picket.addControlPlane({ ROLES: 'deliver' }),
  ]
  await check(loud, false)
  await waitFor(async () => (await made()) > 2_000, { ...LONG_WAIT, label: 'a beginning' })
  await check(loud, true)
  await deliverers[0]!.kill9()
  t.ok((await waiting()) > 0, 'it was killed in the middle')
  await waitFor(async () => (await waiting()) === 0, { ...LONG_WAIT, label: 'the end of the fan-out' })
  t.same(await countSequences(), [{ sequence: 'monitor.down monitor.up', count: 12_000 }])
})
