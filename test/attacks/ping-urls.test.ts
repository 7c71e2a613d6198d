import t from 'tap'
import { shareApi } from '../support/api-server.ts'
import { HEARTBEAT } from '../support/heartbeats.ts'
import { readOperations } from '../support/operations.ts'

const api = await shareApi()
const account = await api.tenant()
const [readKey, writeKey] = await Promise.all([api.createKey(account, 'read'), api.createKey(account, 'write')])
const created = await api.call('POST', '/monitors', { key: writeKey, body: HEARTBEAT })
const { id, ping_url: url } = created.body.data
const [, token] = /\/ping\/([0-9A-Za-z]{24})$/.exec(url) ?? []

t.test('A read key cannot send pings, because it never sees their address', async t => {
  const one = await api.call('GET', `/monitors/${id}`, { key: readKey })
  t.match(one.body.data.ping_url, /\/ping\/\*{8}$/)
  const list = await api.call('GET', '/monitors', { key: readKey })
  t.match(list.body.data[0].ping_url, /\/ping\/\*{8}$/)
  t.equal((await fetch(`${one.body.data.ping_url.replace(/^https?:\/\/[^/]+/, api.origin)}/fail`)).status, 404)
})

t.test('No response to a read key contains a ping URL', async t => {
  const { operations } = await readOperations(api)
  const paths = operations.filter(({ method }) => method.toUpperCase() === 'GET').map(({ path }) => path)
  t.ok(paths.length > 30)
  for (const path of paths) {
    const asked = path.replace(/^\/api\/v1/, '').replace(/\{[^}]+\}/g, id)
    const { body } = await api.call('GET', asked, { key: readKey })
    t.notOk(JSON.stringify(body).includes(token!), path)
  }
})

t.test('A write key sees ping URLs', async t => {
  t.match(url, /\/ping\/[0-9A-Za-z]{24}$/, 'also in the answer that created the monitor')
  for (const path of [`/monitors/${id}`, '/monitors']) {
    const { data } = (await api.call('GET', path, { key: writeKey })).body
    t.equal([data].flat()[0].ping_url, url)
  }
  for (const path of ['pause', 'resume']) {
    t.equal((await api.call('POST', `/monitors/${id}/${path}`, { key: writeKey })).body.data.ping_url, url)
  }
  t.equal((await api.call('PUT', `/monitors/${id}`, { key: writeKey, body: { name: 'B' } })).body.data.ping_url, url)
})
