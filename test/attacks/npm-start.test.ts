import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import t from 'tap'
import { reserveFreePort } from '../../tools/engines/free-port.ts'
import { listProcesses } from '../support/leaks.ts'
import { newDataDir, npmStart } from '../support/npm-start.ts'
import { rawAsk } from '../support/raw-ask.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

/** Starts it with only the port of the API given. */
async function startPicket() {
  const dataDir = newDataDir(t)
  const port = await reserveFreePort()
  const env = { DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'info', TESTS_PER_MINUTE: '1000' }
  return { dataDir, port, origin: `http://127.0.0.1:${port}`, ...npmStart(t, env) }
}

/** TCP ports on which the processes of an installation listen. */
function listeningPorts(dataDir: string): number[] {
  const sockets = new Set(listProcesses(dataDir).flatMap(listSockets))
  return ['tcp', 'tcp6']
    .flatMap(file => readFileSync(`/proc/net/${file}`, 'utf8').trim().split('\n').slice(1))
    .map(line => line.trim().split(/\s+/))
    .filter(fields => fields[3] === '0A' && sockets.has(`socket:[${fields[9]}]`))
    .map(fields => Number.parseInt(fields[1]!.split(':').at(-1)!, 16))
}

function listSockets(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map(fd => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`)
      } catch {
        return ''
      }
    })
  } catch {
    return []
  }
}

const [picket, other] = await Promise.all([startPicket(), startPicket()])
/** The printed URL of the operator's endpoints. */
const parseOperatorOrigin = ({ output }: typeof picket) =>
  /(http:\/\/127\.0\.0\.1:\d+)\/internal\/health/.exec(output())?.[1] ?? ''

t.test('Two simultaneous npm start use different ports', async t => {
  const isSettled = (one: typeof picket) => one.isReady() || one.child.exitCode !== null
  for (const one of [picket, other]) {
    await waitFor(() => isSettled(one), { label: one.output })
    t.ok(one.isReady(), one.output())
  }
  const [some, others] = [picket, other].map(({ dataDir }) => listeningPorts(dataDir))
  t.ok(some!.length >= 7, 'engines, mail page and server, gRPC, the operator’s port and API')
  t.equal(others!.filter(port => some!.includes(port)).length, 0)
  other.child.kill('SIGTERM')
  await other.exited
})

/** The key of a new account. */
let key: Promise<string> | undefined
async function makeAccount(): Promise<string> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"email":"a@example.test"}' }
  const answer = await fetch(`${picket.origin}/api/v1/agent/bootstrap`, post)
  return ((await answer.json()) as { data: { api_key: string } }).data.api_key
}

async function call(method: string, path: string, body: object) {
  key ??= makeAccount()
  const headers = { authorization: `Bearer ${await key}`, 'content-type': 'application/json' }
  const answer = await fetch(`${picket.origin}/api/v1${path}`, { method, headers, body: JSON.stringify(body) })
  return { status: answer.status, text: await answer.text() }
}

t.test('A monitor cannot reach ports of the installation in any spelling of this machine', async t => {
  const ports = listeningPorts(picket.dataDir)
  t.ok(ports.includes(picket.port))
  const sql = `SELECT line FROM file('${picket.dataDir}/keep.json', LineAsString)`
  const assertions = [{ type: 'status_code', operator: 'equals', value: '299' }]
  const body = { name: 'x', type: 'http', regions: ['us-east'], method: 'POST', body: sql, assertions }
  for (const port of ports) {
    const { text } = await call('POST', '/monitors/test', { ...body, url: `http://127.0.0.1:${port}/` })
    t.match(text, /"blocked_target"/, `port ${port}`)
    t.notMatch(text, /secretKey|natsOperatorSeed|ClickHouse|Mail/)
    const tcp = { name: 'x', type: 'tcp', regions: ['us-east'], url: `tcp://localhost:${port}` }
    t.match((await call('POST', '/monitors/test', tcp)).text, /"blocked_target"/, `tcp ${port}`)
  }
  for (const host of ['0.0.0.0', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '127.0.0.2']) {
    const { text } = await call('POST', '/monitors/test', { ...body, url: `http://${host}:${picket.port}/` })
    t.match(text, /blocked_target|cannot be a target/, host)
  }
  const target = await startTarget(t)
  const { text } = await call('POST', '/monitors/test', { ...body, url: target.url })
  t.match(text, /"status_code":200/, 'what else runs on this machine is watched as before')
})

const isRefused = /^picket_delivery_attempts_total\{status="(?!delivered)\w+"\} [1-9]/m

t.test('A webhook of a visitor cannot reach this machine', async t => {
  const target = await startTarget(t)
  const { text } = await call('POST', '/status-pages', { name: 'Acme', slug: 'acme' })
  const { id } = (JSON.parse(text) as { data: { id: string } }).data
  t.equal((await call('PUT', `/status-pages/${id}`, { is_published: true })).status, 200)
  const subscribe = (webhook: string) =>
    fetch(`${picket.origin}/status/acme/subscribe`, { method: 'POST', body: new URLSearchParams({ webhook }) })
  t.equal((await subscribe(`http://127.0.0.1:${target.port}/?query=SELECT%201`)).status, 400)
  t.equal((await subscribe(`http://[::ffff:7f00:1]:${listeningPorts(picket.dataDir)[0]}/`)).status, 400)
  // a name is resolved when the confirmation is sent
  t.equal((await subscribe(`http://localhost:${target.port}/`)).status, 200)
  await waitFor(
    () => fetch(`${parseOperatorOrigin(picket)}/metrics`).then(async answer => isRefused.test(await answer.text())),
    {
      label: 'the end of the confirmation',
    },
  )
  t.equal(target.requests.length, 0)
})

t.test('The API refuses host names that a web page points at this machine', async t => {
  const statusAt = async (host: string, path: string, method = 'GET', origin = picket.origin) =>
    (await rawAsk(origin, path, { method, headers: { host, 'content-type': 'application/json' } })).status
  const paths = ['/api/v1/monitors', '/docs', '/openapi.json', '/sign-in']
  for (const host of [
    'rebind.attacker.example',
    `rebind.attacker.example:${picket.port}`,
    '127.0.0.1.attacker.example',
  ]) {
    t.equal(await statusAt(host, '/api/v1/agent/bootstrap', 'POST'), 421, host)
    for (const path of paths) t.equal(await statusAt(host, path), 421, `${host} ${path}`)
    for (const path of ['/metrics', '/readyz', '/internal/health']) {
      t.equal(await statusAt(host, path, 'GET', parseOperatorOrigin(picket)), 421, `${host} ${path}`)
      t.equal(await statusAt('localhost', path), 404, `${path} is not on the API's port`)
    }
    t.equal(await statusAt(host, '/healthz'), 200, host)
  }
  for (const host of [`localhost:${picket.port}`, `127.0.0.1:${picket.port}`, '[::1]', 'picket.localhost'])
    t.equal(await statusAt(host, '/openapi.json'), 200, host)
})
