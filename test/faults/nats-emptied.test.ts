import t from 'tap'
import { startPicket } from '../support/picket.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

// takes about 60 s

const picket = await startPicket(t, { regions: ['us-east'] })
const { api } = picket
const target = await startTarget(t)

t.test('NATS that starts again without its files needs no operator: outages and the history continue', async t => {
  const body = {
    name: 'Shop',
    type: 'http',
    url: target.url,
    regions: ['us-east'],
    interval_seconds: 30,
    retry_count: 0,
  }
  const { id } = (await api.post('/monitors', body)).body.data
  const readStatus = async () => (await api.get(`/monitors/${id}`)).body.data.status
  const checks = async () => (await api.get(`/monitors/${id}/checks?per_page=100`)).body.data as { status: string }[]
  await waitFor(async () => (await readStatus()) === 'up', { label: 'up' })

  await picket.nats.empty()
  target.behave({ kind: 'answer', status: 500 })
  await waitFor(async () => (await readStatus()) === 'down', { label: 'the outage' })
  await waitFor(async () => (await checks()).some(({ status }) => status === 'down'), {
    label: 'its check in the history',
  })
  target.behave({ kind: 'answer' })
  await waitFor(async () => (await readStatus()) === 'up', { label: 'the recovery' })
  t.ok(
    await picket.controlPlane.untilEvent('streams_created'),
    'the control plane that was running created the streams',
  )
})
