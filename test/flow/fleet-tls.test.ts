import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createAuthority, type KeyPair } from '../support/certificates.ts'
import { all, connectProbe, createTestFleet, PATIENT } from '../support/fleet.ts'
import { startProbe } from '../support/probe.ts'
import { insertMonitor } from '../support/verdict.ts'

// takes about 8 s

const authority = createAuthority(t)
const stranger = createAuthority(t)
const fleet = await createTestFleet(t)
const folder = t.testdir({})

/** Writes a file and returns its path. */
function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const toTls = ({ key, cert }: KeyPair, clientCa: string | null) => ({
  key: Buffer.from(key),
  cert: Buffer.from(cert),
  clientCa: clientCa === null ? null : Buffer.from(clientCa),
})
const server = authority.issue('127.0.0.1', -1, 1)

t.test('A probe connects only to a control plane whose certificate it can verify', async t => {
  const { port } = await fleet.start(PATIENT, toTls(server, null))
  const token = await fleet.token()
  const run = (env: Record<string, string>) =>
    startProbe(t, `127.0.0.1:${port}`, { PROBE_TOKEN: token, PROBE_NAME: Object.keys(env).join(), ...env })
  const [right, wrong, none, plain] = [
    run({ FLEET_TLS_CA: file('ca.pem', authority.ca) }),
    run({ FLEET_TLS_CA: file('stranger.pem', stranger.ca) }),
    run({ FLEET_TLS: 'on' }),
    run({}),
  ]
  await right.untilEvent('connected')
  for (const probe of [wrong, none, plain]) {
    await probe.untilEvent('disconnected')
    t.notOk(probe.lines.some(line => line.event === 'connected'))
  }
  t.match(
    wrong.lines.find(line => line.event === 'disconnected'),
    { reason: /certificate/ },
  )
})

t.test('With a client authority, a probe without a client certificate is refused', async t => {
  const { port } = await fleet.start(PATIENT, toTls(server, authority.ca))
  const env = { PROBE_TOKEN: await fleet.token(), FLEET_TLS_CA: file('ca.pem', authority.ca) }
  const withPair = (name: string, { key, cert }: KeyPair) => ({
    ...env,
    PROBE_NAME: name,
    FLEET_TLS_CERT: file(`${name}.crt`, cert),
    FLEET_TLS_KEY: file(`${name}.key`, key),
  })
  const right = startProbe(t, `127.0.0.1:${port}`, withPair('right', authority.issue('probe', -1, 1)))
  const others = [
    startProbe(t, `127.0.0.1:${port}`, env),
    startProbe(t, `127.0.0.1:${port}`, withPair('wrong', stranger.issue('probe', -1, 1))),
  ]
  await right.untilEvent('connected')
  for (const probe of others) {
    await probe.untilEvent('disconnected')
    t.notOk(probe.lines.some(line => line.event === 'connected'))
  }
})

t.test('A probe receives only the secrets of the monitors that it checks', async t => {
  const ids: string[] = []
  for (let i = 0; i < 20; i++) {
    const id = await insertMonitor(fleet.db, fleet.projectId, { regions: i < 18 ? ['eu-west'] : ['us-east'] })
    await execute(fleet.db, 'UPDATE monitors SET url = ? WHERE id = ?', [`https://shop.example/secret-${id}`, id])
    ids.push(id)
  }
  const { port } = await fleet.start(PATIENT)
  const token = await fleet.token()
  const first = connectProbe(t, port, token, { name: 'first' })
  await first.ready()
  const second = connectProbe(t, port, token, { name: 'second' })
  await second.ready()
  const sentIds = all(second, 'assignments').flatMap(({ upserts }) => upserts.map(({ monitorId }) => monitorId))
  t.ok(sentIds.length > 0 && sentIds.length < 18, `${sentIds.length} of 18 monitors`)
  const everything = JSON.stringify(second.messages)
  for (const id of ids) t.equal(everything.includes(`secret-${id}`), sentIds.includes(id))
  t.notMatch(everything, /postgres(ql)?:\/\/|clickhouse|password/i, 'and no secret of a database')
})

t.test('A probe stores its secret in a private file, and starts with it alone', async t => {
  const { port } = await fleet.start(PATIENT)
  const dataDir = join(folder, 'data')
  const probe = startProbe(t, `127.0.0.1:${port}`, { PROBE_TOKEN: await fleet.token(), DATA_DIR: dataDir })
  const { probe_id: probeId } = await probe.untilEvent('connected')
  t.equal(statSync(join(dataDir, 'credential.json')).mode & 0o777, 0o600)
  const { secret } = JSON.parse(readFileSync(join(dataDir, 'credential.json'), 'utf8'))
  t.notMatch(JSON.stringify(probe.lines), secret.slice(4))
  t.same(readdirSync(dataDir).sort(), ['credential.json', 'spool'])
  await probe.stop()
  probe.start({ PROBE_TOKEN: '' })
  t.equal((await probe.untilEvent('connected')).probe_id, probeId)

  const nothing = startProbe(t, `127.0.0.1:${port}`, { PROBE_TOKEN: '' })
  await nothing.untilEvent('none').catch(() => {})
  t.match(nothing.lines, [{ text: /PROBE_TOKEN is not set, and ".*" does not contain credential.json/ }])
})
