import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import t from 'tap'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { startProgram } from '../support/processes.ts'
import { waitFor } from '../support/wait.ts'

const ENV = {
  DATABASE_URL: (await createDatabase(t)).url,
  CLICKHOUSE_URL: (await createClickhouseDatabase(t)).url,
  NATS_URL: (await startNats(t)).url,
  SECRET_KEY: randomBytes(32).toString('base64'),
  PORT: '0',
  OPERATOR_PORT: '0',
  GRPC_PORT: '0',
  EGRESS_ALLOW: '127.0.0.0/8',
}
const controlPlane = (env: Record<string, string> = {}) =>
  startProgram(t, { program: 'dist/control-plane.js', env: { ...ENV, ...env } })
const admin = (...args: string[]) => startProgram(t, { program: 'dist/admin.js', args, env: ENV })

/** On a busy machine an engine can answer later than `/readyz` waits. */
const waitForOk = (port: number, path: string) =>
  waitFor(async () => (await fetch(`http://127.0.0.1:${port}/${path}`)).status === 200, { label: path })

/** The lines for the operator, which are not log lines. */
const sentences = (program: ReturnType<typeof controlPlane>) => program.lines.flatMap(({ text }) => text ?? [])

t.test('The control plane reports when it is ready and on which ports, and ends on SIGTERM', async t => {
  const program = controlPlane()
  const ready = await program.untilEvent('ready')
  t.ok(ready.http_port > 0 && ready.operator_port > 0 && ready.grpc_port > 0)
  await waitForOk(ready.operator_port, 'readyz')
  t.equal(await program.stop(), 0)
  t.same(sentences(program), [], 'nothing but log lines was printed')
})

t.test('A failed start prints one sentence without secrets and exits with code 1', async t => {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => taken.once('listening', resolve))
  t.teardown(() => taken.close())
  const port = String((taken.address() as AddressInfo).port)
  const rows: [string, Record<string, string>, RegExp][] = [
    [
      'an unreachable database server',
      { DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/x' },
      /^PostgreSQL at 127\.0\.0\.1:1 \(DATABASE_URL\) cannot be used: .*ECONNREFUSED/,
    ],
    ['a database that does not exist', { DATABASE_URL: `${ENV.DATABASE_URL}x` }, /^PostgreSQL at .* does not exist$/],
    ['no NATS', { NATS_URL: 'nats://127.0.0.1:1' }, /^NATS at 127\.0\.0\.1:1 \(NATS_URL\) cannot be used/],
    ['no secret key', { SECRET_KEY: '' }, /^SECRET_KEY is not set$/],
    [
      'a port in use',
      { PORT: port, ROLES: 'deliver' },
      new RegExp(`^port ${port} of 127.0.0.1 is already in use; choose another with PORT$`),
    ],
    [
      'an operator port in use',
      { OPERATOR_PORT: port, ROLES: 'deliver' },
      new RegExp(`^port ${port} of 127.0.0.1 is already in use; choose another with OPERATOR_PORT$`),
    ],
    [
      'a probe port in use',
      { GRPC_PORT: port, ROLES: 'fleet' },
      new RegExp(`^127.0.0.1:${port} is already in use; .* GRPC_PORT$`),
    ],
    ['nonsense in EGRESS_ALLOW', { EGRESS_ALLOW: 'home' }, /^"home" is not a CIDR range/],
  ]
  const start = async ([what, env, sentence]: (typeof rows)[number]) => {
    const program = controlPlane(env)
    await t.rejects(program.untilEvent('ready'), /ended before/)
    t.equal(await program.stop(), 1, what)
    const printed = sentences(program)
    t.equal(printed.length, 1, `${what} is one sentence: ${printed.join(' | ')}`)
    t.match(printed[0], sentence)
    t.notMatch(printed.join(), 'hunter2')
  }
  await Promise.all(rows.map(start))
})

t.test('A process without the role "api" answers health requests but not the API', async t => {
  const program = controlPlane({ ROLES: 'deliver,schedule' })
  const { http_port: port, operator_port: operatorPort, grpc_port: grpcPort } = await program.untilEvent('ready')
  t.equal(grpcPort, null)
  for (const path of ['healthz', 'readyz', 'metrics']) {
    await waitForOk(operatorPort, path)
  }
  t.equal((await fetch(`http://127.0.0.1:${port}/api/v1/agent/bootstrap`, { method: 'POST' })).status, 401)
})

t.test(
  'At SIGTERM, a request in progress is answered, and connections without requests do not delay the end',
  async t => {
    const program = controlPlane({ ROLES: 'api' })
    const { http_port: port, operator_port: operatorPort } = await program.untilEvent('ready')
    const open = async (of: number) => {
      const socket = connect(of, '127.0.0.1')
      t.teardown(() => socket.destroy())
      await once(socket, 'connect')
      return socket
    }
    // nothing is sent on them; browsers open such connections in advance
    for (const of of [port, operatorPort]) {
      const unused = await open(of)
      // the program may end the connection with a reset
      unused.on('error', () => {})
    }
    const socket = await open(port)
    let received = ''
    socket.on('data', data => {
      received += data
    })
    const closed = new Promise(resolve => socket.once('close', resolve))
    const body = '{"email":"late@example.com"}'
    const head = 'POST /api/v1/agent/bootstrap HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    socket.write(`${head}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`)
    await waitFor(() => received.includes('100 Continue'), { label: 'the request is in progress' })
    const stopped = program.stop()
    await waitFor(() => isRefused(port), { label: 'no new connection is accepted' })
    socket.write(body)
    await closed
    t.match(received, /HTTP\/1\.1 201 .*connection: close/is)
    t.equal(await stopped, 0)
    t.same(
      program.lines.filter(({ event, resource }) => event === 'stop_timeout' && /HTTP/.test(String(resource))),
      [],
    )
  },
)

t.test('A signal during the start ends the process in order: it releases everything and exits with code 0', async t => {
  const program = controlPlane()
  await program.untilEvent('registration')
  const isReady = program.lines.some(({ event }) => event === 'ready')
  t.equal(await program.stop(), 0, isReady ? 'just after the start' : 'during the start')
  t.same(
    program.lines.filter(({ event }) => event === 'stop_timeout'),
    [],
  )
})

const isRefused = (port: number) =>
  new Promise<boolean>(resolve => {
    const socket = connect(port, '127.0.0.1', () => resolve(false))
    socket.on('error', () => resolve(true))
    socket.on('connect', () => socket.destroy())
  })

t.test('npm run admin creates an account and a probe token, and changes a plan', async t => {
  const run = async (...args: string[]) => {
    const program = admin(...args)
    await program.untilEvent('none').catch(() => {})
    return { code: await program.stop(), lines: program.lines }
  }
  const made = await run('bootstrap', '--email', 'Operator@example.com', '--name', 'Operator')
  t.match(made, { code: 0, lines: [{ api_key: /^svc_/, email: 'operator@example.com', claim_expires_in: '72h' }] })
  t.match(await run('bootstrap', '--email', 'operator@example.com'), {
    code: 1,
    lines: [{ text: 'this email address is already registered' }],
  })
  t.match(await run('probe-token', 'create', '--region', 'eu-west'), { code: 0, lines: [{ text: /^prb_\w+$/ }] })
  t.match(await run('probe-token', 'create', '--region', 'mars'), {
    code: 1,
    lines: [{ text: /unknown region "mars"/ }],
  })
  t.match(await run('probe-token', 'create'), { code: 2, lines: [{ text: '--region is missing' }] })
  const { lines } = await run('probe-token', 'create', '--region', 'eu-west', '--reusable')
  const { text: token } = lines[0] as { text: string }
  const answers: [string[], object][] = [
    [
      ['probe-token', 'revoke', token],
      { code: 0, lines: [{ text: /^the token and every probe that enrolled with it are revoked/ }] },
    ],
    [['probe', 'revoke', 'me'], { code: 1, lines: [{ text: /^no probe has the id "me"/ }] }],
    [['probe', 'list'], { code: 0, lines: [] }],
    [['nats', 'seed'], { code: 0, lines: [{ text: /^SO[A-Z2-7]{56}$/ }] }],
  ]
  await Promise.all(answers.map(async ([args, answer]) => t.match(await run(...args), answer, args.join(' '))))
  const organizationId = made.lines[0]?.organization_id
  t.match(await run('operator', 'create', '--email', 'operator@example.com'), {
    code: 0,
    lines: [{ api_key: /^svc_/, claim_url: /\/claim\//, message: /may have been created by another person/ }],
  })
  t.match(await run('operator', 'create', '--email', 'b@example.com'), { code: 0, lines: [{ api_key: null }] })
  t.match(await run('operator', 'key'), { code: 0, lines: [{ text: /^svc_/ }] })
  t.match(await run('plan', 'set', organizationId, 'pro'), { code: 0, lines: [{ text: /now has plan pro/ }] })
  t.match(await run('plan', 'set', organizationId, 'gold'), { code: 1, lines: [{ text: /must be one of free, pro/ }] })
  t.match(await run('plan', 'set', 'nobody', 'pro'), { code: 1, lines: [{ text: 'organization not found' }] })
  t.match(await run('--help'), { code: 0, lines: [{ text: 'Usage:' }] })
  t.match(await run('fly'), {
    code: 2,
    lines: [{ text: 'unknown command "fly"' }, { text: '' }, { text: 'Usage:' }],
  })
})
