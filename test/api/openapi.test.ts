import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { describeApi } from '../../tools/api-client/document.ts'
import { shareApi } from '../support/api-server.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape is walked
type Node = any

const api = await shareApi()
const { status, body: document } = await api.call('GET', `${api.origin}/openapi.json`, { key: null })
const operations: { name: string; operation: Node }[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as Node).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    operation,
  })),
)

const ajv = new Ajv2020({ strict: false, validateFormats: false })

/** The errors of a value against a schema of the document. */
function faultsIn(schema: Node, value: unknown): unknown[] {
  const isRight = ajv.validate({ ...schema, components: document.components }, value)
  return isRight ? [] : [value, ...(ajv.errors ?? [])]
}

/** Every schema in a tree, with the path to it. */
function walk(node: Node, path: string, visit: (node: Node, path: string) => void): void {
  if (typeof node !== 'object' || node === null) return
  visit(node, path)
  for (const [key, inner] of Object.entries(node)) walk(inner, `${path}/${key}`, visit)
}

t.test('/openapi.json is OpenAPI 3.1 and describes exactly the API', async t => {
  t.equal(status, 200)
  t.match(document, { openapi: '3.1.0', info: { title: 'Picket', version: '1.0.0' } })
  t.ok(document.servers[0].url.startsWith('http'))
  const names = operations.map(({ name }) => name)
  for (const name of ['POST /api/v1/agent/bootstrap', 'GET /api/v1/project', 'DELETE /api/v1/api-keys/{id}']) {
    t.ok(names.includes(name), name)
  }
  t.same(
    names.filter(name => !name.includes(' /api/v1/')),
    [],
  )
})

t.test('A public linter finds no problem', async t => {
  const source = JSON.stringify(await describeApi('https://picket.test'))
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source, config })
  t.same(
    problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`),
    [],
  )
})

t.test('Every tag is described, and every example matches its schema', async t => {
  const used = new Set(operations.flatMap(({ operation }) => operation.tags))
  t.same([...used].sort(), document.tags.map(({ name }: Node) => name).sort())
  const bodies = operations.flatMap(({ name, operation }) =>
    Object.values<Node>(operation.requestBody?.content ?? {}).flatMap(({ schema, example, examples = {} }) =>
      [example, ...Object.values<Node>(examples).map(({ value }) => value)]
        .filter(value => value !== undefined)
        .map(value => ({ name, schema, value })),
    ),
  )
  for (const { name, schema, value } of bodies) t.same(faultsIn(schema, value), [], name)
  t.ok(bodies.length >= 10, `${bodies.length} examples`)
})

t.test('Operations have unique names, and all components are used', async t => {
  const ids: string[] = operations.map(({ operation }) => operation.operationId)
  t.same(
    ids.filter((id, i) => !/^[a-z][A-Za-z]+$/.test(id) || ids.indexOf(id) !== i),
    [],
  )
  const text = JSON.stringify(document)
  const unused = Object.keys(document.components.schemas).filter(name => !text.includes(`/schemas/${name}"`))
  t.same(unused, [])
})

t.test('Every operation has a summary, a tag, its success, the error shape and its path parameters', async t => {
  for (const { name, operation } of operations) {
    t.ok(operation.summary, `${name} has a summary`)
    t.equal(operation.tags?.length, 1, `${name} has a tag`)
    const statuses = Object.keys(operation.responses)
    t.ok(
      statuses.some(status => /^[23]/.test(status)),
      `${name} has a success`,
    )
    t.equal(
      operation.responses.default.content['application/json'].schema.$ref,
      '#/components/schemas/Error',
      `${name} has the error shape`,
    )
    const declared = (operation.parameters ?? []).filter((one: Node) => one.in === 'path').map((one: Node) => one.name)
    const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
    t.same(declared.sort(), inPath.sort(), `${name} declares its path parameters`)
  }
})

t.test('Only bootstrap and the chat callback are open', async t => {
  t.same(document.security, [{ key: [] }])
  const open = operations.filter(({ operation }) => operation.security?.length === 0).map(({ name }) => name)
  t.same(open, ['POST /api/v1/agent/bootstrap', 'GET /api/v1/chat/oauth/callback'])
})

t.test('No body accepts unknown properties, except in free-form objects', async t => {
  for (const { name, operation } of operations) {
    walk(operation.requestBody, name, (node, path) => {
      if (node.type !== 'object' || !node.properties) return
      t.equal(node.additionalProperties, false, path)
    })
  }
})

t.test('All references resolve', async t => {
  walk(document, '', (node, path) => {
    if (typeof node.$ref !== 'string') return
    const target = node.$ref
      .slice(2)
      .split('/')
      .reduce((found: Node, key: string) => found?.[key], document)
    t.ok(target, `${path} → ${node.$ref}`)
  })
})

t.test('Responses match the document', async t => {
  const { tenant, call } = api
  const { key } = await tenant()
  const project = await call('GET', '/project', { key })
  const schema = document.components.schemas.Project
  t.same(Object.keys(project.body.data).sort(), Object.keys(schema.properties).sort())
  t.same(Object.keys(project.body.data.limits).sort(), Object.keys(schema.properties.limits.properties).sort())
})

t.test('/docs loads nothing from other origins', async t => {
  const page = await api.call('GET', `${api.origin}/docs/`, { key: null })
  t.equal(page.status, 200)
  t.match(page.body, '<title>Picket API</title>')
  t.match(page.headers.get('content-security-policy'), /default-src 'self'/)
  const links = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link)
  t.ok(links.length > 3)
  for (const link of links) {
    t.notMatch(link, /^(https?:)?\/\//)
    t.equal((await api.call('GET', new URL(link, `${api.origin}/docs/`).href, { key: null })).status, 200, link)
  }
})
