import t from 'tap'
import { startPicket } from '../support/picket.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

// takes about 40 s
t.test('A monitor reports regions without a live probe, from its creation until there is one', async t => {
  const picket = await startPicket(t, { regions: ['us-east'] })
  const target = await startTarget(t)
  const body = { name: 'Shop', type: 'http', url: target.url, interval_seconds: 30 }
  const issues = async (id: string) => (await picket.api.get(`/monitors/${id}`)).body.data.configuration_issues
  const { monitors } = (await picket.api.post('/monitors/bulk', { monitors: [{ ...body, regions: ['us-east'] }] })).body
  await waitFor(async () => (await issues(monitors[0].id)).length === 0, { label: 'the probe in us-east' })
  const { data: none } = (await picket.api.post('/monitors', { ...body, regions: ['eu-west', 'ap-southeast'] })).body
  t.same(none.configuration_issues, ['no_probe: no live probe in eu-west, ap-southeast can check this monitor'])
  t.equal(none.status, null)
  const { data: some } = (await picket.api.post('/monitors', { ...body, regions: ['us-east', 'eu-west'] })).body
  t.same(some.configuration_issues, ['no_probe: no live probe in eu-west can check this monitor'])
  const first = await waitFor(async () => (await picket.api.get(`/monitors/${some.id}/transitions`)).body.data[0], {
    label: 'a first status',
  })
  t.match(first, { to: 'up', quorum: 'reduced' })
  const firstAfterMs = Date.parse(first.at) - Date.parse(some.created_at)
  t.comment(`the first status came after ${firstAfterMs} ms`)
  t.ok(firstAfterMs < 90_000, `within three intervals: ${firstAfterMs} ms`)
  const probe = await picket.addProbe('eu-west')
  await waitFor(async () => (await issues(some.id)).length === 0, { label: 'a probe in eu-west' })
  t.match(await issues(none.id), [/^no_probe: no live probe in ap-southeast can/])

  await probe.kill9()
  await waitFor(async () => (await issues(some.id))[0]?.startsWith('no_probe: no live probe in eu-west'), {
    label: 'its end',
  })
  const { data: listed } = (await picket.api.get('/monitors')).body
  t.same(
    listed.map((one: { configuration_issues: string[] }) => one.configuration_issues.length),
    [1, 1, 0],
  )
  const { data: paused } = (await picket.api.post(`/monitors/${some.id}/pause`)).body
  t.same(paused.configuration_issues, [], 'a paused monitor misses no probe')
})
