import t from 'tap'
import { FORMS } from '../../control-plane/dashboard/forms.ts'
import { startApi } from '../support/api-server.ts'
import { sendRequest } from '../support/http-client.ts'
import { insertOutage } from '../support/outage.ts'
import { createPerson } from '../support/person.ts'

const api = await startApi(t)
const owner = await createPerson(api, 'owner@example.com')
const viewer = await createPerson(api, 'viewer@example.com', { role: 'viewer', invitedBy: owner })
const stranger = await createPerson(api, 'stranger@example.com')

const projectId = (await api.call('GET', '/me', { key: owner.key })).body.data.project.id
const channel = { name: 'Operations', type: 'webhook', config: { url: 'https://hooks.example.com/x' } }
const channelId = (await api.call('POST', '/alerts/channels', { key: owner.key, body: channel })).body.data.id
const { monitorId, incidentId, deliveryId } = await insertOutage(api.db, projectId, channelId)

const IDS: Record<string, string> = {
  incidents: incidentId,
  log: deliveryId,
  monitors: monitorId,
  settings: channelId,
}
const getId = (path: string) => IDS[path.split('/')[1]!]!

type Sent = { cookie?: string | null; headers?: Record<string, string>; fields?: Record<string, string> }

const send = (path: string, { cookie = owner.cookie, headers, fields = {} }: Sent = {}) =>
  sendRequest(api.origin + path, {
    method: 'POST',
    headers: {
      ...(cookie !== null && { cookie }),
      ...{ accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
      ...(headers ?? { origin: api.origin }),
    },
    body: new URLSearchParams({
      message: 'It is fixed.',
      status: 'identified',
      visibility: 'public',
      ...fields,
    }).toString(),
  })

/** What the forms could change. */
async function readState() {
  const read = async (path: string) => (await api.call('GET', path, { key: owner.key })).body
  const { updated_at, acknowledged_at, status } = (await read(`/incidents/${incidentId}`)).data
  const log = await read('/alerts/log')
  return {
    ...{ updated_at, acknowledged_at, status, deliveries: log.meta.total, delivery: log.data[0].status },
    updates: (await read(`/incidents/${incidentId}/updates`)).meta.total,
  }
}
const before = await readState()

for (const { path } of FORMS) {
  const own = path.replace(':id', getId(path))
  t.test(`POST ${path} is refused from another site, without a session, for viewers and for other tenants`, async t => {
    const foreign: Record<string, string>[] = [
      {},
      { origin: 'https://attacker.example' },
      { origin: 'null' },
      { origin: api.origin, 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]
    for (const headers of foreign) t.equal((await send(own, { headers })).status, 403, JSON.stringify(headers))
    const signedOut = await send(own, { cookie: null })
    t.equal(signedOut.status, 303)
    t.match(signedOut.headers.get('location'), /^\/sign-in\?return_to=/)
    t.equal((await send(own, { cookie: viewer.cookie })).status, 403)
    t.equal((await send(own, { cookie: stranger.cookie })).status, 404)
    t.equal((await send(path.replace(':id', 'nope'))).status, 404)
    t.equal((await send(own, { headers: { origin: api.origin, authorization: `Bearer ${owner.key}` } })).status, 401)
    t.equal((await send(own, { headers: { origin: api.origin, host: 'status.customer.example' } })).status, 421)
    t.same(await readState(), before, 'nothing has changed')
  })
}

t.test('An id in the address of a form cannot name another operation', async t => {
  for (const id of [`${incidentId}%2Fupdates%3F`, '..%2F..%2Fmembers', '%2e%2e', `${incidentId}%23`]) {
    t.equal((await send(`/incidents/${id}/acknowledge`)).status, 404, id)
  }
  t.same(await readState(), before)
})

t.test('A form of a page of this site is carried out, and the page follows', async t => {
  const answer = await send(`/incidents/${incidentId}/acknowledge`)
  t.equal(answer.status, 303)
  t.equal(answer.headers.get('location'), `/incidents/${incidentId}`)
  t.ok((await readState()).acknowledged_at)
})

t.test('An error of the API is a page with its words', async t => {
  const answer = await send(`/incidents/${incidentId}/updates`, { fields: { message: 'x'.repeat(10_001) } })
  t.equal(answer.status, 400)
  t.match(answer.text, /message must not have more than 10000 characters|10000|10,000/)
  t.equal((await readState()).updates, before.updates)
})
