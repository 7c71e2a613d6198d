import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { readConfig } from '../../control-plane/config.ts'
import { reserveFreePort } from '../../tools/engines/free-port.ts'
import { startApi } from '../support/api-server.ts'
import { manifests } from '../support/deployment.ts'
import { NEEDED_ENV } from '../support/needed-env.ts'
import { rawAsk } from '../support/raw-ask.ts'

const OPERATOR_PATHS = ['/readyz', '/metrics', '/internal/health', '/internal/tls-check?domain=status.example.com']

const readStatus = async (origin: string, path: string, headers: Record<string, string> = {}) =>
  (await rawAsk(origin, path, { headers })).status

t.test('The public port serves no operator endpoint', async t => {
  const api = await startApi(t)
  for (const path of OPERATOR_PATHS) {
    for (const spelling of [path, path.replace('/', '//'), path.replace('e', '%65'), `/.${path}`]) {
      t.equal(await readStatus(api.origin, spelling), 404, spelling)
    }
  }
  t.equal(await readStatus(api.origin, '/healthz'), 200)
  t.equal(await readStatus(api.operator, '/healthz'), 200)
  for (const path of OPERATOR_PATHS.slice(0, 3)) {
    t.not(await readStatus(api.operator, path), 404, `${path} is on the operator's port`)
  }
  t.equal(await readStatus(api.operator, '/api/v1/project'), 404, 'and the API is not')
  t.equal(await readStatus(api.operator, '/'), 404)
})

t.test('A page of another site cannot read the operator port by DNS rebinding', async t => {
  const api = await startApi(t)
  const { port } = new URL(api.operator)
  for (const host of ['attacker.example', `attacker.example:${port}`, 'localhost.attacker.example', 'x.10.0.0.1']) {
    t.equal(await readStatus(api.operator, '/metrics', { host }), 421, host)
  }
  for (const host of ['localhost', `localhost:${port}`, '127.0.0.1', `[::1]:${port}`]) {
    t.equal(await readStatus(api.operator, '/metrics', { host }), 200, host)
  }
})

t.test('Off loopback the operator port accepts any host', async t => {
  const api = await startApi(t, { OPERATOR_HOST: '0.0.0.0' })
  for (const host of ['cp1.example.com:8081', 'picket.monitoring.svc.cluster.local', '10.0.0.7:8081']) {
    t.equal(await readStatus(api.operator, '/metrics', { host }), 200, host)
  }
})

/** Connects to the operator port until it is open, then immediately to the other, and returns whether that was open. */
const LOOKING = `
  const { workerData: { first, second }, parentPort } = require('node:worker_threads')
  const { connect } = require('node:net')
  const isOpen = port => new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
  const look = async () => ((await isOpen(first)) ? parentPort.postMessage(await isOpen(second)) : setImmediate(look))
  look()`

t.test('A process is not ready before it accepts requests', async t => {
  const [first, second] = [await reserveFreePort(), await reserveFreePort()]
  const looking = new Worker(LOOKING, { eval: true, workerData: { first, second } })
  t.teardown(() => looking.terminate())
  const seen = once(looking, 'message')
  await startApi(t, { OPERATOR_PORT: String(first), PORT: String(second) })
  t.same(await seen, [true])
})

t.test('The operator port is on loopback by default', async t => {
  t.match(readConfig({ ...NEEDED_ENV, HOST: '0.0.0.0' }), { operatorHost: '127.0.0.1', operatorPort: 8081 })
  t.throws(() => readConfig({ ...NEEDED_ENV, PORT: '8081' }), {
    message: 'PORT and OPERATOR_PORT are both 8081; they must differ',
  })
})

t.test('A control plane does not start with the example of TRUSTED_PROXIES', async t => {
  const settings = manifests().find(({ kind }) => kind === 'ConfigMap')
  const { TRUSTED_PROXIES } = settings!.data
  t.throws(() => readConfig({ ...NEEDED_ENV, TRUSTED_PROXIES }), { message: /^TRUSTED_PROXIES contains/ })
})
