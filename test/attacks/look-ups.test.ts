import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import t from 'tap'
import { createApiKey, createAuthenticator } from '../../control-plane/accounts/api-keys/actions.ts'
import { createSession, createSessionFinder } from '../../control-plane/accounts/sessions/actions.ts'
import { SESSION_COOKIE } from '../../control-plane/accounts/sessions/cookie.ts'
import { randomToken } from '../../control-plane/foundation/platform/ids.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { generateApiKey } from '../../control-plane/foundation/web/auth/api-key.ts'
import { createPublicLookup } from '../../control-plane/foundation/web/limits/public-lookup.ts'
import { createQueuedLookup } from '../../control-plane/foundation/web/limits/queued-lookup.ts'
import type { ApiError } from '../../control-plane/foundation/web/server/errors.ts'
import { startApi } from '../support/api-server.ts'
import { createDatabase } from '../support/database.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { insertStatusPage } from '../support/status-pages.ts'
import { insertTenant } from '../support/tenant.ts'
import { waitFor } from '../support/wait.ts'

const [ATTACKER, OTHER] = ['192.0.2.1', '198.51.100.7']
/** More than any limit allows, also when a new minute begins meanwhile. */
const MANY = 3_000

t.test('A network that guesses keys is refused, and costs others neither time nor cache entries', async t => {
  const { url } = await createDatabase(t)
  const db = createPostgres(url, 4)
  t.teardown(() => db.destroy())
  const tenant = await insertTenant(db)
  const [valid, second] = await Promise.all(
    ['first', 'second'].map(name => createApiKey(db, tenant, { name, scope: 'read' }).then(({ key }) => key)),
  )
  const authenticate = createAuthenticator(db)
  t.match(await authenticate(valid!, ATTACKER), { projectId: tenant.projectId })

  let lookUps = 0
  db.on('query', () => lookUps++)
  const refused: { status: number; code: string; message: string; extra: { retryAfterSeconds: number } }[] = []
  for (let n = 0; n < MANY && refused.length < 10; n++) {
    await authenticate(generateApiKey(), ATTACKER).catch(error => refused.push(error))
  }
  t.match(refused[0], {
    status: 429,
    code: 'rate_limited',
    message: 'more than 300 unknown API keys a minute from one network',
  })
  t.ok(refused[0]!.extra.retryAfterSeconds >= 1)
  t.ok(lookUps <= 1_200, `${lookUps} look-ups`)

  t.match(await authenticate(valid!, ATTACKER), { projectId: tenant.projectId }, 'a known key works from there too')
  t.match(await authenticate(second!, OTHER), { projectId: tenant.projectId }, 'and a new one from elsewhere')
  t.equal(await authenticate(generateApiKey(), OTHER), null)

  const before = lookUps
  const dead = generateApiKey()
  for (let n = 0; n < 50; n++) t.equal(await authenticate(dead, OTHER), null)
  t.ok(lookUps - before < 50, 'a deleted key that goes on being used is not looked up each time')
})

t.test('A network that guesses session tokens is refused, and signed-in people stay signed in', async t => {
  const { url } = await createDatabase(t)
  const db = createPostgres(url, 4)
  t.teardown(() => db.destroy())
  const { userId } = await insertTenant(db)
  const [first, second] = await Promise.all([1, 2].map(() => db.transaction(tx => createSession(tx, userId))))
  const find = createSessionFinder(db)
  const send = (token: string, ip: string) =>
    find({ headers: { cookie: `${SESSION_COOKIE}=${token}` }, ip, socket: {} as Socket })
  t.match(await send(first!.token, ATTACKER), { id: first!.id })

  let lookUps = 0
  db.on('query', () => lookUps++)
  const refused: { status: number; message: string }[] = []
  for (let n = 0; n < MANY && refused.length < 10; n++) {
    await send(randomToken(32), ATTACKER).catch(error => refused.push(error))
  }
  t.match(refused[0], { status: 429, message: 'more than 300 unknown sessions a minute from one network' })
  t.ok(lookUps <= 1_200, `${lookUps} look-ups`)

  t.match(await send(first!.token, ATTACKER), { id: first!.id }, 'a known session works from there too')
  t.match(await send(second!.token, OTHER), { id: second!.id }, 'and a new one from elsewhere')

  const [before, ended] = [lookUps, randomToken(32)]
  for (let n = 0; n < 50; n++) t.equal(await send(ended, OTHER), null)
  t.equal(lookUps - before, 1, 'a session that has ended is looked up once')
})

t.test('Concurrent look-ups are limited like sequential ones', async t => {
  const lookUp = createPublicLookup({ what: 'things', missesPerMinute: 10 })
  let found = 0
  const ask = (name: string, isThere: boolean) =>
    lookUp(ATTACKER, name, async () => {
      found++
      await new Promise(resolve => setImmediate(resolve))
      return isThere ? name : null
    }).catch(error => error.code)
  t.equal(await ask('known', true), 'known')
  const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => ask(`unknown-${n}`, false)))
  t.same([...new Set(answers)], [null, 'rate_limited'])
  t.ok(found <= 21, `${found} look-ups`)
  t.equal(await ask('known', true), 'known', 'what was found before is found')

  const crowd = createPublicLookup({ what: 'things', missesPerMinute: 1 })
  let looks = 0
  const wait = async () => {
    looks++
    await new Promise(resolve => setImmediate(resolve))
    return 'new'
  }
  const visitors = await Promise.all(Array.from({ length: 300 }, () => crowd(OTHER, 'new', wait)))
  t.ok(visitors.every(answer => answer === 'new'))
  t.equal(looks, 1, 'a crowd of one network that comes for something new is one look-up')

  const failing = createPublicLookup({ what: 'things', missesPerMinute: 1 })
  const fail = async () => {
    throw new Error('the database is away')
  }
  for (let n = 0; n < 5; n++) await t.rejects(failing(OTHER, 'x', fail), /the database is away/)
  t.equal(await failing(OTHER, 'y', async () => 'y'), 'y', 'a look-up that failed does not count')
})

t.test('Guesses of pages and links get 429 with Retry-After, and visitors get their page', async t => {
  const api = await startApi(t)
  const { body } = await api.call('POST', '/status-pages', { body: { name: 'Acme', slug: 'acme' } })
  const published = await api.call('PUT', `/status-pages/${body.data.id}`, { body: { is_published: true } })
  t.equal(published.status, 200)
  const get = (path: string) => fetch(`${api.origin}${path}`)
  t.equal((await get('/status/acme')).status, 200)
  const rows: [name: string, path: () => string, message: string][] = [
    ['pages', () => `/status/x-${randomUUID()}`, 'unknown status pages a minute from one network'],
    ['claim links', () => `/claim/${randomUUID()}`, 'unknown links a minute from one network'],
    ['reset links', () => `/reset/${randomUUID()}`, 'unknown links a minute from one network'],
  ]
  for (const [name, path, message] of rows) {
    let answer = await get(path())
    t.equal(answer.status, 404, name)
    await answer.text()
    for (let n = 0; n < MANY && answer.status !== 429; n++) {
      answer = await get(path())
      if (answer.status !== 429) await answer.text()
    }
    t.equal(answer.status, 429, name)
    t.ok(Number(answer.headers.get('retry-after')) >= 1, name)
    const { error } = (await answer.json()) as { error: { code: string; message: string } }
    t.equal(error.code, 'rate_limited', name)
    t.match(error.message, message, name)
  }
  t.equal((await get('/status/acme')).status, 200, 'a page that was visited before is shown from there too')
  t.equal((await api.call('GET', '/project')).status, 200, 'and keys work')
})

t.test('A customer gets a certificate while the proxy is asked for thousands of unknown names', async t => {
  const api = await startApi(t)
  const tenant = await api.tenant('pro')
  const page = await insertStatusPage(api.db, tenant.projectId, 'acme')
  await execute(
    api.db,
    'UPDATE status_pages SET custom_domain = ?, custom_domain_verified_at = now(), is_published = true WHERE id = ?',
    ['status.acme.example', page],
  )
  const ask = async (domain: string) => {
    const answer = await fetch(`${api.operator}/internal/tls-check?domain=${domain}`)
    await answer.text()
    return answer.status
  }
  const statuses = new Set<number>()
  for (let n = 0; n < MANY; n += 50) {
    const invented = await Promise.all(Array.from({ length: 50 }, () => ask(`${randomUUID()}.example`)))
    for (const status of invented) statuses.add(status)
  }
  t.same([...statuses], [404])
  t.equal(await ask('status.acme.example'), 200, 'a domain that this process has not served before')

  // a look-up waits for this lock
  const locked = await openTransaction(api.db)
  await locked.raw('LOCK TABLE status_pages IN ACCESS EXCLUSIVE MODE')
  const asked = Array.from({ length: 20 }, () => ask(`${randomUUID()}.example`))
  const metrics = async () => await (await fetch(`${api.operator}/metrics`)).text()
  await waitFor(async () => /^picket_tls_checks_waiting 18$/m.test(await metrics()), { label: 'the metric' })
  const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await waitFor(async () => (await query(api.db, sql)).length === 2, { label: 'two look-ups' })
  await locked.rollback()
  await Promise.all(asked)
  t.match(await metrics(), /^picket_tls_checks_waiting 0$/m, 'the operator sees how many wait')
  t.match(await metrics(), /^picket_tls_checks_refused_total\{why="full"\} 0$/m)
})

t.test('Look-ups of names from the proxy run a few at a time, and the others wait', async t => {
  let [running, most, looks, waiting, maxWaiting] = [0, 0, 0, 0, 0]
  const refused: string[] = []
  const lookUp = createQueuedLookup({
    ...{ atOnce: 2, maxWaiting: 300, timeoutMs: 600_000 },
    onWaiting(change) {
      waiting += change
      maxWaiting = Math.max(maxWaiting, waiting)
    },
    onRefused: why => refused.push(why),
  })
  const ask = (name: string, found: string | null = null) =>
    lookUp(name, async () => {
      looks++
      most = Math.max(most, ++running)
      await new Promise(resolve => setImmediate(resolve))
      running--
      return found
    })
  const invented = Array.from({ length: 200 }, (_, n) => ask(`unknown-${n}`))
  t.equal(await ask('real', 'real'), 'real', 'it is answered, after those that came before it')
  t.same([...new Set(await Promise.all(invented))], [null])
  t.equal(most, 2)
  t.equal(looks, 201)
  await Promise.all(Array.from({ length: 200 }, () => ask('crowd', 'found')))
  t.equal(looks, 202, 'many who ask for one name are one look-up')
  const tooMany = await Promise.all(
    Array.from({ length: 303 }, (_, n) => ask(`more-${n}`).catch((error: ApiError) => error.status)),
  )
  t.same(tooMany.filter(Boolean), [503], 'what waits takes no more memory than was set')
  t.same(refused, ['full'])
  t.same([maxWaiting, waiting], [300, 0], 'what waits and what was refused is counted')
})

t.test('A screenshot is looked up only for a signed link', async t => {
  const { url } = await createDatabase(t)
  const api = await startApi(t, { DATABASE_URL: url })
  const link = `${api.origin}/screenshots/${randomUUID()}?expires=99999999999&signature=${'x'.repeat(43)}`
  // a look-up would wait for this lock
  const locked = await openTransaction(api.db)
  await locked.raw('LOCK TABLE screenshots IN ACCESS EXCLUSIVE MODE')
  const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(link).then(answer => answer.status)))
  t.same([...new Set(answers)], [404])
  await locked.rollback()
})
