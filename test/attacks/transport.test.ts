import { randomBytes } from 'node:crypto'
import { type AddressInfo, connect } from 'node:net'
import { pino } from 'pino'
import t from 'tap'
import { bootstrapRoutes } from '../../control-plane/accounts/registration/routes.ts'
import { readConfig } from '../../control-plane/config.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { generateOperatorSeed } from '../../control-plane/foundation/platform/nats/operator.ts'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createApp } from '../../control-plane/foundation/web/server/app.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { startApi } from '../support/api-server.ts'
import { createDatabase } from '../support/database.ts'
import { NEEDED_ENV } from '../support/needed-env.ts'
import { HANG_MS, waitFor } from '../support/wait.ts'

t.test('NATS on another machine needs operator mode', async t => {
  const REFUSED = /^NATS is at .*, and NATS_OPERATOR_SEED is not set/
  const far = ['nats://nats:4222', 'tls://10.0.0.5', 'nats://127.0.0.1:4222,nats://b:4222', 'nats://u:p@b.example:4222']
  far.push('nats://127.0.0.1.evil.example:4222', 'nats://localhost.evil.example')
  for (const NATS_URL of far) {
    t.throws(() => readConfig({ ...NEEDED_ENV, NATS_URL }), { message: REFUSED }, NATS_URL)
    const config = readConfig({ ...NEEDED_ENV, NATS_URL, NATS_OPERATOR_SEED: generateOperatorSeed() })
    t.ok(config.natsOperator)
  }
  t.throws(() => readConfig({ ...NEEDED_ENV, PROBE_NATS_URL: 'tls://nats.example.com:4222' }), { message: REFUSED })
  for (const NATS_URL of [
    'nats://127.0.0.1:4222',
    'nats://localhost:4222',
    'nats://[::1]:4222',
    'nats://u:p@127.0.0.2',
    'nats://localhost:4222/',
    'LOCALHOST',
  ])
    t.equal(readConfig({ ...NEEDED_ENV, NATS_URL }).natsOperator, null, NATS_URL)
})

const readHsts = async (origin: string, path: string, headers: Record<string, string> = {}) =>
  (await fetch(`${origin}${path}`, { headers, redirect: 'manual' })).headers.get('strict-transport-security')

t.test('A browser that used https does not return over http', async t => {
  const paths = ['/sign-in', '/api/v1/monitors', '/status/none', '/nothing', '/openapi.json']
  const api = await startApi(t, { PUBLIC_URL: 'https://picket.example' })
  for (const path of paths) t.equal(await readHsts(api.origin, path), 'max-age=15552000', path)
  t.equal(await readHsts(api.origin, '/', { 'x-forwarded-host': 'status.customer.example' }), 'max-age=15552000')
  const plain = await startApi(t, { TRUSTED_PROXIES: '127.0.0.1' })
  for (const path of paths) t.equal(await readHsts(plain.origin, path), null, path)
  t.equal(await readHsts(plain.origin, '/sign-in', { 'x-forwarded-proto': 'https' }), 'max-age=15552000')
})

t.test('A client that aborts its request is not logged as an error', async t => {
  const db = createPostgres((await createDatabase(t)).url)
  const errors: string[] = []
  const app = await createApp({
    log: pino({ level: 'error' }, { write: line => void errors.push(line) }),
    metrics: createMetrics(),
    db,
    secrets: createSecretCipher(randomBytes(32)),
    authenticate: async () => null,
    authenticateSession: async () => null,
    reloadCaller: async () => null,
    publicUrl: 'http://localhost:8080',
    trustedProxies: [],
    rateLimitPerMinute: 600,
    rateLimitPerProject: 600,
    requestWaitMs: HANG_MS,
    isAcceptedHost: () => true,
  })
  let begun = 0
  app.addHook('onRequest', (_request, _reply, done) => {
    begun++
    done()
  })
  bootstrapRoutes(app, { db, publicUrl: 'http://localhost:8080', defaultPlan: 'free', registration: 'open' })
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(async () => {
    await app.close()
    await db.destroy()
  })
  const { port } = app.server.address() as AddressInfo
  const COUNT = 10
  const head =
    'POST /agent/bootstrap HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n'
  const sockets = Array.from({ length: COUNT }, () => connect(port, '127.0.0.1').on('error', () => {}))
  for (const socket of sockets) socket.write(`${head}{"email":`)
  await waitFor(() => begun === COUNT, { label: 'all requests to begin' })
  for (const socket of sockets) socket.resetAndDestroy()
  const counted = async () => (await query(db, 'SELECT 1 FROM bootstrap_attempts')).length
  await waitFor(async () => (await counted()) + errors.length >= COUNT, { label: 'all requests to end' })
  const after = await fetch(`http://127.0.0.1:${port}/agent/bootstrap`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'a@stranger.example' }),
  })
  t.equal(after.status, 201, 'what others broke off does not count against this client')
  t.same(errors, [])
})
