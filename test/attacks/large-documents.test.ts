import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import type { Examination } from '../../control-plane/integrations/data-sources/evaluation/examine.ts'
import { evaluateRawDocument } from '../../control-plane/integrations/data-sources/evaluation/examine-reader.ts'
import type { FieldDefinition } from '../../control-plane/integrations/data-sources/types.ts'
import { parseYamlBody } from '../../control-plane/integrations/import-export/file/yaml-reader.ts'
import type { FeedDocument } from '../../control-plane/integrations/vendors/feed-reading/parsed-feed.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { shareApi } from '../support/api-server.ts'
import { FIELD } from '../support/bodies.ts'
import { startTarget } from '../support/target.ts'
import { countTurns } from '../support/turns-during.ts'

const MIB = 1024 * 1024
const HEADERS = { 'content-type': 'application/json' }
const ROOT = join(import.meta.dirname, '../..')
/** The part of a document that is used, next to its padding. */
const SERVICES = '"services":{"api":{"status":"ok"}}'

/** Documents of almost 5 MiB that take long to read. */
const DOCUMENTS: Record<string, string> = {
  lists: `{${SERVICES},"x":[${'[],'.repeat(1_600_000)}[]]}`,
  objects: `{${SERVICES},"x":[${'{"a":1},'.repeat(600_000)}0]}`,
  numbers: `{${SERVICES},"x":[${'1,'.repeat(2_500_000)}1]}`,
}
const definition: FieldDefinition = {
  id: '0',
  path: FIELD.path,
  nameTemplate: FIELD.name_template,
  ruleType: FIELD.rule_type,
  ruleConfig: FIELD.rule_config,
  degradedRuleConfig: null,
}
const source = {
  projectId: 'one',
  url: 'https://status.example.com/',
  rootPath: null,
  fields: [definition],
  timeoutMs: 1_000,
}

t.test('Reading a document of 5 MiB does not block other work', async t => {
  const egress = createEgress({ allow: [] })
  for (const [name, text] of Object.entries(DOCUMENTS)) {
    t.ok(text.length < 5 * MIB)
    const body = Buffer.from(text)
    const { answer, turns } = await countTurns(() =>
      evaluateRawDocument(egress, source, { body, headers: HEADERS }, 'preview'),
    )
    t.match(answer, { evaluation: { children: [{ key: 'api', outcome: 'up' }], keys: 1 } }, name)
    t.ok(turns > 10, `${name}: the event loop went round ${turns} times`)
  }
})

t.test('Reading a short document that is costly for its fields does not block other work', async t => {
  const egress = createEgress({ allow: [] })
  const buildFields = (given: Partial<FieldDefinition>): FieldDefinition[] =>
    Array.from({ length: 50 }, (_, i) => ({ ...definition, ...given, id: String(i) }))
  const ones = Array.from({ length: 8_000 }, (_, i) => `"${i.toString(36)}":1`)
  const wide = `{${ones.join(',')}}`
  const inRule = { ruleType: 'in', ruleConfig: { values: Array(1_000).fill({}) } } as const
  const cases: [name: string, text: string, fields: FieldDefinition[]][] = [
    ['many keys', `{"${'\\ud800'.repeat(190)}":${wide}}`, buildFields({ path: '*.*', ruleType: 'http_ok' })],
    ['many values in a rule', wide, buildFields({ path: '$', ...inRule })],
  ]
  for (const [name, text, fields] of cases) {
    const { answer, turns } = await countTurns(() =>
      evaluateRawDocument(egress, { ...source, fields }, { body: Buffer.from(text), headers: HEADERS }, 'preview'),
    )
    t.match(answer, { evaluation: {} }, name)
    t.ok(turns > 10, `${name}: the event loop went round ${turns} times`)
  }
})

t.test('Data sources with long documents that are due together are all read, also while previews wait', async t => {
  const egress = createEgress({ allow: [] })
  const body = Buffer.from(`{${SERVICES},"x":"${'x'.repeat(100_000)}"}`)
  const examineMany = (amount: number, projectId: string, caller: 'preview' | 'source') =>
    Promise.all(
      Array.from({ length: amount }, () =>
        evaluateRawDocument(egress, { ...source, projectId }, { body, headers: HEADERS }, caller),
      ),
    )
  const [previews, preview, sources] = await Promise.all([
    examineMany(30, 'one', 'preview'),
    examineMany(1, 'other', 'preview'),
    examineMany(96, 'one', 'source'),
  ])
  const failed = (examined: Awaited<typeof sources>) => examined.filter(one => 'failure' in one)
  t.equal(failed(previews).length, 19, 'one is read, and ten wait')
  t.same(failed(preview), [], 'those of another project do not')
  t.same(failed(sources), [])
})

t.test('POST /data-sources/preview 200 for a document of 5 MiB, and for three at the same time', async t => {
  const api = await shareApi()
  const target = await startTarget(t)
  for (const [name, body] of Object.entries(DOCUMENTS)) {
    target.behave({ kind: 'answer', headers: HEADERS, body })
    const tenants = await Promise.all(Array.from({ length: 3 }, () => api.tenant()))
    const answers = await Promise.all(
      tenants.map(({ key }) =>
        api.call('POST', '/data-sources/preview', { key, body: { url: target.url, fields: [FIELD] } }),
      ),
    )
    for (const answer of answers) {
      t.match(
        answer,
        { status: 200, body: { data: { failure: null, children: [{ key: 'api', status: 'up' }] } } },
        name,
      )
    }
  }
})

t.test('Reading a YAML file of 1 MiB does not block other work, and its errors are those of a short file', async t => {
  const long = Buffer.from(`text: ${'x'.repeat(700_000)}\nlist:\n${'- 1\n'.repeat(40_000)}`)
  const { answer, turns } = await countTurns(() => parseYamlBody('one', long))
  t.equal((answer as { list: number[] }).list.length, 40_000)
  t.ok(turns > 10, `the event loop went round ${turns} times`)
  const filler = `filler: ${'x'.repeat(100_000)}\n`
  const rows: [text: string, message: RegExp][] = [
    ['- 1\n'.repeat(100_000), /^the body must have at most 50000 values$/],
    [`${filler}a: [`, /^the body is not valid YAML in line \d+: /],
    [
      `${filler}a: &a ["${'x'.repeat(50_000)}"]\nb: [${'*a, '.repeat(900)}]`,
      /^the aliases of the body must repeat at most/,
    ],
    [`${filler}a: "\\0"`, /^a contains invalid characters$/],
  ]
  for (const [text, message] of rows) {
    await t.rejects(parseYamlBody('one', Buffer.from(text)), { status: 400, code: 'validation_error', message })
  }
})

t.test('Many long YAML files of one project do not delay the import of another', async t => {
  // as short as files that are parsed in the thread may be
  const long = Buffer.from(`text: ${'x'.repeat(9_000)}`)
  const many = Promise.allSettled(Array.from({ length: 30 }, () => parseYamlBody('one', long)))
  t.match(await parseYamlBody('other', long), { text: /^x+$/ })
  const refused = (await many).flatMap(one => (one.status === 'rejected' ? [one.reason] : []))
  t.equal(refused.length, 24, 'one is read, and five wait')
  t.match(refused[0], {
    status: 429,
    code: 'rate_limited',
    message: /^5 long files of this project are already waiting/,
  })
  t.ok(refused[0].extra.retryAfterSeconds >= 1)
})

t.test('The thread that examines documents is built into dist', async t => {
  const worker = new Worker(join(ROOT, 'dist/examine-worker.js'))
  t.teardown(() => worker.terminate())
  t.same(await once(worker, 'message'), ['ready'])
  const answer = { body: Buffer.from(DOCUMENTS.lists!), headers: HEADERS }
  const question: Examination = { ...source, answer, now: new Date(0), answers: null, known: null, isShown: false }
  worker.postMessage({ id: 1, question })
  t.match(await once(worker, 'message'), [{ id: 1, answer: { evaluation: { keys: 1 } } }])
})

t.test('The thread that parses feeds of vendors is built into dist', async t => {
  const worker = new Worker(join(ROOT, 'dist/feed-worker.js'))
  t.teardown(() => worker.terminate())
  t.same(await once(worker, 'message'), ['ready'])
  const text = `<rss version="2.0"><channel><title>t</title>${'<a b="1"/>'.repeat(100_000)}</channel></rss>`
  const feed = { url: 'https://status.example.com/feed', type: 'rss', mapping: {} } as const
  const question: FeedDocument = { feed, body: Buffer.from(text), headers: null, now: new Date(0) }
  worker.postMessage({ id: 1, question })
  t.match(await once(worker, 'message'), [{ id: 1, answer: { report: { incidents: [] } } }])
})
