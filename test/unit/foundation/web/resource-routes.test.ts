import type { FastifySchema } from 'fastify'
import t from 'tap'
import { Type } from 'typebox'
import {
  createRoute,
  deleteRoute,
  fullListRoute,
  listRoute,
  readRoute,
  updateRoute,
} from '../../../../control-plane/foundation/web/resource-routes.ts'
import { createServer } from '../../../../control-plane/foundation/web/server/app.ts'
import { found } from '../../../../control-plane/foundation/web/server/errors.ts'
import { slicePage } from '../../../../control-plane/foundation/web/validation/pagination.ts'
import { pageProperties, strictObject } from '../../../../control-plane/foundation/web/validation/schemas.ts'
import { createLog } from '../../../../shared/process/log.ts'

const tags = ['Boxes']
const NAMES = ['red', 'green', 'blue']
const Box = Type.Object({ name: Type.String() })
const toBox = (name: string) => ({ name })

function createBoxes() {
  const app = createServer(createLog('test', 'silent'))
  const removed: string[] = []
  const declared = new Map<string, { schema?: FastifySchema; config?: object }>()
  app.addHook('onRoute', ({ method, url, schema, config }) => {
    declared.set(`${method} ${url}`, { ...(schema && { schema }), ...(config && { config }) })
  })
  const querystring = strictObject({ ...pageProperties, letter: Type.Optional(Type.String()) })
  listRoute(app, '/boxes', {
    summary: 'List boxes',
    description: 'In order.',
    tags,
    querystring,
    record: Box,
    list: async ({ query: { letter = '' } }, bounds) => {
      const { data, total } = slicePage(
        NAMES.filter(name => name.includes(letter)),
        bounds,
      )
      return { data: data.map(toBox), total }
    },
  })
  fullListRoute(app, '/shelves/:id/boxes', {
    summary: 'List the boxes of a shelf',
    tags,
    record: Box,
    list: async ({ params: { id } }, bounds) =>
      slicePage(
        NAMES.map(name => toBox(`${id} ${name}`)),
        bounds,
      ),
  })
  readRoute(app, '/shelves/:id/boxes/:name', {
    summary: 'Get a box',
    tags,
    record: Box,
    read: async ({ params: { id, name } }) => toBox(`${id} ${found(NAMES.includes(name) && name, 'box')}`),
  })
  createRoute(app, '/shelves/:id/boxes', {
    summary: 'Create a box',
    tags,
    body: Box,
    record: Box,
    create: async ({ params: { id }, body }) => toBox(`${id} ${body.name}`),
  })
  updateRoute(app, '/shelves/:id/boxes/:name', {
    summary: 'Update a box',
    tags,
    body: Box,
    record: Box,
    update: async ({ params: { id, name }, body }) =>
      toBox(`${id} ${found(NAMES.includes(name) && name, 'box')} ${body.name}`),
  })
  deleteRoute(app, '/shelves/:id/boxes/:name', {
    config: { scope: 'admin' },
    summary: 'Delete a box',
    tags,
    errors: [404, 409],
    remove: async ({ params: { id, name } }) => removed.push(`${id} ${found(NAMES.includes(name) && name, 'box')}`),
  })
  const ask = async (url: string, method: 'GET' | 'POST' | 'PUT' | 'DELETE' = 'GET', payload?: object) => {
    const response = await app.inject({ method, url, ...(payload && { payload }) })
    return [response.statusCode, response.json()] as const
  }
  return { app, ask, declared, removed }
}

t.test('found returns the record, and throws 404 with the noun if there is none', async t => {
  for (const record of ['', 0, true, {}]) t.equal(found(record, 'monitor'), record)
  for (const record of [null, undefined, false] as const)
    t.throws(() => found(record, 'monitor'), { status: 404, code: 'not_found', message: 'monitor not found' })
})

t.test('A list has 25 records on a page, unless the query says otherwise', async t => {
  const { ask } = createBoxes()
  t.same(await ask('/boxes'), [
    200,
    { data: NAMES.map(toBox), meta: { page: 1, per_page: 25, total: 3, total_pages: 1 } },
  ])
  t.same(await ask('/boxes?page=2&per_page=2'), [
    200,
    { data: [{ name: 'blue' }], meta: { page: 2, per_page: 2, total: 3, total_pages: 2 } },
  ])
  t.same((await ask('/boxes?letter=l'))[1].data, [{ name: 'blue' }])
})

t.test('A full list returns all records, and one page if page or per_page is given', async t => {
  const { ask } = createBoxes()
  const all = NAMES.map(name => toBox(`top ${name}`))
  t.same(await ask('/shelves/top/boxes'), [
    200,
    { data: all, meta: { page: 1, per_page: 25, total: 3, total_pages: 1 } },
  ])
  t.same(await ask('/shelves/top/boxes?per_page=2'), [
    200,
    { data: all.slice(0, 2), meta: { page: 1, per_page: 2, total: 3, total_pages: 2 } },
  ])
  t.same(await ask('/shelves/top/boxes?page=2'), [
    200,
    { data: [], meta: { page: 2, per_page: 25, total: 3, total_pages: 1 } },
  ])
})

t.test('A record is read and deleted by the last parameter of its path, or is 404', async t => {
  const { ask, removed } = createBoxes()
  t.same(await ask('/shelves/top/boxes/red'), [200, { data: { name: 'top red' } }])
  t.equal((await ask('/shelves/top/boxes/white'))[0], 404)
  t.same(await ask('/shelves/top/boxes/red', 'DELETE'), [200, { data: { id: 'red', deleted: true } }])
  t.equal((await ask('/shelves/top/boxes/white', 'DELETE'))[0], 404)
  t.same(removed, ['top red'])
})

t.test('A record is created with 201, and updated with 200 or is 404', async t => {
  const { ask } = createBoxes()
  t.same(await ask('/shelves/top/boxes', 'POST', { name: 'white' }), [201, { data: { name: 'top white' } }])
  t.equal((await ask('/shelves/top/boxes', 'POST', {}))[0], 400)
  t.same(await ask('/shelves/top/boxes/red', 'PUT', { name: 'pink' }), [200, { data: { name: 'top red pink' } }])
  t.equal((await ask('/shelves/top/boxes/red', 'PUT', {}))[0], 400)
  t.equal((await ask('/shelves/top/boxes/white', 'PUT', { name: 'pink' }))[0], 404)
})

t.test('A route declares its texts, its parameters, its scope and its errors', async t => {
  const { declared } = createBoxes()
  const params = { type: 'object', required: ['id', 'name'] }
  t.match(declared.get('GET /boxes')?.schema, {
    summary: 'List boxes',
    description: 'In order.',
    tags,
    params: undefined,
  })
  t.same(listStatuses(declared.get('GET /boxes')), ['200', '400'])
  t.same(listStatuses(declared.get('GET /shelves/:id/boxes')), ['200', '400', '404'])
  t.match(declared.get('GET /shelves/:id/boxes/:name')?.schema, { summary: 'Get a box', tags, params })
  t.same(listStatuses(declared.get('GET /shelves/:id/boxes/:name')), ['200', '404'])
  t.match(declared.get('POST /shelves/:id/boxes')?.schema, { body: Box, params: { required: ['id'] } })
  t.same(listStatuses(declared.get('POST /shelves/:id/boxes')), ['201', '400'])
  t.match(declared.get('PUT /shelves/:id/boxes/:name')?.schema, { body: Box, params })
  t.same(listStatuses(declared.get('PUT /shelves/:id/boxes/:name')), ['200', '400', '404'])
  t.match(declared.get('DELETE /shelves/:id/boxes/:name'), { config: { scope: 'admin' }, schema: { params } })
  t.same(listStatuses(declared.get('DELETE /shelves/:id/boxes/:name')), ['200', '404', '409'])
})

const listStatuses = (route: { schema?: { response?: unknown } } | undefined) =>
  Object.keys(route?.schema?.response ?? {})
