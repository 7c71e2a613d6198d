import { randomUUID } from 'node:crypto'
import t from 'tap'
import { httpGet } from '../../control-plane/foundation/platform/network/http-client.ts'
import { requestDocument } from '../../control-plane/integrations/data-sources/fetching/http-reader.ts'
import { runCheck } from '../../probe-agent/execution/run-check.ts'
import { createEgress, createResolver } from '../../shared/egress/index.ts'
import type { Egress } from '../../shared/egress/types.ts'
import { startApi } from '../support/api-server.ts'
import { forEachRow } from '../support/for-each-row.ts'
import {
  INNER_LITERALS,
  INNER_NAMES,
  NO_WEB_ADDRESSES,
  startForbiddenPlace,
  startInnerNames,
} from '../support/hostile-addresses.ts'
import { createCheckSpec } from '../support/spec.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

// The target of names and redirects is known only at connect.

const dns = await startInnerNames(t)
const forbidden = await startForbiddenPlace(t)
const { port } = forbidden
const EVERY_HOST = [...INNER_LITERALS, ...INNER_NAMES]
const servers = [`127.0.0.1:${dns.port}`]
const resolver = createResolver({ servers })

/** As in production: no internal address is allowed. */
const strict = createEgress({ allow: [], resolver })
/** As under `npm start`: this machine is allowed, except components of the installation. */
const local = createEgress({ allow: ['127.0.0.0/8', '::1/128'], deny: [`127.0.0.1:${port}`], resolver })
/** node writes headers as Latin-1; this makes the bytes UTF-8. */
const inBytes = (text: string) => Buffer.from(text).toString('latin1')
const GUARDS: Record<string, Egress> = { 'with nothing allowed': strict, 'with this machine allowed': local }

/** What a request to an inner place comes to: never a status, a time-out or a refusal of the connection. */
const REFUSED = { error: { code: 'blocked_target', message: /cannot be a target/ } }

for (const [which, egress] of Object.entries(GUARDS)) {
  t.test(`A probe ${which} sends nothing to an internal address with any type of check and any spelling`, async t => {
    const rows = EVERY_HOST.flatMap(host => [
      createCheckSpec({ type: 'http', url: `http://${host}:${port}/` }),
      createCheckSpec({ type: 'keyword', url: `https://${host}:${port}/`, keyword: 'ok' }),
      createCheckSpec({ type: 'tcp', url: `${host}:${port}` }),
      createCheckSpec({ type: 'dns', url: `dns://${host}:${port}/example.com` }),
      // a ping has no port
      ...(egress === strict ? [createCheckSpec({ type: 'ping', url: host })] : []),
    ])
    for (const spec of rows) {
      const { observation } = await runCheck(spec, egress)
      t.match({ error: observation.error }, REFUSED, `${spec.type} ${spec.url}: ${observation.error?.message}`)
    }
    t.same(forbidden.touched, [])
  })
}

t.test('No redirect leads to an internal address or another scheme', async t => {
  const target = await startTarget(t)
  const rows: [to: string, code: string][] = [
    ...EVERY_HOST.map((host): [string, string] => [`http://${host}:${port}/`, 'blocked_target']),
    ...EVERY_HOST.map((host): [string, string] => [`//${host}:${port}/`, 'blocked_target']),
    ...[
      'file:///etc/passwd',
      `ftp://127.0.0.1:${port}/`,
      `gopher://127.0.0.1:${port}/_x`,
      'javascript:1',
      'data:,x',
    ].map((to): [string, string] => [to, 'invalid_redirect']),
    [`http://user:pass@127.0.0.1:${port}/`, 'blocked_target'],
    [`http://example.com@127.0.0.1:${port}/`, 'blocked_target'],
    [`http://127.0.0.1:${port}\\@example.com/`, 'blocked_target'],
  ]
  const headers = { authorization: 'Bearer secret' }
  const limits = { timeoutMs: 60_000, maxAnswerBytes: 1_000 }
  const url = `http://127.0.0.1:${target.port}/`
  for (const status of [301, 302, 303, 307, 308] as const) {
    for (const [to, code] of rows) {
      target.behave({ kind: 'redirect', to: inBytes(to), status })
      const { error } = await httpGet(url, headers, limits, local)
      t.match(error, { code }, `${status} ${to}: ${error?.message}`)
    }
  }
  for (const [to, code] of rows) {
    target.behave({ kind: 'redirect', to: inBytes(to), status: 307 })
    const { observation } = await runCheck(createCheckSpec({ url, method: 'POST', body: 'x' }), local)
    t.match(observation.error, { code }, `check ${to}`)
    const asked = { url, method: 'POST' as const, body: 'x', timeoutMs: 60_000 }
    t.match(await requestDocument(local, asked, headers), { failure: { code } }, `data source ${to}`)
  }
  t.same(forbidden.touched, [])
})

t.test('Texts that are not HTTP URLs cause no request', async t => {
  for (const url of NO_WEB_ADDRESSES(port)) {
    const { observation } = await runCheck(createCheckSpec({ url }), strict)
    t.ok(observation.error, `${url}: ${observation.error?.message}`)
    t.equal(observation.statusCode, null, url)
  }
  t.same(forbidden.touched, [])
})

t.test('A name of an internal address is refused at connect wherever a write accepts it', async t => {
  const env = { ROLES: 'api,deliver,schedule', EGRESS_ALLOW: '', VISITOR_EGRESS_ALLOW: '', NAMESERVERS: servers.join() }
  const api = await startApi(t, { ...env, RATE_LIMIT_PER_MINUTE: '1000000', TESTS_PER_MINUTE: '1000000' })
  const { key } = await api.tenant('business')
  const add = async (path: string, body: object) => {
    const answer = await api.call('POST', path, { key, body })
    t.equal(answer.status, 201, `${path} ${JSON.stringify(body)}: ${JSON.stringify(answer.body)}`)
    return answer.body.data.id as string
  }
  const read = async (path: string) => (await api.call('GET', path, { key })).body.data
  const inside = /address|cannot be a target/

  const ofName = async (name: string) => {
    const url = `https://${name}:${port}/x`
    const channels: [type: string, config: object][] = [
      ['webhook', { url }],
      ['chat_b', { webhook_url: url }],
    ]
    const entries = channels.map(async ([type, config]) => {
      const id = await add('/alerts/channels', { name: 'Hook', type, config })
      const sent = await api.call('POST', `/alerts/channels/${id}/test`, { key })
      const path = `/alerts/log/${sent.body.data.id}`
      const entry = await waitFor(async () => ((await read(path)).status === 'pending' ? null : read(path)))
      t.match(entry, { status: 'failed', attempts: [{ response_code: null, error: inside }] }, `${type} ${name}`)
      t.equal(entry.attempts.length, 1, `${type} ${name}: it is not tried again`)
    })
    const preview = await api.call('POST', '/data-sources/preview', { key, body: { name: 'x', url, fields: [] } })
    t.match(JSON.stringify(preview.body), /blocked_target/, `preview ${name}`)
    const pageId = await add('/status-pages', { name: 'Acme', slug: randomUUID() })
    await api.call('PUT', `/status-pages/${pageId}`, { key, body: { logo_url: url } })
    const feed = { name: 'Acme', status_url: 'https://status.acme.example/', feed_type: 'rss', feed_url: url }
    const dependencyId = await add('/dependencies', feed)
    const page = await waitFor(async () => {
      const found = await read(`/status-pages/${pageId}`)
      return found.logo_problem === null ? null : found
    })
    t.match(page.logo_problem, inside, `logo ${name}`)
    const dependency = await waitFor(async () => {
      const found = await read(`/dependencies/${dependencyId}`)
      return JSON.stringify(found).match(/cannot be a target/) ? found : null
    })
    t.ok(dependency, `feed ${name}`)
    await Promise.all(entries)
  }
  // each name has three requests at a time: none waits for a place of its project
  await forEachRow(INNER_NAMES, 2, ofName)
  t.same(forbidden.touched, [])
})
