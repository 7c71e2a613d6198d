import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createAuthority } from '../support/certificates.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { assignment, checkSpec, startFleetServer } from '../support/fleet-server.ts'
import { startNats } from '../support/nats.ts'
import { startProbe } from '../support/probe.ts'
import { startProgram } from '../support/processes.ts'
import { collectResults } from '../support/result-collector.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

/** A check of a target each second, by a probe that gets this list of servers. */
async function startChecks(natsUrl: string, env: Record<string, string> = {}) {
  const target = await startTarget(t)
  const fleet = await startFleetServer(t, { natsUrl })
  const probe = startProbe(t, fleet.url, env)
  await fleet.assign({ upserts: [assignment('m1', checkSpec(target.url), { intervalS: 1 })] })
  return probe
}

t.test('A probe uses each server of a list: when one stops, results go to the other', async t => {
  const servers = await Promise.all(
    [1, 2].map(async () => {
      const nats = await startNats(t)
      const collector = await collectResults(t, nats.url)
      return { nats, count: async () => (await collector.results()).length }
    }),
  )
  const probe = await startChecks(servers.map(({ nats }) => nats.url).join(','))
  const hasMore = async ({ count }: (typeof servers)[number], than: number) => (await count()) > than
  const used = await waitFor(
    async () => {
      for (const server of servers) if (await hasMore(server, 0)) return server
      return null
    },
    { label: 'a result' },
  )
  const other = servers.find(server => server !== used)!
  t.equal(await other.count(), 0, 'one server is used at a time')

  await used.nats.stop()
  await waitFor(() => hasMore(other, 2), { label: 'results at the other server' })
  await used.nats.restart()
  const before = await waitFor(() => used.count(), { label: 'the results that were stored before' })
  await other.nats.stop()
  await waitFor(() => hasMore(used, before + 2), { label: 'results at the first server' })
  t.equal(probe.lines.filter(({ event }) => event === 'nats_away').length, 2)
})

t.test('A probe that starts while a server of the list is stopped uses the other one', async t => {
  const nats = await startNats(t)
  const collector = await collectResults(t, nats.url)
  await startChecks(`${nats.url},nats://127.0.0.1:1`)
  await collector.atLeast(1, 'm1')
})

const ENV = {
  DATABASE_URL: (await createDatabase(t)).url,
  CLICKHOUSE_URL: (await createClickhouseDatabase(t)).url,
  SECRET_KEY: randomBytes(32).toString('base64'),
  PORT: '0',
  OPERATOR_PORT: '0',
  GRPC_PORT: '0',
}
const controlPlane = (env: Record<string, string>) =>
  startProgram(t, { program: 'dist/control-plane.js', env: { ...ENV, ...env } })
const PLAIN = /does not offer TLS, which tls:\/\/ requires; configure TLS on it, or use nats:\/\//

t.test('A server without TLS is refused at tls://, and works at nats://', async t => {
  const nats = await startNats(t)
  const collector = await collectResults(t, nats.url)
  const secure = nats.url.replace('nats://', 'tls://')
  const probe = await startChecks(secure)
  t.match(await probe.untilEvent('nats_unreachable'), { err: { message: PLAIN } })

  const refused = controlPlane({ NATS_URL: secure })
  t.equal(await refused.exited, 1)
  t.match(refused.lines, [{ text: PLAIN }])
  t.match(refused.lines[0]!.text, /^NATS at 127\.0\.0\.1:\d+ \(NATS_URL\) cannot be used/)

  const accepted = controlPlane({ NATS_URL: nats.url })
  await accepted.untilEvent('ready')
  t.equal(await accepted.stop(), 0)
  t.same(await collector.results(), [], 'nothing was sent in plain text')
})

t.test('A server with TLS is used at tls://, by its name', async t => {
  const authority = createAuthority(t)
  const folder = mkdtempSync(join(tmpdir(), 'picket-ca-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const NODE_EXTRA_CA_CERTS = join(folder, 'ca.crt')
  writeFileSync(NODE_EXTRA_CA_CERTS, authority.ca)
  const nats = await startNats(t, null, authority.issue('localhost', -1, 9))
  const url = `tls://localhost:${new URL(nats.url).port}`
  const accepted = controlPlane({ NATS_URL: url, NODE_EXTRA_CA_CERTS })
  await accepted.untilEvent('ready')
  const probe = await startChecks(url, { NODE_EXTRA_CA_CERTS })
  await probe.untilEvent('nats_connected')
  t.equal(await accepted.stop(), 0)

  const stranger = await startChecks(url)
  const { err } = await stranger.untilEvent('nats_unreachable')
  t.match(err.message, /certificate/, 'a certificate of an unknown authority is refused')
})

t.test('A list that is not accepted ends the start with one sentence', async t => {
  const rows: [Record<string, string>, RegExp][] = [
    [{ NATS_URL: 'nats://127.0.0.1:4222,' }, /^NATS_URL: server 2 of 2 is empty; accepted are nats:\/\/host:4222/],
    [
      { NATS_URL: 'nats://127.0.0.1', PROBE_NATS_URL: 'nats://127.0.0.1,http://hunter2@b' },
      /^PROBE_NATS_URL: server 2 of 2 does not begin with nats:\/\/ or tls:\/\/; accepted are/,
    ],
  ]
  for (const [env, sentence] of rows) {
    const program = controlPlane(env)
    t.equal(await program.exited, 1)
    t.equal(program.lines.length, 1)
    t.match(program.lines[0]!.text, sentence)
    t.notMatch(program.lines[0]!.text, 'hunter2')
  }
})
