import t from 'tap'
import { extractNamedSchemas } from '../../../../control-plane/foundation/web/openapi/named-schemas.ts'

const monitor = { type: 'object', title: 'Monitor', properties: { title: { type: 'string' } } }
const buildDocument = (...schemas: object[]) => ({
  info: { title: 'Picket' },
  components: { schemas: { Error: { type: 'object' } } },
  paths: Object.fromEntries(schemas.map((schema, i) => [`/${i}`, { get: { schema } }])),
})

t.test('A schema with a title is described once, under its name', async t => {
  const list = { type: 'array', items: monitor }
  const { title: _, ...untitled } = monitor
  const reference = { $ref: '#/components/schemas/Monitor' }
  t.same(extractNamedSchemas(buildDocument(monitor, list)), {
    info: { title: 'Picket' },
    components: { schemas: { Error: { type: 'object' }, Monitor: untitled } },
    paths: { '/0': { get: { schema: reference } }, '/1': { get: { schema: { type: 'array', items: reference } } } },
  })
})

t.test('Two different schemas with one title are refused', async t => {
  t.throws(() => extractNamedSchemas(buildDocument(monitor, { ...monitor, properties: {} })), {
    message: /two different schemas.*Monitor/,
  })
})
