import { createPrivateKey, createPublicKey, createVerify, generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Answer } from 'dns-packet'
import t from 'tap'
import { createSigner } from '../../../control-plane/foundation/platform/crypto/signer.ts'
import { OPERATOR_ACTOR } from '../../../control-plane/foundation/web/auth/audit-actor.ts'
import {
  analyzeDomain,
  type DomainTools,
  launchDomainConnect,
} from '../../../control-plane/pages/custom-domains/actions.ts'
import { fetchCertificate } from '../../../control-plane/pages/custom-domains/dns-reader.ts'
import { customDomainRoutes } from '../../../control-plane/pages/custom-domains/routes.ts'
import { createEgress, createResolver } from '../../../shared/egress/index.ts'
import { createAuthority } from '../../support/certificates.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { createResourceApi } from '../../support/resource-api.ts'
import { insertStatusPage } from '../../support/status-pages.ts'

// docs/design/subscribers.md#domain-connect: a DNS provider with Domain Connect, as a real DNS server and a real HTTPS server

const TARGET = 'pages.picket-host.com'
const authority = createAuthority(t)
const provider = { path: 'https://127.0.0.1', knowsTemplate: true, asked: [] as string[] }
const server = createServer(authority.issue('127.0.0.1', -1, 9), (request, response) => {
  provider.asked.push(request.url ?? '')
  if (request.url === '/api/v2/acme.com/settings') {
    const settings = {
      providerId: 'dns.example',
      providerName: 'DNS Example',
      urlSyncUX: 'https://connect.dns.example',
    }
    response.end(JSON.stringify({ ...settings, urlAPI: `${provider.path}/api` }))
  } else response.writeHead(request.url?.includes('/services/statuspage') && provider.knowsTemplate ? 200 : 404).end()
})
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
t.teardown(() => server.close().closeAllConnections())
const { port } = server.address() as AddressInfo
provider.path = `https://127.0.0.1:${port}`

const zone: Answer[] = [
  { type: 'NS', name: 'acme.com', data: 'ns1.dns.example' },
  { type: 'TXT', name: '_domainconnect.acme.com', data: `127.0.0.1:${port}/api` },
  { type: 'A', name: 'own.acme.com', data: '127.0.0.1' },
  { type: 'AAAA', name: 'own.acme.com', data: '::1' },
]
const dns = await startDnsServer(t, zone)
const servers = [`127.0.0.1:${dns.port}`]
const key = createPrivateKey(
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
)
const rest: Omit<DomainTools, 'db'> = {
  lookUpContext: {
    egress: createEgress({
      allow: ['127.0.0.0/8', '::1/128'],
      trust: [authority.ca],
      nameservers: servers,
      resolver: createResolver({ servers }),
    }),
    httpsPort: port,
  },
  settings: {
    target: TARGET,
    connect: { template: { providerId: 'picket.example', serviceId: 'statuspage' }, key, keyHost: '_dck1' },
  },
  ownHosts: [TARGET],
  sign: createSigner(Buffer.alloc(32, 1), 'custom domains'),
}
const api = await createResourceApi(t, (app, { db, publicUrl }) => customDomainRoutes(app, { ...rest, db, publicUrl }))
const tools: DomainTools = { ...rest, db: api.db }
const { call, ...tenant } = await api.account('pro')
const pageId = await insertStatusPage(api.db, tenant.projectId, 'acme')
const caller = { ...tenant, keyId: '', userId: null, scope: 'admin' as const, isOperator: false, actor: OPERATOR_ACTOR }
const now = new Date('2026-11-21T12:00:00Z')
const asked = { tools, caller, pageId }

t.test('Domain Connect finds the provider of a zone, checks its template, and returns a signed URL', async t => {
  const analysis = await analyzeDomain(asked, 'status.acme.com')
  t.same(analysis.domain_connect, {
    available: true,
    provider_id: 'dns.example',
    template: 'picket.example/statuspage',
  })
  t.same(analysis.dns_provider, { id: 'dns.example', name: 'DNS Example', nameservers: ['ns1.dns.example'] })
  t.match(analysis.instructions[0], /^DNS Example can set the records for you/)

  t.match((await launchDomainConnect(asked, 'status.acme.com', now)).expires_at, new Date('2026-11-21T13:00:00Z'))
  const answer = await call(`POST /status-pages/${pageId}/custom-domain/domain-connect`, {
    domain: 'status.acme.com',
  })
  t.equal(answer.status, 200)
  const launch = answer.body.data
  t.match(launch, { provider_id: 'dns.example', service_id: 'statuspage' })
  t.match(launch.url, /^https:\/\/connect\.dns\.example\/v2\/domainTemplates\/providers\/picket\.example\/services\//)
  const url = new URL(launch.url)
  t.equal(url.searchParams.get('challenge'), analysis.records[1]?.value)
  const signed = url.search.slice(1).replace(/&sig=.*$/, '')
  const signature = url.searchParams.get('sig') ?? ''
  t.ok(createVerify('RSA-SHA256').update(signed).verify(createPublicKey(key), signature, 'base64'))
  t.ok(provider.asked.includes('/api/v2/domainTemplates/providers/picket.example/services/statuspage'))
})

t.test('A provider without the template and a server without a key are refused with 422', async t => {
  provider.knowsTemplate = false
  t.equal((await analyzeDomain(asked, 'status.acme.com')).domain_connect.available, false)
  await t.rejects(launchDomainConnect(asked, 'status.acme.com', now), {
    status: 422,
    message: /DNS Example supports Domain Connect, but not/,
  })
  provider.knowsTemplate = true
  await t.rejects(launchDomainConnect(asked, 'acme.com', now), {
    status: 422,
    message: /acme.com is the top of its zone, which cannot have a CNAME/,
  })
  const settings = { target: TARGET, connect: null }
  const without = launchDomainConnect({ ...asked, tools: { ...tools, settings } }, 'status.acme.com', now)
  await t.rejects(without, { status: 422, message: /not configured on this server/ })
})

t.test('Discovery at a private address is refused', async t => {
  const inner = createEgress({ allow: [], trust: [authority.ca], nameservers: servers })
  const before = provider.asked.length
  const guarded = { ...asked, tools: { ...tools, lookUpContext: { egress: inner, httpsPort: port } } }
  await t.rejects(launchDomainConnect(guarded, 'status.acme.com', now), { status: 422, message: /does not support/ })
  t.equal(provider.asked.length, before, 'no request was sent')
})

t.test('An untrusted certificate is reported, and a missing one is null', async t => {
  const seen = await fetchCertificate('own.acme.com', tools.lookUpContext)
  t.equal(seen?.isTrusted, false, 'the certificate is for another name')
  t.equal(seen?.issuer, 'Test authority')
  t.equal(await fetchCertificate('nowhere.acme.com', tools.lookUpContext), null)
  t.equal((await fetchCertificate('127.0.0.1', tools.lookUpContext))?.isTrusted, true)
})
