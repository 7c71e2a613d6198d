import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createAuthority, type KeyPair } from '../support/certificates.ts'
import { DAY_MS } from '../support/expiry.ts'
import { startPicket } from '../support/picket.ts'
import { startReceiver } from '../support/receiver.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

// takes about 35 s
// these tests mostly wait
t.jobs = 5

const authority = createAuthority(t)
const folder = mkdtempSync(join(tmpdir(), 'authority-'))
t.teardown(() => rmSync(folder, { recursive: true }))
const trusted = join(folder, 'ca.pem')
writeFileSync(trusted, authority.ca)

/** An HTTPS server whose certificate ends this many days from now. */
async function startTlsServer(days: number, certificate = issue(days)) {
  const server = createServer(certificate, (_, response) => response.end('ok'))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const renew = (pair: KeyPair) => server.setSecureContext(pair)
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`, renew }
}
const issue = (days: number) => authority.issue('127.0.0.1', Math.min(-1, days - 1), days)

const [receiver, rdap] = await Promise.all([startReceiver(t), startTarget(t)])
/** whole seconds, as registries publish them */
const inDays = (days: number) => `${new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 19)}.000Z`
const events = [{ eventAction: 'expiration', eventDate: inDays(2.5) }]
rdap.behaveAt('/domain/example.com', { kind: 'answer', body: JSON.stringify({ objectClassName: 'domain', events }) })
const picket = await startPicket(t, {
  regions: ['us-east', 'eu-west'],
  env: { RDAP_BASE_URL: rdap.url, RDAP_BOOTSTRAP_URL: `${rdap.url}dns.json`, WHOIS_SERVER: '127.0.0.1:1' },
  probeEnv: { NODE_EXTRA_CA_CERTS: trusted },
})
await picket.addControlPlane()
await picket.api.post('/alerts/channels', {
  name: 'Ops',
  type: 'webhook',
  config: { url: receiver.url },
  is_default: true,
})

async function createMonitor(body: object): Promise<string> {
  const defaults = { name: 'Shop', type: 'http', regions: ['us-east', 'eu-west'], interval_seconds: 30, retry_count: 0 }
  const answer = await picket.api.post('/monitors', { ...defaults, ...body })
  return answer.body.data.id
}
const monitor = async (id: string) => (await picket.api.get(`/monitors/${id}`)).body.data
const isAbout = (id: string) => (hook: { json: { data: { monitor: { id: string } }; event: string } }) =>
  hook.json.data.monitor.id === id && hook.json.event.endsWith('expiry')

t.test(
  'A certificate that ends soon is reported once, from the checks of the probe, while the monitor stays up',
  { buffered: true },
  async t => {
    const server = await startTlsServer(10)
    const id = await createMonitor({ url: server.url, ssl_check: true })
    const [hook] = await receiver.waitFor(1, { match: isAbout(id) })
    t.match(hook?.json, {
      api_version: '1',
      event: 'monitor.ssl_expiry',
      data: {
        monitor: { id, name: 'Shop', type: 'http' },
        check: { status_code: Number, response_time_ms: Number, error: '' },
        ssl_expiry_days: 10,
        domain_expiry_days: null,
        down_duration: null,
        incident: null,
      },
    })
    await waitFor(async () => (await monitor(id)).status === 'up', { label: 'up' })
    t.ok(Math.abs(Date.parse((await monitor(id)).ssl_expires_at) - Date.now() - 10 * DAY_MS) < DAY_MS / 24)

    server.renew(issue(80))
    await picket.api.put(`/monitors/${id}`, { timeout_ms: 9_000 })
    const isRenewed = async () => Date.parse((await monitor(id)).ssl_expires_at) > Date.now() + 70 * DAY_MS
    await waitFor(isRenewed, { label: 'the renewed certificate' })
    server.renew(issue(6))
    await picket.api.put(`/monitors/${id}`, { timeout_ms: 8_000 })
    const hooks = await receiver.waitFor(2, { match: isAbout(id) })
    t.same(
      hooks.map(({ json }) => json.data.ssl_expiry_days),
      [10, 6],
      'the new certificate is reported again',
    )
  },
)

t.test('An expired certificate makes the monitor down and is reported as well', { buffered: true }, async t => {
  const id = await createMonitor({ url: (await startTlsServer(-3)).url, ssl_check: true })
  const [hook] = await receiver.waitFor(1, { match: isAbout(id) })
  t.match(hook?.json, { event: 'monitor.ssl_expiry', data: { ssl_expiry_days: -3 } })
  await waitFor(async () => (await monitor(id)).status === 'down', { label: 'down' })
})

t.test('A certificate that TLS refuses is reported when two regions see it, not one', { buffered: true }, async t => {
  const { url } = await startTlsServer(9, authority.selfSigned('localhost'))
  const one = await createMonitor({ url, ssl_check: true, regions: ['us-east'] })
  await waitFor(async () => (await monitor(one)).status === 'down', { label: 'down' })
  const both = await createMonitor({ url, ssl_check: true })
  const [hook] = await receiver.waitFor(1, { match: isAbout(both) })
  t.match(hook?.json, { event: 'monitor.ssl_expiry', data: { ssl_expiry_days: 9 } })
  t.equal((await monitor(one)).ssl_expires_at, null)
  t.same(receiver.received.filter(isAbout(one)), [])
})

t.test('No warning is sent without ssl_check, or far from the end', { buffered: true }, async t => {
  const off = await createMonitor({ url: (await startTlsServer(5)).url })
  const far = await createMonitor({ url: (await startTlsServer(60)).url, ssl_check: true })
  await waitFor(async () => (await monitor(far)).ssl_expires_at, { label: 'the far certificate' })
  await waitFor(async () => (await monitor(off)).status === 'up', { label: 'up' })
  t.equal((await monitor(off)).ssl_expires_at, null)
  t.same(
    receiver.received.filter(hook => isAbout(off)(hook) || isAbout(far)(hook)),
    [],
  )
})

t.test('A domain that ends soon is reported once for each monitor, from one look-up', { buffered: true }, async t => {
  const ids = await Promise.all(
    ['a', 'b'].map(name => createMonitor({ url: `https://${name}.example.com/`, domain_check: true })),
  )
  for (const id of ids) {
    const [hook] = await receiver.waitFor(1, { match: isAbout(id) })
    t.match(hook?.json, { event: 'monitor.domain_expiry', data: { ssl_expiry_days: null, domain_expiry_days: 3 } })
    t.equal((await monitor(id)).domain_expires_at, events[0]?.eventDate)
  }
  t.equal(rdap.requests.filter(({ path }) => path === '/domain/example.com').length, 1)
  t.equal(receiver.received.filter(hook => ids.some(id => isAbout(id)(hook))).length, 2)
})

t.test('npm run admin -- rdap refresh fetches the list of RDAP services', { buffered: true }, async t => {
  const services = [[['test', 'example'], ['https://rdap.test/']]]
  rdap.behaveAt('/dns.json', { kind: 'answer', body: JSON.stringify({ services }) })
  t.equal(await picket.admin('rdap', 'refresh'), 'the RDAP services of 2 top-level domains were stored')
  rdap.behaveAt('/dns.json', { kind: 'answer', status: 404 })
  await t.rejects(picket.admin('rdap', 'refresh'), /dns\.json cannot be fetched: status 404/)
})
