import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runCli } from '../../support/cli.ts'

const SECRET = 'Zq7RwUyN3mKc'
const KEY = `svc_${SECRET}`
const folder = mkdtempSync(join(tmpdir(), 'picket-cli-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

const file = (name: string, text: string | Buffer) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const empty = file('empty.yaml', 'version: 1\n')

/** Serves the answers in turn, and the last one again. */
async function serve(t: Test, ...answers: ((response: ServerResponse, body: string) => void)[]) {
  const requests: { url: string; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    requests.push({ url: request.url ?? '', body })
    answers[Math.min(requests.length, answers.length) - 1]!(response, body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const env = { PICKET_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, PICKET_API_KEY: KEY }
  return { env, requests }
}

const answer =
  (status: number, body: unknown, type = 'application/json') =>
  (response: ServerResponse) =>
    response.writeHead(status, { 'content-type': type }).end(typeof body === 'string' ? body : JSON.stringify(body))

t.test('A key or an address that cannot be used is refused without its value', async t => {
  const rows: [Record<string, string>, RegExp][] = [
    [{ PICKET_API_KEY: `svc_${SECRET}\nX: y` }, /^PICKET_API_KEY is not an API key \(svc_…\)\.$/m],
    [{ PICKET_API_KEY: `“svc_${SECRET}”` }, /^PICKET_API_KEY is not an API key \(svc_…\)\.$/m],
    [{ PICKET_API_KEY: '  ' }, /^Set PICKET_API_KEY/],
    [{ PICKET_URL: `https://ann:${SECRET}@picket.example` }, /^PICKET_URL must not contain a user name, a password/],
    [{ PICKET_URL: `https://picket.example/?key=${SECRET}` }, /^PICKET_URL must not contain/],
    [{ PICKET_URL: `https://picket.example/#${SECRET}` }, /^PICKET_URL must not contain/],
    [{ PICKET_URL: `ann:${SECRET}@picket.example` }, /^PICKET_URL is not a URL such as/],
  ]
  for (const [env, message] of rows) {
    const { code, out, err } = await runCli(['plan', empty], { PICKET_API_KEY: KEY, ...env })
    t.same([code, out], [1, ''])
    t.match(err, message)
    t.notOk(err.includes(SECRET), 'the value is not printed')
  }
})

t.test('Spaces and line breaks around a key and an address are ignored', async t => {
  const { env } = await serve(t, answer(200, 'version: 1\n', 'application/yaml'))
  t.match(await runCli(['export'], { PICKET_URL: ` ${env.PICKET_URL}\n`, PICKET_API_KEY: `${KEY}\r\n` }), {
    code: 0,
    out: 'version: 1\n',
  })
})

t.test('The message of an error answer is printed, and an answer of another program is named', async t => {
  const error = (code: string, message: string) => ({ error: { code, message } })
  const rows: [(response: ServerResponse) => void, RegExp][] = [
    [answer(401, error('unauthorized', 'the API key is not valid')), /^PICKET_API_KEY is not a valid API key of this/],
    [answer(401, error('api_key_suspended', 'this key is suspended')), /^Refused \(401\): this key is suspended\.$/m],
    [answer(404, { error: 'not found' }), / answered 404, but not as a Picket server\. Check PICKET_URL\.$/m],
    [answer(404, { error: { code: 5 } }), / answered 404, but not as a Picket server/],
    [answer(502, '<h1>Bad Gateway</h1>', 'text/html'), / answered 502, but not as a Picket server/],
    [answer(200, '{', 'application/json'), / answered 200, but not as a Picket server/],
    [answer(200, { data: [] }), / answered 200, but not as a Picket server/],
    [
      response => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"data":')
        setImmediate(() => response.destroy())
      },
      /^The connection to http:\S+ failed before the end of the answer \(.+\)\. Run picket plan/,
    ],
  ]
  for (const [respond, message] of rows) {
    const { env } = await serve(t, respond)
    const { code, err } = await runCli(['plan', empty], env)
    t.match(err, message)
    t.notMatch(err, /undefined|\n +at /)
    t.equal(code, 1)
  }
})
