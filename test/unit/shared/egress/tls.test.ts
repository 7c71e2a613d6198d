import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { toCertificate, toCertificateChain } from '../../../../shared/checks/certificate.ts'
import { FailureSource } from '../../../../shared/checks/result.ts'
import { createDeadline, createEgress, sendRequest } from '../../../../shared/egress/index.ts'
import { createAuthority, type KeyPair } from '../../../support/certificates.ts'
import { startFixedResponse } from '../../../support/raw-server.ts'
import { startTarget } from '../../../support/target.ts'
import type { Teardown } from '../../../support/teardown.ts'
import { waitFor } from '../../../support/wait.ts'

const authority = createAuthority(t)
const resolver = async () => ['127.0.0.1']
const trusting = createEgress({ allow: ['127.0.0.1'], resolver, trust: [authority.ca] })
const plain = createEgress({ allow: ['127.0.0.1'], resolver })

async function serve(t: Teardown, pair: KeyPair, requests: string[] = [], location?: string): Promise<number> {
  const server = createServer(pair, (incoming, response) => {
    requests.push(`${incoming.headers.authorization}`)
    if (location !== undefined) response.writeHead(302, { location })
    response.end('secret garden')
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

async function ask(url: string, egress = trusting) {
  const deadline = createDeadline(60_000)
  const parts = { method: 'GET', headers: { Authorization: 'Bearer s' }, body: null }
  const options = { signal: deadline.signal, maxBodyBytes: 1000, followRedirects: true }
  const answer = await sendRequest({ url, ...parts, ...options }, egress)
  deadline.clear()
  return answer
}

t.test('A valid certificate is returned, and the handshake is measured', async t => {
  const pair = authority.issue('good.example', -1, 30)
  const answer = await ask(`https://good.example:${await serve(t, pair)}/`)
  t.match(answer, {
    error: null,
    statusCode: 200,
    resolvedIp: '127.0.0.1',
    certificate: { subject: 'CN=good.example' },
  })
  t.match(answer.certificate?.issuer, 'CN=Test authority')
  t.equal(answer.certificate!.validTo, new X509Certificate(pair.cert).validTo)
  t.ok(answer.timings.tlsUs > 0)
  t.equal(
    Object.values(answer.timings).reduce((a, b) => a + b, 0),
    answer.totalUs,
  )
})

t.test('After redirects the response also has the certificate of the first target with TLS', async t => {
  const last = await serve(t, authority.issue('last.example', -1, 30))
  const first = await serve(t, authority.issue('first.example', -1, 30), [], `https://last.example:${last}/`)
  const expected = { certificate: { subject: 'CN=last.example' }, firstCertificate: { subject: 'CN=first.example' } }
  t.match(await ask(`https://first.example:${first}/`), { error: null, redirects: 1, ...expected })
  const plainTarget = await startTarget(t)
  plainTarget.behave({ kind: 'redirect', to: `https://first.example:${first}/` })
  t.match(await ask(plainTarget.url), { error: null, redirects: 2, ...expected })
  t.match(await ask(`https://last.example:${last}/`), { firstCertificate: { subject: 'CN=last.example' } })
})

t.test('No connection remains open, with a valid or an invalid certificate', async t => {
  for (const name of ['good.example', 'other.example']) {
    const port = await serve(t, authority.issue(name, -1, 30))
    await ask(`https://good.example:${port}/`)
    await waitFor(() => !process.getActiveResourcesInfo().some(kind => /TCPSocket|TLSWrap/.test(kind)), {
      label: 'no socket',
    })
  }
})

t.test('A certificate for an address is valid for that address', async t => {
  const port = await serve(t, authority.issue('127.0.0.1', -1, 30))
  t.match(await ask(`https://127.0.0.1:${port}/`), { error: null, statusCode: 200 })
})

type Bad = [what: string, make: () => KeyPair, message: string]
const bad: Bad[] = [
  ['has expired', () => authority.issue('shop.example', -30, -2), 'the certificate has expired'],
  ['is not valid yet', () => authority.issue('shop.example', 2, 30), 'the certificate is not valid yet'],
  ['is self-signed', () => authority.selfSigned('shop.example'), 'the certificate is self-signed'],
  ['is for another host', () => authority.issue('other.example', -1, 30), 'the certificate is for another host'],
]

for (const [what, make, message] of bad) {
  t.test(`A certificate that ${what} fails before anything is sent, and is returned`, async t => {
    const requests: string[] = []
    const port = await serve(t, make(), requests)
    const answer = await ask(`https://shop.example:${port}/`)
    t.match(answer, {
      error: { code: 'tls_error', source: FailureSource.TARGET, message },
      statusCode: null,
      body: null,
    })
    t.ok(toCertificate(answer.certificate!).validToMs > 0)
    t.same(requests, [], 'no credentials are sent to a server with a wrong certificate')
  })
}

t.test('A long chain is valid and returned completely, with dates, names and fingerprints', async t => {
  const port = await serve(t, authority.issueLong('long.example', 4))
  const answer = await ask(`https://long.example:${port}/`)
  t.equal(answer.error, null)
  const chain = toCertificateChain(answer.certificate!)
  const between = [4, 3, 2, 1].map(number => `CN=Between ${number}`)
  t.same(
    chain.slice(0, 5).map(({ subject }) => subject),
    ['CN=long.example', ...between],
  )
  t.match(chain[0], { issuer: 'CN=Between 4', names: ['long.example'], fingerprint: /^[0-9a-f]{64}$/ })
  t.equal(Math.round((chain[0]!.validToMs - chain[0]!.validFromMs) / 86_400_000), 9)
  t.same(chain[1]!.names, [])
  const distrusted = await ask(`https://long.example:${port}/`, plain)
  t.match(distrusted.error, { code: 'tls_error' })
  t.equal(toCertificateChain(distrusted.certificate!).length, 5, 'also when it is not trusted')
})

t.test('An untrusted authority is an error', async t => {
  const port = await serve(t, authority.issue('good.example', -1, 30))
  t.match((await ask(`https://good.example:${port}/`, plain)).error, {
    code: 'tls_error',
    source: FailureSource.TARGET,
  })
})

t.test('a server that does not speak TLS fails the check', async t => {
  const port = await startFixedResponse(t, 'HTTP/1.1 400 Bad Request\r\n\r\n')
  t.match((await ask(`https://good.example:${port}/`)).error, { code: 'tls_error', source: FailureSource.TARGET })
  const silent = await startFixedResponse(t, '')
  t.match((await ask(`https://good.example:${silent}/`)).error, { code: 'connection_reset', message: /closed/ })
})
