import t from 'tap'
import { MonitorCreate } from '../../control-plane/monitoring/monitors/settings/schema.ts'
import { MONITOR_TYPES } from '../../shared/checks/check.ts'
import { shareApi } from '../support/api-server.ts'
import { FIELD, MONITOR, SOURCE } from '../support/bodies.ts'

const api = await shareApi()
const { key } = await api.tenant('business')
const call = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { key, ...(body !== undefined && { body }) })

type Json = Record<string, unknown>

/** The properties of a read monitor that a create body may contain. */
const creatable = (monitor: Json): Json =>
  Object.fromEntries(Object.keys(MonitorCreate.properties).map(name => [name, monitor[name]]))

t.test(
  'A monitor can be created again from its read by POST /monitors, a bulk create and a file, including nulls',
  async t => {
    const { auth_type, auth_config, ...full } = MONITOR
    const given: Json[] = [...MONITOR_TYPES.map(type => ({ name: type, type })), full]
    for (const body of given) {
      const made = (await call('POST', '/monitors', body)).body.data
      const sent = creatable((await call('GET', `/monitors/${made.id}`)).body.data)
      const again = await call('POST', '/monitors', sent)
      t.equal(again.status, 201, JSON.stringify(again.body.error))
      t.same(creatable(again.body.data), sent)
      const bulk = await call('POST', '/monitors/bulk', { monitors: [sent] })
      t.same(bulk.body.errors, [])
      t.same(creatable(bulk.body.monitors[0]), sent)
      const file = { version: 1, monitors: [{ ...sent, name: `${sent.name} of a file` }] }
      t.equal((await call('POST', '/import', file)).status, 200)
    }
  },
)

t.test('Null in a create body means absent, and gets the default', async t => {
  const nothing = { auth_type: null, auth_config: null, heartbeat_interval: null, heartbeat_grace: null, tags: null }
  const { status, body } = await call('POST', '/monitors', { name: 'Shop', type: 'http', url: null, ...nothing })
  t.match({ status, body }, { status: 201, body: { data: { ...nothing, heartbeat_grace: 60 } } })
  const wrong = await call('POST', '/monitors', { name: null, type: 'http', interval_seconds: null })
  t.match(wrong.body.error.details, [{ path: 'interval_seconds' }, { path: 'name' }], 'where a read never says null')
})

t.test('Fields of a data source can be sent back as they were read, and stay unchanged', async t => {
  const { id } = (await call('POST', '/data-sources', { ...SOURCE, fields: [FIELD, { ...FIELD, path: 'other' }] })).body
    .data
  const list = async () => (await call('GET', `/data-sources/${id}/fields`)).body.data
  const before = await list()
  const sent = [
    before[1],
    { ...before[0], name_template: 'Cell {{key}}', child_monitors: [{ monitor_id: 'x', key: 'not mine' }] },
  ]
  t.equal((await call('PUT', `/data-sources/${id}`, { fields: sent })).status, 200)
  const after = await list()
  const getId = (field: Json) => field.id
  t.same(new Set(after.map(getId)), new Set(before.map(getId)))
  t.match(
    after.find((field: Json) => field.id === before[0].id),
    { name_template: 'Cell {{key}}', child_monitors: [], created_at: before[0].created_at },
  )
  for (const field of after) {
    const one = await call('PUT', `/data-sources/${id}/fields/${field.id}`, {
      ...field,
      created_at: '2000-01-01T00:00:00.000Z',
    })
    t.match(one, { status: 200, body: { data: { ...field, updated_at: /^2/ } } })
  }
  const copy = await call('POST', `/data-sources/${id}/fields`, after[0])
  t.equal(copy.status, 201)
  t.not(copy.body.data.id, after[0].id, 'a new field has an id of its own')
})
