import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { filesBelow, ROOT } from '../../rules/source.ts'
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

/** An answer of `POST /import` that creates the monitors. */
const creates = (...names: string[]) =>
  answer(200, {
    data: {
      ...{ create: names.length, update: 0, delete: 0, unchanged: 0, extra: 0, warnings: [] },
      changes: names.map(key => ({ action: 'create', resource: 'monitor', key, fields: {} })),
    },
  })
const isWrite = ({ url }: { url: string }) => url.includes('dry_run=false')

t.test('apply changes nothing when the input ends at the question', async t => {
  const { env, requests } = await serve(t, creates('Shop'))
  for (const input of ['', 'no\n', 'y']) {
    const run = await runCli(['apply', empty], env, { input, isTerminal: true })
    t.match(run, { code: 1, out: /Enter "yes" to confirm: \s*Nothing was changed\.\n$/, err: '' }, `"${input}"`)
  }
  t.notOk(requests.some(isWrite))
})

t.test('apply refuses a confirmed plan when the project has changed since', async t => {
  const changed = await serve(t, creates('Shop'), creates('Shop', 'Blog'))
  t.match(await runCli(['apply', empty], changed.env, { input: 'yes\n', isTerminal: true }), {
    code: 1,
    err: 'The project has changed since the plan; run apply again. Nothing was changed.\n',
  })
  t.notOk(changed.requests.some(isWrite))

  const same = await serve(t, creates('Shop'))
  t.match(await runCli(['apply', empty], same.env, { input: 'yes\n', isTerminal: true }), {
    code: 0,
    out: /Done: 1 created/,
  })
  t.same(same.requests.map(isWrite), [false, false, true])
})

t.test('apply --yes prints the changes that were made when they differ from the plan', async t => {
  const changed = await serve(t, creates('Shop'), creates('Shop', 'Blog'))
  t.match(await runCli(['apply', empty, '--yes'], changed.env), {
    code: 0,
    out: /^1 to create[\s\S]*Changes made:\n\+ monitor Shop\n\+ monitor Blog\nDone: 2 created/m,
  })
  const same = await serve(t, creates('Shop'))
  t.equal(
    (await runCli(['apply', empty, '--yes'], same.env)).out.match(/monitor Shop/g)?.length,
    1,
    'equal changes are printed once',
  )
})

t.test('apply says that the result is not known when no answer of Picket comes to its change', async t => {
  const unknown = /\. It is not known whether the changes were made; run picket plan\.\n$/
  for (const lose of [
    (response: ServerResponse) => response.destroy(),
    (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"data":')
      setImmediate(() => response.destroy())
    },
    answer(504, '<h1>Gateway Timeout</h1>', 'text/html'),
    answer(200, { data: [] }),
  ]) {
    const { env, requests } = await serve(t, creates('Shop'), lose)
    t.match(await runCli(['apply', empty, '--yes'], env), { code: 1, err: unknown })
    t.same(requests.map(isWrite), [false, true])
    const planned = await serve(t, lose)
    t.notMatch((await runCli(['plan', empty], planned.env)).err, unknown, 'a plan changes nothing')
  }
  const refused = await serve(t, creates('Shop'), answer(402, { error: { code: 'plan_limit', message: 'too many' } }))
  t.match(await runCli(['apply', empty, '--yes'], refused.env), { code: 1, err: 'Refused (402): too many.\n' })
})

t.test('apply refuses a file with variables unless --env or --no-env is given', async t => {
  const { env, requests } = await serve(t, creates('Shop'))
  const path = file('variables.yaml', `a: "\${TOKEN} $\${TOKEN} $\${OTHER}"\n`)
  t.match(await runCli(['apply', path, '--yes'], env), {
    code: 1,
    out: '',
    err: /^The file contains \$\{TOKEN\}, \$\{OTHER\}\. Use --env to .*, or --no-env to keep it as text\.$/m,
  })
  t.same(requests, [])
  t.match(await runCli(['apply', path, '--env', '--no-env'], env), { code: 1, err: /cannot be combined/ })
  t.match(await runCli(['plan', path], env), { code: 2, err: /^Warning: .* is only replaced with --env\.$/m })
  t.match(await runCli(['plan', path, '--no-env'], env), { code: 2, err: '' })
  t.match(await runCli(['apply', path, '--no-env', '--yes'], env), { code: 0 })
  t.equal(requests.at(-1)!.body, `a: "\${TOKEN} $\${TOKEN} $\${OTHER}"\n`)
  t.match(await runCli(['apply', path, '--env', '--yes'], { ...env, TOKEN: 'abcd' }), { code: 0 })
  t.same(JSON.parse(requests.at(-1)!.body), { a: `abcd \${TOKEN} \${OTHER}` }, 'an escaped variable is a text')
})

t.test('The advice for a large file with --prune or of another product does not lose anything', async t => {
  const path = file('large.yaml', `#${'x'.repeat(2 << 20)}`)
  const env = { PICKET_API_KEY: KEY }
  t.match(await runCli(['plan', path], env), {
    err: /larger than 1 MiB\. Split it and apply the parts without --prune, or upload it on \/settings\/import\.$/m,
  })
  const upload = { err: /1 MiB\. Upload it on \/settings\/import\.$/m }
  t.match(await runCli(['plan', path, '--prune'], env), upload)
  t.match(await runCli(['plan', path, '--from', 'uptime-kuma'], env), upload, 'a part would lose its groups')
})

t.test('plan and apply print the names of variables in place of the values that --env inserts', async t => {
  const long = `${SECRET.repeat(30)}`
  const env = {
    TOKEN: SECRET,
    PAIR: `${SECRET}"\n${SECRET}`,
    LONG: long,
    SPACED: 'top secret',
    SHORT: 'ops',
    KIND: 'monitor',
    PART: 'fields',
  }
  const path = file('secrets.yaml', `a: "\${TOKEN} \${PAIR} \${LONG} \${SPACED} \${SHORT} \${KIND} \${PART}"\n`)
  const to = [
    `https://x/?t=${SECRET}`,
    env.PAIR,
    { [SECRET]: JSON.stringify(env.PAIR) },
    'https://x/top%20secret',
    'ops',
  ]
  const data = {
    ...{ create: 1, update: 0, delete: 0, unchanged: 0, extra: 0 },
    changes: [
      {
        ...{ action: 'create', resource: 'monitor', key: `Shop ${SECRET}` },
        fields: { body: { from: null, to }, note: { from: null, to: long } },
      },
    ],
    warnings: [{ path: SECRET, message: `odd ${SECRET}` }],
  }
  const { env: server } = await serve(t, answer(200, { data }))
  for (const args of [
    ['plan', path, '--env'],
    ['apply', path, '--env', '--yes'],
  ]) {
    const { out, err } = await runCli(args, { ...server, ...env })
    t.match(out, `+ monitor Shop \${TOKEN}`, 'the words of Picket stay')
    t.match(out, `note: \${LONG}\n`)
    t.match(out, `["https://x/?t=\${TOKEN}","\${PAIR}",{"\${TOKEN}":"\\"\${PAIR}\\""},"https://x/\${SPACED}","ops"]`)
    t.match(out, `! \${TOKEN}: odd \${TOKEN}`)
    t.notOk(`${out}${err}`.includes(SECRET))
  }
  const refusing = await serve(t, answer(400, { error: { code: 'validation_error', message: `url is ${SECRET}` } }))
  t.match(await runCli(['plan', path, '--env'], { ...refusing.env, ...env }), {
    err: `Refused (400): url is \${TOKEN}.\n`,
  })
})

t.test('export --output replaces a file only when the export succeeds', async t => {
  const own = mkdtempSync(join(folder, 'export-'))
  const [path, link] = [join(own, 'project.yaml'), join(own, 'link.yaml')]
  writeFileSync(path, 'old')
  symlinkSync(path, link)
  const { env } = await serve(
    t,
    answer(200, 'name: é\n', 'application/yaml'),
    answer(502, ''),
    answer(200, 'new', 'application/yaml'),
  )
  t.match(await runCli(['export', '--output', path], env), { code: 0, out: '', err: '' })
  t.equal(readFileSync(path, 'utf8'), 'name: é\n')
  t.match(await runCli(['export', '--output', path], env), { code: 1, err: /answered 502/ })
  t.equal(readFileSync(path, 'utf8'), 'name: é\n', 'a failed export keeps the old file')
  t.match(await runCli(['export', '--output', link], env), { code: 0 })
  t.equal(readFileSync(path, 'utf8'), 'new', 'the file of a link is replaced')
  t.match(await runCli(['export', '--output', join(own, 'none/x.yaml')], env), {
    code: 1,
    err: /cannot be written: ENOENT/,
  })
  t.match(await runCli(['export', '--output', own], env), {
    code: 1,
    err: /cannot be written: it is not a regular file/,
  })
  t.match(await runCli(['plan', path, '--output', path], env), { code: 1, err: /does not accept --output/ })
  t.same(readdirSync(own).sort(), ['link.yaml', 'project.yaml'], 'no temporary files are left')
})

t.test('A file in UTF-16 is refused with the name of its encoding', async t => {
  const path = file('utf16.yaml', Buffer.from('\ufeffversion: 1\n', 'utf16le'))
  t.match(await runCli(['plan', path], { PICKET_API_KEY: KEY }), {
    code: 1,
    err: /is encoded in UTF-16; save it as UTF-8\.$/m,
  })
})

t.test('A file that is not UTF-8 is refused, because its letters would be replaced', async t => {
  const { env, requests } = await serve(t, creates('Café'))
  const path = file('latin1.yaml', Buffer.from('name: Café\n', 'latin1'))
  t.match(await runCli(['plan', path], env), { code: 1, err: /latin1\.yaml is not valid UTF-8; save it as UTF-8\.$/m })
  t.same(requests, [])
  const marked = file('marked.yaml', '\ufeffname: Café\n')
  t.match(await runCli(['plan', marked], env), { code: 2, err: '' })
  t.equal(requests.at(-1)!.body, '\ufeffname: Café\n')
})

t.test('No document starts the command line with npx, which can download another program', async t => {
  const documents = ['docs', 'deploy', 'control-plane'].flatMap(filesBelow).filter(path => /\.(md|mjs|tsx)$/.test(path))
  const npx = /npx picket (export|plan|apply|…)/
  t.same(
    ['CHANGELOG.md', 'README.md', ...documents].filter(path => npx.test(readFileSync(join(ROOT, path), 'utf8'))),
    [],
  )
  t.match((await runCli(['--help'], {})).out, 'node deploy/cli/picket.mjs')
})
