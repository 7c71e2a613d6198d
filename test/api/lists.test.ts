import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { FIELD, SOURCE } from '../support/bodies.ts'
import { readOperations } from '../support/operations.ts'
import { makeOperator } from '../support/operator.ts'
import { buildAddress, createRecords } from '../support/records.ts'

const api = await startApi(t, { RATE_LIMIT_PER_MINUTE: '100000' })
const { operations } = await readOperations(api)
const lists = operations.filter(({ method, query }) => method === 'GET' && query.some(({ name }) => name === 'page'))

t.test('The meta of every list describes the first page, also of an empty list', async t => {
  const mine = await makeOperator(api.db, await api.tenant('business'))
  const records = await createRecords(api, mine)
  const empty = await api.tenant()
  t.ok(lists.length > 15)
  let empties = 0
  for (const list of lists) {
    const keys = list.path.includes('{') ? [mine.key] : [mine.key, empty.key]
    for (const key of keys) {
      const { status, body } = await api.call('GET', buildAddress(list, records), { key })
      // lists of the operator, and of a team that removed the app
      if (status === 403 || status === 409) continue
      const { page, per_page, total, total_pages } = body.meta
      t.same([page, per_page, total_pages], [1, 25, Math.ceil(total / 25)], list.name)
      t.equal(body.data.length, Math.min(total, 25), list.name)
      if (total === 0) empties++
    }
  }
  t.ok(empties > 5, `${empties} empty lists`)
})

t.test('A list that returns everything is one page of any length', async t => {
  const { key } = await api.tenant('business')
  const call = (method: string, path: string, body?: object) => api.call(method, path, { key, ...(body && { body }) })
  const fields = Array.from({ length: 30 }, (_, i) => ({ ...FIELD, path: `cell${i}` }))
  const { id } = (await call('POST', '/data-sources', { ...SOURCE, fields })).body.data
  const all = (await call('GET', `/data-sources/${id}/fields`)).body
  t.equal(all.data.length, 30)
  t.same(all.meta, { page: 1, per_page: 30, total: 30, total_pages: 1 })
  const { meta } = (await call('GET', `/data-sources/${id}/fields?page=2`)).body
  t.same(meta, { page: 2, per_page: 25, total: 30, total_pages: 2 })
})
