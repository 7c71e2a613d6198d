import t from 'tap'
import { decryptSigningSecret } from '../../control-plane/alerting/channels/config/encrypted-config.ts'
import { alertLogRoutes } from '../../control-plane/alerting/deliveries/log/routes.ts'
import { channelRoutes } from '../../control-plane/alerting/routing/alert-channels/routes.ts'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createResourceApi } from '../support/resource-api.ts'

const api = await createResourceApi(t, (app, handles) => {
  channelRoutes(app, handles)
  alertLogRoutes(app, { ...handles, retentionDays: 30 })
})
const { call, projectId } = await api.account()
const UNKNOWN = '0190a0a0-0000-7000-8000-000000000000'
const valid = { name: 'Hook', type: 'webhook', config: { url: 'https://hooks.example.com/x' } }
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/

const stored = () =>
  query(api.db, 'SELECT alert_channels::text FROM alert_channels WHERE project_id = ? ORDER BY id', [projectId])

async function readStoredSecret(id: string) {
  const [row] = await query<{ signingSecret: Buffer }>(
    api.db,
    'SELECT signing_secret AS "signingSecret" FROM alert_channels WHERE id = ?',
    [id],
  )
  return decryptSigningSecret({ id, projectId, signingSecret: row?.signingSecret ?? null }, api.secrets)
}

t.test('POST /alerts/channels 400 names the invalid field and stores nothing', async t => {
  const config = (more: object) => ({ config: { ...valid.config, ...more } })
  const headers = (map: object) => config({ headers: map })
  const rows: [object, string][] = [
    [{ name: undefined }, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 'a\r\nb' }, 'name'],
    [{ type: undefined }, 'type'],
    [{ type: 'pager' }, 'type'],
    [{ type: 'toString' }, 'type'],
    [{ config: undefined }, 'config'],
    [{ config: null }, 'config'],
    [{ config: {} }, 'config.url'],
    [config({ url: 5 }), 'config.url'],
    [config({ url: 'ftp://example.com' }), 'config.url'],
    [config({ url: '/relative' }), 'config.url'],
    [config({ url: 'https://example.com/\r\nHost: x' }), 'config.url'],
    [config({ url: ' https://example.com' }), 'config.url'],
    [config({ url: 'https://a:b@example.com' }), 'config.url'],
    [config({ url: `https://example.com/${'x'.repeat(2048)}` }), 'config.url'],
    [config({ url: 'http://127.0.0.1:9/' }), 'config.url'],
    [config({ url: 'http://[fd00::1]/' }), 'config.url'],
    [config({ url: 'http://0251.0376.0251.0376/' }), 'config.url'],
    [headers({ a: 1 }), 'config.headers.a'],
    [headers({ a: 'b\r\nc: d' }), 'config.headers.a'],
    [headers({ 'a b': 'c' }), 'config.headers.a b'],
    [headers({ 'X-Service-Signature': 'mine' }), 'config.headers.X-Service-Signature'],
    [headers({ 'webhook-id': 'mine' }), 'config.headers.webhook-id'],
    [headers({ 'content-type': 'text/plain' }), 'config.headers.content-type'],
    [headers({ HOST: 'example.org' }), 'config.headers.HOST'],
    [headers({ 'X-Token': '********' }), 'config.headers.X-Token'],
    [config({ relay_source_id: '../admin' }), 'config.relay_source_id'],
    [config({ relay_source_id: '' }), 'config.relay_source_id'],
    [config({ note: 'x'.repeat(65_536) }), 'config'],
    [{ is_default: 'yes' }, 'is_default'],
    [{ signing_secret: 'whsec_mine' }, 'signing_secret'],
  ]
  for (const [wrong, path] of rows) {
    const { status, body } = await call('POST /alerts/channels', { ...valid, ...wrong })
    const title = JSON.stringify(wrong).slice(0, 100)
    t.match({ status, ...body }, { status: 400, error: { code: 'validation_error' } }, title)
    const paths = body.error.details?.map((detail: { path: string }) => detail.path)
    t.ok(paths?.includes(path), `${title}: ${path} is among ${paths}`)
  }
  t.same(await stored(), [])
})

t.test('POST /alerts/channels 201 returns the signing secret of a webhook in full; reads mask it', async t => {
  const config = {
    url: 'https://hooks.example.com/x?y=z',
    headers: { 'X-Plain': 'seen', Authorization: 'Bearer hush' },
    relay_source_id: 'src_1',
    note: { free: 'form' },
  }
  const created = await call('POST /alerts/channels', { ...valid, config, is_default: true })
  t.equal(created.status, 201)
  const { id, signing_secret, created_at, updated_at, ...rest } = created.body.data
  t.match(signing_secret, SECRET)
  t.equal(await readStoredSecret(id), signing_secret)
  t.same(rest, {
    name: 'Hook',
    type: 'webhook',
    email_addresses: null,
    config: { ...config, headers: { 'X-Plain': 'seen', Authorization: '********' } },
    is_default: true,
    is_paused: false,
    paused_at: null,
    paused_reason: null,
    consecutive_failures: 0,
  })
  t.equal(created_at, updated_at)
  const masked = { ...created.body.data, signing_secret: '********' }
  t.same((await call(`GET /alerts/channels/${id}`)).body.data, masked)
  t.same((await call('GET /alerts/channels')).body, {
    data: [masked],
    meta: { page: 1, per_page: 25, total: 1, total_pages: 1 },
  })
  t.notOk(JSON.stringify(await stored()).includes(Buffer.from('hush').toString('hex')), 'sealed at rest')
})

t.test('PUT /alerts/channels/{id} 200 changes the given fields and keeps masked secrets', async t => {
  const config = { url: 'https://a.example.com', headers: { 'X-Api-Key': 'hush' } }
  const { body } = await call('POST /alerts/channels', { ...valid, config })
  const { id, signing_secret } = body.data
  const renamed = await call(`PUT /alerts/channels/${id}`, { name: 'New', is_default: true })
  t.match(renamed, { status: 200, body: { data: { name: 'New', is_default: true, config: { url: config.url } } } })
  const moved = { url: 'https://b.example.com', headers: { 'x-api-key': '********' } }
  const changed = await call(`PUT /alerts/channels/${id}`, { type: 'webhook', config: moved })
  t.same(changed.body.data.config, moved)
  t.equal(changed.body.data.name, 'New')
  t.equal(await readStoredSecret(id), signing_secret)
  const wrong: [object, string][] = [
    [{ type: 'email' }, 'type'],
    [{ config: {} }, 'config.url'],
    [{ config: { url: 'http://10.0.0.1' } }, 'config.url'],
    [{ name: '' }, 'name'],
    [{ is_paused: false }, 'is_paused'],
  ]
  const before = await stored()
  for (const [update, path] of wrong) {
    t.match(await call(`PUT /alerts/channels/${id}`, update), { status: 400, body: { error: { details: [{ path }] } } })
  }
  t.same(await stored(), before)
})

t.test('POST /alerts/channels/{id}/rotate-secret 200 returns the new secret once', async t => {
  const { body } = await call('POST /alerts/channels', valid)
  const rotated = await call(`POST /alerts/channels/${body.data.id}/rotate-secret`)
  t.equal(rotated.status, 200)
  t.match(rotated.body.data.signing_secret, SECRET)
  t.not(rotated.body.data.signing_secret, body.data.signing_secret)
  t.equal(await readStoredSecret(body.data.id), rotated.body.data.signing_secret)
  t.equal((await call(`GET /alerts/channels/${body.data.id}`)).body.data.signing_secret, '********')
})

t.test(
  'POST /alerts/channels/{id}/resume 200 makes a paused channel active; before that a test is refused with 409',
  async t => {
    const { body } = await call('POST /alerts/channels', valid)
    const path = `/alerts/channels/${body.data.id}`
    await api.db.raw(
      `UPDATE alert_channels SET is_paused = true, paused_at = '2026-08-01T12:00:00Z', paused_reason = 'it failed',
       consecutive_failures = 50 WHERE id = ?`,
      [body.data.id],
    )
    const paused = {
      is_paused: true,
      paused_at: '2026-08-01T12:00:00.000Z',
      paused_reason: 'it failed',
      consecutive_failures: 50,
    }
    t.match((await call(`GET ${path}`)).body.data, paused)
    t.match(
      await call(`PUT ${path}`, { name: 'Renamed' }),
      { status: 200, body: { data: paused } },
      'a change does not resume the channel',
    )
    t.match(await call(`POST ${path}/test`), { status: 409, body: { error: { code: 'conflict' } } })
    const active = { is_paused: false, paused_at: null, paused_reason: null, consecutive_failures: 0 }
    t.match(await call(`POST ${path}/resume`), { status: 200, body: { data: active } })
    t.match(await call(`POST ${path}/resume`), { status: 200, body: { data: active } }, 'an active one stays active')
  },
)

t.test(
  'POST /alerts/channels/{id}/test 200 queues an event that is marked as a test and returns its log entry',
  async t => {
    const { body } = await call('POST /alerts/channels', valid)
    const { status, body: answer } = await call(`POST /alerts/channels/${body.data.id}/test`)
    t.equal(status, 200)
    t.match(answer.data, { delivery_id: /^whd_/, channel_id: body.data.id, event: 'monitor.down', status: 'pending' })
    t.same((await call(`GET /alerts/log/${answer.data.id}`)).body, answer)
    const [event] = await query<{ data: { monitor: object; check: object } }>(
      api.db,
      'SELECT data FROM events JOIN deliveries ON deliveries.event_id = events.id WHERE deliveries.id = ?',
      [answer.data.id],
    )
    t.match(event?.data.monitor, { name: 'Test of the channel Hook', status: 'down' })
    t.match(event?.data.check, { error: 'This is a test. Nothing is down.' })
  },
)

t.test('DELETE /alerts/channels/{id} 200 deletes a channel; later requests are 404', async t => {
  const { body } = await call('POST /alerts/channels', valid)
  const { id } = body.data
  t.same(await call(`DELETE /alerts/channels/${id}`).then(answer => answer.body), { data: { id, deleted: true } })
  t.equal((await call(`DELETE /alerts/channels/${id}`)).status, 404)
  t.equal((await call(`GET /alerts/channels/${id}`)).status, 404)
})

t.test(
  'Every route of a channel returns 404 for a malformed id, an unknown id and the id of another tenant',
  async t => {
    const other = await api.account()
    const theirs = await other.call('POST /alerts/channels', valid)
    const before = await other.call('GET /alerts/channels')
    for (const id of ['nonsense', UNKNOWN, theirs.body.data.id]) {
      const path = `/alerts/channels/${id}`
      const routes = [
        `GET ${path}`,
        `DELETE ${path}`,
        ...['rotate-secret', 'resume', 'test'].map(verb => `POST ${path}/${verb}`),
      ]
      for (const route of routes) {
        t.match(
          await call(route),
          { status: 404, body: { error: { code: 'not_found', message: 'channel not found' } } },
          route,
        )
      }
      t.equal((await call(`PUT ${path}`, { name: 'Mine' })).status, 404)
    }
    t.same((await other.call('GET /alerts/channels')).body, before.body)
  },
)
