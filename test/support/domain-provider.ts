import { createVerify, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createSecureContext } from 'node:tls'
import type { Answer } from 'dns-packet'
import { createAuthority } from './certificates.ts'
import { startDnsServer } from './dns-server.ts'
import type { Teardown } from './teardown.ts'

/** The template as it is published for DNS providers. */
const TEMPLATE_FILE = new URL('../../deploy/domain-connect/picket.example.statuspage.json', import.meta.url)
const ZONE = 'acme.com'

type TemplateRecord = { type: 'CNAME' | 'TXT'; host: string; pointsTo?: string; data?: string }

type DomainProvider = {
  /** the address of the DNS server */
  nameserver: string
  /** the records of the zone `acme.com`, which tests change */
  zone: Answer[]
  https: { port: number; trust: string[] }
}

type ProviderOptions = {
  /** the domain of the customer, in `acme.com` */
  domain: string
  /** the host to which custom domains point */
  target: string
  /** verifies the signature of an address of Domain Connect */
  publicKey: KeyObject
  /** whether the reverse proxy may obtain a certificate for a name */
  mayIssue(name: string): Promise<boolean>
}

/**
 * A DNS provider with Domain Connect, which sets the records of the template after a person agreed, and the reverse proxy in
 * front of custom domains, which obtains their certificates on demand: a real DNS server and a real HTTPS server.
 */
export async function startDomainProvider(t: Teardown, options: ProviderOptions): Promise<DomainProvider> {
  const authority = createAuthority(t)
  const certificate = createSecureContext(authority.issue(options.domain, -1, 9))
  const zone: Answer[] = [
    { type: 'NS', name: ZONE, data: 'ns1.dns.example' },
    { type: 'A', name: options.target, data: '127.0.0.1' },
  ]
  const SNICallback = (name: string, done: (error: Error | null, context?: typeof certificate) => void) => {
    const answer = (isAllowed: boolean) =>
      isAllowed && name === options.domain ? done(null, certificate) : done(new Error('no certificate'))
    options.mayIssue(name).then(answer, done)
  }
  const server = createServer({ ...authority.issue('127.0.0.1', -1, 9), SNICallback }, (request, response) =>
    answerRequest(request, response, { ...options, zone, origin: `127.0.0.1:${port}` }),
  )
  server.on('tlsClientError', () => {})
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  zone.push({ type: 'TXT', name: `_domainconnect.${ZONE}`, data: `127.0.0.1:${port}/api` })
  const dns = await startDnsServer(t, zone)
  return { nameserver: `127.0.0.1:${dns.port}`, zone, https: { port, trust: [authority.ca] } }
}

type ProviderState = ProviderOptions & { zone: Answer[]; origin: string }

function answerRequest(request: IncomingMessage, response: ServerResponse, state: ProviderState): void {
  const { pathname, search } = new URL(request.url!, 'https://127.0.0.1')
  const service = '/v2/domainTemplates/providers/picket.example/services/statuspage'
  if (pathname === `/api/v2/${ZONE}/settings`) {
    const [urlSyncUX, urlAPI] = [`https://${state.origin}/connect`, `https://${state.origin}/api`]
    response.end(JSON.stringify({ providerId: 'dns.example', providerName: 'DNS Example', urlSyncUX, urlAPI }))
  } else if (pathname === `/connect${service}/apply`) answerApply(request, response, search.slice(1), state)
  else response.writeHead(pathname === `/api${service}` ? 200 : 404).end()
}

/** The page on which a person agrees, and what agreeing does. */
function answerApply(request: IncomingMessage, response: ServerResponse, query: string, state: ProviderState): void {
  const values = new URLSearchParams(query)
  const isSigned = createVerify('RSA-SHA256')
    .update(query.replace(/&sig=.*$/, ''))
    .verify(state.publicKey, values.get('sig') ?? '', 'base64')
  response.setHeader('content-type', 'text/html; charset=utf-8')
  if (!isSigned) return void response.writeHead(400).end('The signature is wrong.')
  if (request.method === 'POST') {
    // a resolver follows the CNAME
    state.zone.push(...listTemplateRecords(values), { type: 'A', name: state.domain, data: '127.0.0.1' })
    return void response.end('The records are set.')
  }
  return void response.end('<!doctype html><title>DNS</title><form method="post"><button>Agree</button></form>')
}

/** The records of the published template with the values of an address. */
function listTemplateRecords(values: URLSearchParams): Answer[] {
  const { records } = JSON.parse(readFileSync(TEMPLATE_FILE, 'utf8')) as { records: TemplateRecord[] }
  const base = [values.get('host'), values.get('domain')].filter(Boolean).join('.')
  return records.map(({ type, host, pointsTo, data }) => ({
    type,
    name: host === '@' ? base : `${host}.${base}`,
    data: (pointsTo ?? data!).replace(/%(\w+)%/g, (_, name: string) => values.get(name) ?? ''),
  })) as Answer[]
}
