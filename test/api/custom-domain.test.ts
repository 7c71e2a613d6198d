import type { Answer } from 'dns-packet'
import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { insertStatusPage } from '../support/status-pages.ts'
import { waitFor } from '../support/wait.ts'

// docs/design/subscribers.md#custom-domains

const TARGET = 'pages.picket-host.com'
const zone: Answer[] = [
  { type: 'NS', name: 'acme.com', data: 'ada.ns.cloudflare.com' },
  { type: 'A', name: TARGET, data: '127.0.0.1' },
]
const dns = await startDnsServer(t, zone)
const server = `127.0.0.1:${dns.port}`
const api = await startApi(t, { NAMESERVERS: server, CUSTOM_DOMAIN_TARGET: TARGET })
const acme = await api.tenant('pro')
const other = await api.tenant('pro')
const free = await api.tenant('free')
const page = await insertStatusPage(api.db, acme.projectId, 'acme')
const path = `/status-pages/${page}/custom-domain`
const ask = (method: string, path: string, body?: object, key = acme.key) =>
  api.call(method, path, { key, ...(body && { body }) })
const allowed = async (domain: string) =>
  (await api.call('GET', `${api.operator}/internal/tls-check?domain=${domain}`, { key: null })).status
type Record = { type: string; name: string; value: string; ok: boolean }

t.test('POST /status-pages/{id}/custom-domain/analyze 200 lists the missing records and changes nothing', async t => {
  const { status, body } = await ask('POST', `${path}/analyze`, { domain: 'Status.ACME.com.' })
  t.equal(status, 200)
  t.equal(body.data.domain, 'status.acme.com')
  t.equal(body.data.cname_target, TARGET)
  t.equal(body.data.verified, false)
  t.same(
    body.data.records.map(({ type, name, ok }: Record) => [type, name, ok]),
    [
      ['CNAME', 'status.acme.com', false],
      ['TXT', '_picket-challenge.status.acme.com', false],
    ],
  )
  t.same(body.data.dns_provider, { id: 'cloudflare', name: 'Cloudflare', nameservers: ['ada.ns.cloudflare.com'] })
  t.same(body.data.ssl, { status: 'none', issuer: null, expires_at: null })
  t.same(body.data.domain_connect, { available: false, provider_id: null, template: null })
  t.match(body.data.instructions[0], /^At Cloudflare, add a CNAME record status\.acme\.com/)
  t.equal((await ask('POST', `${path}/verify`)).status, 404)
  t.equal((await ask('POST', `${path}/verify`, { domain: 'status.acme.com' })).status, 400, 'it takes no body')
})

t.test('POST …/custom-domain/analyze 400 for an invalid hostname and for a host of the service', async t => {
  for (const domain of ['', 'acme', '127.0.0.1', 'https://acme.com', TARGET, `x.${TARGET}`, 'localhost']) {
    const { status, body } = await ask('POST', `${path}/analyze`, { domain })
    t.equal(status, 400, domain)
    t.equal(body.error.details[0].path, 'domain')
  }
  t.equal((await ask('POST', `${path}/analyze`, { domain: 'acme.com', more: 1 })).status, 400)
  t.equal((await ask('POST', `${path}/analyze`)).status, 400)
})

t.test('A custom domain is 403 on a plan without them, and 404 for a page of another project', async t => {
  const freePage = await insertStatusPage(api.db, free.projectId, 'free')
  for (const end of ['/analyze', '/domain-connect']) {
    const refused = await ask(
      'POST',
      `/status-pages/${freePage}/custom-domain${end}`,
      { domain: 'status.acme.com' },
      free.key,
    )
    t.equal(refused.status, 403)
    t.equal(refused.body.error.code, 'plan_upgrade_required')
    t.equal((await ask('POST', `${path}${end}`, { domain: 'status.acme.com' }, other.key)).status, 404)
  }
  const put = await ask('PUT', `/status-pages/${freePage}/custom-domain`, { domain: 'a.acme.com' }, free.key)
  t.equal(put.status, 403)
  t.equal((await ask('PUT', path, { domain: 'status.acme.com' }, other.key)).status, 404)
  t.equal((await ask('DELETE', path, undefined, other.key)).status, 404)
})

t.test('An invalid domain is 400, before the 404 of an unknown page and the 403 of the plan', async t => {
  const freePage = await insertStatusPage(api.db, free.projectId, 'free-too')
  const buildPath = (id: string) => `/status-pages/${id}/custom-domain`
  for (const page of [buildPath(freePage), path, buildPath('not-an-id')]) {
    for (const end of ['POST /analyze', 'POST /domain-connect', 'PUT ']) {
      const [method = '', rest = ''] = end.split(' ')
      const { status, body } = await ask(method, `${page}${rest}`, { domain: '127.0.0.1' }, free.key)
      t.match({ status, body }, { status: 400, body: { error: { details: [{ path: 'domain' }] } } }, `${page} ${end}`)
    }
  }
  t.equal(
    (await ask('POST', `${buildPath(freePage)}/verify`, undefined, free.key)).status,
    404,
    'a page without a domain',
  )
})

t.test('POST /status-pages/{id}/custom-domain/domain-connect 422 when Domain Connect is unavailable', async t => {
  const { status, body } = await ask('POST', `${path}/domain-connect`, { domain: 'status.acme.com' })
  t.equal(status, 422)
  t.equal(body.error.code, 'domain_connect_unavailable')
})

t.test('A domain is set, verified by its records, served, and removed', async t => {
  const set = await ask('PUT', path, { domain: 'status.acme.com' })
  t.equal(set.status, 200)
  t.equal(set.body.data.verified, false)
  t.equal(await allowed('status.acme.com'), 404, 'no certificate for an unverified domain')

  zone.push({ type: 'CNAME', name: 'status.acme.com', data: TARGET })
  t.equal((await ask('POST', `${path}/verify`)).body.data.verified, false, 'it points here, which proves nothing')
  const [, text] = set.body.data.records
  zone.push({ type: 'TXT', name: text.name, data: text.value })
  const verified = (await ask('POST', `${path}/verify`)).body.data
  t.equal(verified.verified, true)
  t.equal(verified.ssl.status, 'pending')
  // a negative answer is cached for a second
  await waitFor(async () => (await allowed('status.acme.com')) === 200)
  t.equal(await allowed('STATUS.acme.com.'), 200)
  t.equal(await allowed('www.acme.com'), 404)
  t.equal(await allowed(TARGET), 200, 'the host of the installation')
  t.equal(await allowed('%00'), 404)

  await api.db.raw('UPDATE status_pages SET is_published = false WHERE id = ?', [page])
  t.equal(await allowed('status.acme.com'), 404, 'nor for an unpublished page')
  await api.db.raw('UPDATE status_pages SET is_published = true WHERE id = ?', [page])
  const left = await ask('DELETE', path)
  t.match(left, { status: 200, body: { data: { id: page, custom_domain: null, custom_domain_verified_at: null } } })
  t.same(left.body.data, (await ask('GET', `/status-pages/${page}`)).body.data, 'the page, which stays')
  t.equal(await allowed('status.acme.com'), 404)
  t.equal((await ask('DELETE', path)).status, 404)
})

t.test('Of two projects with the same domain, the one with the TXT record owns it', async t => {
  t.equal((await ask('PUT', path, { domain: 'status.acme.com' })).body.data.verified, true)
  const rival = await insertStatusPage(api.db, other.projectId, 'rival')
  const rivalPath = `/status-pages/${rival}/custom-domain`
  const claimed = await ask('PUT', rivalPath, { domain: 'status.acme.com' }, other.key)
  t.equal(claimed.body.data.verified, false)
  const [, text] = claimed.body.data.records

  const proof = zone.findIndex(({ type }) => type === 'TXT')
  zone.push({ type: 'TXT', name: text.name, data: text.value })
  const whileBothExist = 'while both records exist, the first page keeps the domain'
  t.equal((await ask('POST', `${rivalPath}/verify`, undefined, other.key)).status, 409, whileBothExist)
  t.equal((await ask('PUT', rivalPath, { domain: 'status.acme.com' }, other.key)).status, 409, whileBothExist)
  zone.splice(proof, 1)
  t.equal((await ask('POST', `${rivalPath}/verify`, undefined, other.key)).body.data.verified, true)
  t.equal((await ask('POST', `${path}/verify`)).body.data.verified, false)
})

t.test('A page keeps its working domain when another one is refused', async t => {
  const second = await insertStatusPage(api.db, acme.projectId, 'second')
  const secondPath = `/status-pages/${second}/custom-domain`
  const verify = async (path: string, domain: string) => {
    const [, text] = (await ask('PUT', path, { domain })).body.data.records
    zone.push({ type: 'CNAME', name: domain, data: TARGET }, { type: 'TXT', name: text.name, data: text.value })
    // a negative answer is cached for a second
    await waitFor(async () => (await ask('POST', `${path}/verify`)).body.data.verified)
  }
  await verify(path, 'docs.acme.com')
  await verify(secondPath, 'shop.acme.com')
  const read = async () => (await ask('GET', `/status-pages/${second}`)).body.data
  const before = await read()
  t.match(before, { custom_domain: 'shop.acme.com', custom_domain_verified_at: String })
  t.equal((await ask('PUT', secondPath, { domain: 'docs.acme.com' })).status, 409)
  t.same(await read(), before)
  t.equal(await allowed('shop.acme.com'), 200)
  t.equal(await allowed('docs.acme.com'), 200)
})

t.test('The analysis lists resolvers that do not answer, and a verified domain stays verified', async t => {
  dns.behave('servfail')
  const { status, body } = await ask('POST', `${path}/analyze`, { domain: 'status.acme.com' })
  dns.behave('answer')
  t.equal(status, 200)
  t.match(body.data.instructions.join(' '), /DNS: SERVFAIL/)
  await waitFor(async () => (await allowed('status.acme.com')) === 200)
})
