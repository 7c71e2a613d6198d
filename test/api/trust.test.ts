import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createCanaries } from '../../control-plane/insight/canaries/actions.ts'
import { DEFAULT_SCHEDULE } from '../../control-plane/insight/canaries/schedule.ts'
import { startApi } from '../support/api-server.ts'
import { canaryTools, findCanary, insertProbe, makeOperator } from '../support/canaries.ts'
import { rawAsk } from '../support/raw-ask.ts'

const api = await startApi(t, { TRUST_PAGE: 'on' })
const get = (path: string, headers: Record<string, string> = {}) =>
  api.call('GET', `${api.origin}${path}`, { key: null, headers })

/** The status of a request with another `Host` header. */
const statusAt = async (host: string, path: string) => (await rawAsk(api.origin, path, { headers: { host } })).status

t.test('/trust is 404 unless the operator enables it', async t => {
  const off = await startApi(t)
  for (const path of ['/trust', '/trust.json']) {
    t.equal((await off.call('GET', `${off.origin}${path}`, { key: null })).status, 404)
    t.equal((await get(path)).status, 200)
  }
  await t.rejects(startApi(t, { TRUST_PAGE: 'yes' }), /TRUST_PAGE/)
})

t.test('/trust shows the guarantee before the first measurement and may be cached for a minute', async t => {
  const page = await get('/trust')
  t.match(page.body, /No measurements yet\./)
  t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  t.match(page.headers.get('cache-control'), /^public, max-age=60/)
  t.match(page.headers.get('content-security-policy'), /default-src 'none'.*script-src 'none'/)
  t.equal((await get('/trust', { 'if-none-match': page.headers.get('etag')! })).status, 304)
  const json = await get('/trust.json')
  t.match(json.headers.get('content-type'), 'application/json')
  t.equal(json.headers.get('access-control-allow-origin'), '*')
  t.match(json.body, { compared: 0, misses: 0, last_miss: null, settings: { interval_seconds: 30 } })
  t.equal(json.body.outages.length, 5)
  t.ok(json.body.outages.every((one: { measured: null }) => one.measured === null))
})

t.test('/trust is not served at the domain of a customer', async t => {
  t.equal(await statusAt('status.customer.example', '/trust'), 421)
  t.equal(await statusAt('status.customer.example', '/trust.json'), 421)
})

t.test('/trust shows measurements and the last miss, and no region, monitor or address', async t => {
  await insertProbe(api.db, 'eu-west')
  await makeOperator(api.db)
  const wanted = { ...DEFAULT_SCHEDULE, origin: 'https://canaries.example' }
  await createCanaries(canaryTools(api.db, Buffer.alloc(32, 1)), wanted, new Date())
  await execute(
    api.db,
    `INSERT INTO canary_outages (region, kind, started_at, ended_at, outcome, stages, guarantee, late_seconds, created_at)
     VALUES ('eu-west', 'hang', now() - interval '2 hours', now(), 'told', :stages, 'missed', 12.34, now())`,
    {
      stages: JSON.stringify([
        { turn: 'down', stage: 'status', seconds: 62.01 },
        { turn: 'down', stage: 'alert', seconds: 62.5 },
      ]),
    },
  )
  const fresh = await startApi(t, { TRUST_PAGE: 'on', DATABASE_URL: api.databaseUrl })
  const json = await fresh.call('GET', `${fresh.origin}/trust.json`, { key: null })
  t.match(json.body, { compared: 1, misses: 1, last_miss: { kind: 'hanging', late_seconds: 12.4 } })
  t.match(json.body.outages.at(-1), { kind: 'hanging', measured: { outages: 1, down: { p50: 62.1, p99: 62.1 } } })
  const page = await fresh.call('GET', `${fresh.origin}/trust`, { key: null })
  t.match(page.body, /1 of 1 planned outages/)
  const { monitorId } = await findCanary(api.db, 'eu-west')
  for (const text of [JSON.stringify(json.body), page.body]) {
    for (const secret of ['eu-west', monitorId, 'canaries.example', 'Canar']) t.notOk(text.includes(secret), secret)
  }
})
