import { createVerify, generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import {
  exportPublicKey,
  parseRsaPrivateKey,
  signRsaSha256,
} from '../../../control-plane/foundation/platform/crypto/rsa.ts'
import { buildAnalysis } from '../../../control-plane/pages/custom-domains/analysis.ts'
import { findProvider } from '../../../control-plane/pages/custom-domains/dns-providers.ts'
import {
  buildApplyQuery,
  buildLaunchUrl,
  buildSettingsUrl,
  parseConnectSettings,
} from '../../../control-plane/pages/custom-domains/domain-connect.ts'
import { listZoneCandidates, parseCustomDomain } from '../../../control-plane/pages/custom-domains/hostname.ts'
import type { ConnectProvider, DnsFacts } from '../../../control-plane/pages/custom-domains/types.ts'

const own = ['picket.example', 'pages.picket.example']

t.test('A custom domain is normalized, and only names below a public suffix are accepted', async t => {
  const good: [string, string][] = [
    ['status.acme.com', 'status.acme.com'],
    [' Status.ACME.com. ', 'status.acme.com'],
    ['acme.co.uk', 'acme.co.uk'],
    ['status.bücher.de', 'status.xn--bcher-kva.de'],
    ['a.b.c.acme.com', 'a.b.c.acme.com'],
  ]
  for (const [text, domain] of good) t.same(parseCustomDomain(text, own), { domain }, text)
  const bad = [
    '',
    'acme',
    'com',
    'co.uk',
    'localhost',
    '127.0.0.1',
    '0x7f.1',
    '[::1]',
    'https://acme.com',
    'acme.com/x',
    'acme.com:443',
    '*.acme.com',
    '_x.acme.com',
    '-a.acme.com',
    'a b.com',
    'picket.example',
    'evil.picket.example',
    `${'a'.repeat(64)}.acme.com`,
  ]
  for (const text of bad) t.match(parseCustomDomain(text, own), { problem: /domain|service|name/ }, text)
})

t.test('The zone of a domain is looked for from the domain down to the registered domain', async t => {
  t.same(listZoneCandidates('status.eu.acme.co.uk'), ['status.eu.acme.co.uk', 'eu.acme.co.uk', 'acme.co.uk'])
  t.same(listZoneCandidates('acme.com'), ['acme.com'])
})

t.test('DNS providers are recognized by the names of their servers', async t => {
  t.equal(findProvider(['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com'])?.id, 'cloudflare')
  t.equal(findProvider(['ns-12.awsdns-01.co.uk'])?.id, 'route53')
  t.equal(findProvider(['ns1.evilcloudflare.com']), null)
  t.equal(findProvider([]), null)
})

const wanted = { domain: 'status.acme.com', target: 'pages.picket.example', challenge: 'picket-verify=abc' }
const nothing: DnsFacts = {
  zone: { name: 'acme.com', nameservers: ['ns1.domaincontrol.com'] },
  cname: null,
  addresses: [],
  targetAddresses: ['192.0.2.7'],
  texts: [],
  faults: [],
}
const unseen = { connectable: null, certificate: null, template: null }

t.test('The analysis of a domain without records lists what to add and where', async t => {
  const analysis = buildAnalysis(wanted, nothing, unseen)
  t.equal(analysis.verified, false)
  t.same(
    analysis.records.map(({ type, name, value, ok }) => [type, name, value, ok]),
    [
      ['CNAME', 'status.acme.com', 'pages.picket.example', false],
      ['TXT', '_picket-challenge.status.acme.com', 'picket-verify=abc', false],
    ],
  )
  t.equal(analysis.dns_provider.name, 'GoDaddy')
  t.equal(analysis.ssl.status, 'none')
  t.match(analysis.instructions.join('\n'), /At GoDaddy, add a CNAME record status\.acme\.com that points to pages/)
  t.match(analysis.instructions.join('\n'), /TXT record _picket-challenge\.status\.acme\.com with the value picket-ver/)
})

t.test('A domain that points here is not verified until the TXT record proves ownership', async t => {
  const pointing = { ...nothing, cname: 'pages.picket.example' }
  t.equal(buildAnalysis(wanted, pointing, unseen).verified, false)
  t.equal(buildAnalysis(wanted, { ...pointing, texts: ['other', 'picket-verify=abc'] }, unseen).verified, true)
  t.equal(buildAnalysis(wanted, { ...nothing, texts: ['picket-verify=abc'] }, unseen).verified, false)
})

t.test('At the top of a zone the addresses of the target are accepted', async t => {
  const apex = { ...wanted, domain: 'acme.com' }
  const facts = { ...nothing, texts: ['picket-verify=abc'] }
  t.equal(buildAnalysis(apex, facts, unseen).records[0]?.type, 'ALIAS')
  t.equal(buildAnalysis(apex, { ...facts, addresses: ['192.0.2.7'] }, unseen).verified, true)
  t.equal(buildAnalysis(apex, { ...facts, addresses: ['192.0.2.7', '198.51.100.1'] }, unseen).verified, false)
})

t.test('The certificate counts only when the domain points here', async t => {
  const ready = { ...nothing, cname: wanted.target, texts: [wanted.challenge] }
  const expiresAt = new Date('2027-01-01')
  const trusted = { isTrusted: true, issuer: 'Test', expiresAt }
  const getSslStatus = (facts: DnsFacts, certificate: typeof trusted | null) =>
    buildAnalysis(wanted, facts, { ...unseen, certificate }).ssl.status
  t.equal(getSslStatus(nothing, trusted), 'none')
  t.equal(getSslStatus(ready, null), 'pending')
  t.equal(getSslStatus(ready, trusted), 'active')
  t.equal(getSslStatus(ready, { ...trusted, isTrusted: false }), 'error')
  const joinInstructions = (certificate: typeof trusted | null) =>
    buildAnalysis(wanted, ready, { ...unseen, certificate }).instructions.join()
  t.match(joinInstructions(null), 'is issued when the published page is opened')
  t.match(joinInstructions(trusted), 'the certificate is valid')
  t.match(joinInstructions({ ...trusted, isTrusted: false }), 'is not trusted')
})

const settings = {
  providerId: 'dns.example',
  providerName: 'DNS Example',
  urlSyncUX: 'https://connect.dns.example/',
  urlAPI: 'https://api.dns.example',
}

t.test('Domain Connect is available only when the provider has the template', async t => {
  const connectable: ConnectProvider = { settings: parseConnectSettings(settings)!, hasTemplate: true }
  const template = 'picket.example/statuspage'
  const seen = buildAnalysis(wanted, nothing, { ...unseen, connectable, template }).domain_connect
  t.same(seen, { available: true, provider_id: 'dns.example', template })
  const without = { connectable: { ...connectable, hasTemplate: false }, certificate: null, template }
  t.equal(buildAnalysis(wanted, nothing, without).domain_connect.available, false)
  t.equal(buildAnalysis(wanted, nothing, { ...unseen, connectable }).domain_connect.available, false)
  const apex = buildAnalysis({ ...wanted, domain: 'acme.com' }, nothing, { ...unseen, connectable, template })
  t.same(apex.domain_connect, { available: false, provider_id: 'dns.example', template: null }, 'the top of a zone')
})

t.test('Settings of a provider with addresses other than https are refused', async t => {
  t.equal(buildSettingsUrl('api.dns.example/v1/dc', 'acme.com'), 'https://api.dns.example/v1/dc/v2/acme.com/settings')
  for (const text of ['', 'a b', 'user@evil.example', 'host?x=', 'host#x', '..\\x']) {
    t.equal(buildSettingsUrl(text, 'acme.com'), null, text)
  }
  t.same(parseConnectSettings(settings)?.urlSyncUx, 'https://connect.dns.example')
  t.equal(parseConnectSettings({ ...settings, urlSyncUX: 'http://connect.dns.example' })?.urlSyncUx, null)
  for (const broken of [null, 7, {}, { ...settings, urlAPI: 'javascript:alert(1)' }, { ...settings, urlAPI: 1 }]) {
    t.equal(parseConnectSettings(broken), null)
  }
})

t.test('The launch URL is signed over the encoded query without sig and key', async t => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = parseRsaPrivateKey(pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())!
  const query = buildApplyQuery({ zone: 'acme.com', ...wanted })
  const signature = signRsaSha256(query, key)
  const template = { providerId: 'picket.example', serviceId: 'statuspage' }
  const url = buildLaunchUrl('https://connect.dns.example', template, query, { signature, keyHost: '_dck1' })

  // verification by the provider: everything after the ? except sig and key, with the key from DNS
  const parts = url.slice(url.indexOf('?') + 1).split('&')
  const signed = parts.filter(part => !/^(sig|key)=/.test(part)).join('&')
  const sig = decodeURIComponent(parts.find(part => part.startsWith('sig='))!.slice(4))
  const pem = `-----BEGIN PUBLIC KEY-----\n${exportPublicKey(key)}\n-----END PUBLIC KEY-----`
  t.ok(createVerify('RSA-SHA256').update(signed).verify(pem, sig, 'base64'))
  t.notOk(createVerify('RSA-SHA256').update(`${signed}x`).verify(pem, sig, 'base64'))
  t.equal(
    url.slice(0, url.indexOf('?')),
    'https://connect.dns.example/v2/domainTemplates/providers/picket.example/services/statuspage/apply',
  )
  const { searchParams } = new URL(url)
  t.equal(searchParams.get('domain'), 'acme.com')
  t.equal(searchParams.get('host'), 'status')
  t.equal(searchParams.get('target'), wanted.target)
  t.equal(searchParams.get('challenge'), wanted.challenge)
  t.equal(searchParams.get('key'), '_dck1')
  t.notMatch(buildApplyQuery({ zone: 'acme.com', ...wanted, domain: 'acme.com' }), /host=/)
})

t.test('Only an RSA key is accepted for signatures', async t => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
  t.equal(parseRsaPrivateKey(ec.export({ type: 'pkcs8', format: 'pem' }).toString()), null)
  t.equal(parseRsaPrivateKey('nonsense'), null)
})
