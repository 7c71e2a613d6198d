import t from 'tap'
import { parseBody } from '../../control-plane/foundation/web/validation/body.ts'
import { measureJson } from '../../control-plane/foundation/web/validation/json-size.ts'
import { startApi } from '../support/api-server.ts'
import { shortestMs } from '../support/shortest.ts'
import { answerBeforeBody } from '../support/unfinished-request.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }

t.test('A body of half a million values is refused before it is parsed', async t => {
  const shapes = {
    list: `[${'1,'.repeat(520_000)}1]`,
    lists: `[${'[],'.repeat(340_000)}[]]`,
    fields: `{${'"":1,'.repeat(200_000)}"":1}`,
    deep: '['.repeat(1_000_000),
  }
  for (const [name, text] of Object.entries(shapes)) {
    const body = Buffer.from(text)
    const message =
      name === 'deep' ? 'the body must be nested at most 32 levels deep' : 'the body must have at most 50000 values'
    t.throws(() => parseBody(body), { status: 400, code: 'validation_error', message })
    const reference = Buffer.from(shapes.list)
    const refusing = shortestMs(() => {
      try {
        parseBody(body)
      } catch {}
    })
    const parsing = shortestMs(() => JSON.parse(reference.toString()))
    t.ok(refusing < 2 * parsing, `${name}: ${refusing.toFixed(1)} ms, reading the JSON alone ${parsing.toFixed(1)} ms`)
  }
})

t.test('Values of a body are counted as in JSON', async t => {
  const rows: [text: string, values: number, depth: number][] = [
    ['1', 1, 0],
    ['[]', 1, 1],
    ['{ }', 1, 1],
    ['[1]', 2, 1],
    ['[[],{},[ ]]', 4, 2],
    ['{"a":[1,2,{"b":null}],"c":"x"}', 7, 3],
    ['"[[,,\\",{"', 1, 0],
    ['["a,\\\\",",","\\\\\\"[",[0]]', 6, 2],
    ['{"[,":{"\\"{":[]}}', 3, 3],
  ]
  for (const [text, values, depth] of rows) {
    JSON.parse(text)
    t.same(measureJson(Buffer.from(text), { values: 100, depth: 100 }), { values, depth }, text)
  }
})

t.test('A body with the maximum number of values is accepted, one more value is refused', async t => {
  const buildList = (items: number) => Buffer.from(JSON.stringify(Array.from({ length: items }, () => 1)))
  t.equal((parseBody(buildList(49_999)) as unknown[]).length, 49_999)
  t.throws(() => parseBody(buildList(50_000)), { message: 'the body must have at most 50000 values' })
})

t.test('Every open route refuses a body that is too long before it is sent', async t => {
  const { origin } = await startApi(t)
  const rows: [path: string, type: Record<string, string>, limit: string][] = [
    ['/api/v1/agent/bootstrap', JSON_TYPE, '4 KiB'],
    ['/sign-in', FORM_TYPE, '16 KiB'],
    ['/forgot-password', FORM_TYPE, '16 KiB'],
    ['/claim/a-token', FORM_TYPE, '16 KiB'],
    ['/reset/a-token', FORM_TYPE, '16 KiB'],
    ['/status/a-page/subscribe', FORM_TYPE, '64 KiB'],
    ['/status/a-page/subscription', FORM_TYPE, '64 KiB'],
    ['/chat/commands', FORM_TYPE, '512 KiB'],
    ['/canary/receive/a-key', JSON_TYPE, '64 KiB'],
  ]
  for (const [path, type, limit] of rows) {
    const answer = await answerBeforeBody(`${origin}${path}`, type, 1_000_000)
    t.equal(answer.status, 413, path)
    t.match(answer.text, `the body must not be larger than ${limit}`, path)
  }
})

t.test('A network with too many bootstrap requests is refused before its bodies are read', async t => {
  const { origin, db } = await startApi(t)
  const url = `${origin}/api/v1/agent/bootstrap`
  const send = () => fetch(url, { method: 'POST', headers: JSON_TYPE, body: '[]' }).then(answer => answer.status)
  const flood = async () => {
    for (let n = 0; n < 61; n++) t.ok([400, 429].includes(await send()))
    return answerBeforeBody(url, JSON_TYPE)
  }
  let early = await flood()
  // a new minute may have begun meanwhile
  for (let n = 0; early.status !== 429 && n < 5; n++) early = await flood()
  t.equal(early.status, 429)
  const { error } = JSON.parse(early.text)
  t.match(error, { code: 'rate_limited', message: 'more than 60 requests for an account a minute from one network' })
  t.ok(Number(early.headers['retry-after']) >= 1)
  t.ok((await db('bootstrap_attempts')).length <= 20, 'nothing is stored of what was refused')
  t.equal((await fetch(`${origin}/healthz`)).status, 200)
})
