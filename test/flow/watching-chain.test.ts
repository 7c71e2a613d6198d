import { createHmac } from 'node:crypto'
import t from 'tap'
import { startPicket } from '../support/picket.ts'
import { startReceiver } from '../support/receiver.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

// takes about 10 s

t.test('An outage causes two signed webhooks, one incident and explained transitions', async t => {
  const [picket, target, receiver] = await Promise.all([
    startPicket(t, { regions: ['us-east', 'eu-west', 'ap-southeast'] }),
    startTarget(t),
    startReceiver(t),
  ])
  const { api } = picket
  const channel = (await api.post('/alerts/channels', { name: 'Ops', type: 'webhook', config: { url: receiver.url } }))
    .body.data
  const created = await api.post('/monitors', {
    name: 'Shop',
    type: 'http',
    url: target.url,
    interval_seconds: 30,
    retry_count: 0,
    regions: ['us-east', 'eu-west', 'ap-southeast'],
  })
  t.equal(created.status, 201)
  const { id } = created.body.data
  t.equal((await api.post('/alerts/rules', { monitor_id: id, alert_channel_id: channel.id })).status, 201)
  const status = async () => (await api.get(`/monitors/${id}`)).body.data.status

  await waitFor(async () => (await status()) === 'up', { label: 'the first verdict' })
  target.behave({ kind: 'answer', status: 503 })
  await api.post(`/monitors/${id}/check`)
  const [down] = await receiver.waitFor(1)
  t.equal(await status(), 'down')
  target.behave({ kind: 'answer' })
  await api.post(`/monitors/${id}/check`)
  const [, up] = await receiver.waitFor(2)
  t.equal(await status(), 'up')

  t.equal(down?.json.event, 'monitor.down')
  t.equal(up?.json.event, 'monitor.up')
  for (const webhook of [down, up]) {
    const hmac = createHmac('sha256', channel.signing_secret).update(webhook?.rawBody ?? '')
    t.equal(webhook?.headers['x-service-signature'], `sha256=${hmac.digest('hex')}`)
  }
  const transitions = (await api.get(`/monitors/${id}/transitions`)).body.data
  t.same(
    transitions.map((transition: { from: string; to: string }) => [transition.from, transition.to]),
    [
      ['down', 'up'],
      ['up', 'down'],
      [null, 'up'],
    ],
  )
  const incidents = (await api.get('/incidents')).body.data
  t.match(incidents, [{ title: 'Shop is down', status: 'resolved', severity: 'major', source: 'automatic' }])
  t.equal(incidents.length, 1)
})
