import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { credentials, loadPackageDefinition, type ServiceClientConstructor, status } from '@grpc/grpc-js'
import { service as healthService } from 'grpc-health-check'
import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  createProbeToken,
  revokeProbe,
  revokeProbeToken,
} from '../../control-plane/monitoring/fleet/probes/enrolment-actions.ts'
import { all, connectProbe, createTestFleet, PATIENT } from '../support/fleet.ts'
import { waitFor } from '../support/wait.ts'

const newSecret = () => `prs_${randomBytes(32).toString('base64url')}`

t.test('Probes enrol with a token of their region', async t => {
  const fleet = await createTestFleet(t)
  const { port } = await fleet.start(PATIENT)

  await t.test('A token is created for known regions only, and stored as a hash', async t => {
    const token = await fleet.token('us-east')
    t.match(token, /^prb_[0-9A-Za-z]{36}$/)
    await t.rejects(createProbeToken(fleet.db, 'mars'), {
      message:
        'unknown region "mars"; the regions are us-east, us-west, eu-west, eu-central, ap-southeast, ap-northeast',
    })
    const rows = await query<{ text: string }>(fleet.db, 'SELECT probe_tokens::text AS text FROM probe_tokens')
    t.notOk(rows.some(row => row.text.includes(token)))
  })

  await t.test('A wrong, mistyped or revoked token is refused with the reason', async t => {
    const revoked = await fleet.token()
    await execute(fleet.db, 'UPDATE probe_tokens SET revoked_at = now()')
    const good = await fleet.token()
    const mistyped = good.slice(0, -1) + (good.endsWith('x') ? 'y' : 'x')
    const cases: [string, RegExp][] = [
      ['', /or an enrolment token$/],
      ['hello', /or an enrolment token$/],
      [mistyped, /is malformed/],
      [revoked, /is unknown or was revoked/],
    ]
    for (const [token, reason] of cases) {
      const { code, details } = await connectProbe(t, port, token).ended
      t.equal(code, status.UNAUTHENTICATED)
      t.match(details, reason)
    }
  })

  await t.test('A probe gets its id, the NATS address and the heartbeat interval', async t => {
    const probe = connectProbe(t, port, await fleet.token('us-west'), { name: 'edge-7' })
    await probe.ready()
    const [welcome] = all(probe, 'welcome')
    t.match(welcome, {
      region: 'us-west',
      epoch: (await fleet.epoch('us-west')).epoch,
      heartbeatIntervalMs: 300,
      deadAfterMs: PATIENT.deadAfterMs,
    })
    t.match(welcome?.natsUrl, /^nats:/)
    t.equal(probe.messages[0]?.$case, 'welcome', 'the welcome is the first message')
    const rows = await query(fleet.db, 'SELECT id, region, version FROM probes WHERE name = ?', ['edge-7'])
    t.same(rows, [{ id: welcome?.probeId, region: 'us-west', version: '1.0.0' }])
  })

  await t.test('A heartbeat is answered immediately with the control plane’s time', async t => {
    const startedMs = Date.now()
    const probe = connectProbe(t, port, await fleet.token(), { name: 'clock' })
    await waitFor(() => all(probe, 'heartbeatAck').length >= 3)
    const acks = all(probe, 'heartbeatAck')
    t.same(
      acks.slice(0, 3).map(ack => ack.seq),
      [1, 2, 3],
    )
    const { nowMs } = acks.at(-1)!
    t.ok(startedMs <= nowMs && nowMs <= Date.now())
    await waitFor(async () => {
      const [row] = await query<{ health: { waiting: number } }>(
        fleet.db,
        `SELECT health FROM probes WHERE name = 'clock'`,
      )
      return row?.health?.waiting === 2
    })
  })

  await t.test('A stream without a valid Hello is ended', async t => {
    const { code, details } = await connectProbe(t, port, await fleet.token(), { name: 'two\nlines' }).ended
    t.equal(code, status.INVALID_ARGUMENT)
    t.match(details, /name must be one line/)
  })

  await t.test('A probe that connects twice keeps the newer connection', async t => {
    const token = await fleet.token()
    const older = connectProbe(t, port, token, { name: 'twice' })
    await older.ready()
    const newer = connectProbe(t, port, token, { name: 'twice' })
    t.equal((await older.ended).code, status.ABORTED)
    await newer.ready()
    t.equal(await newer.probeId(), await older.probeId())
    await waitFor(() => all(newer, 'heartbeatAck').length > 10)
  })

  await t.test('A connected probe whose token is revoked is disconnected and loses its work', async t => {
    const token = await fleet.token('ap-southeast')
    const probe = connectProbe(t, port, token)
    await probe.ready()
    t.equal((await fleet.epoch('ap-southeast')).probeIds.length, 1)
    await revokeProbeToken(fleet.db, token)
    t.match(await probe.ended, { code: status.UNAUTHENTICATED, details: 'this probe was revoked' })
    await waitFor(async () => (await fleet.epoch('ap-southeast')).probeIds.length === 0)
  })

  await t.test('A token for one probe admits one, which reconnects with its secret', async t => {
    const token = await createProbeToken(fleet.db, 'us-west')
    const [secret, another] = [newSecret(), newSecret()]
    const probe = connectProbe(t, port, token, { name: 'edge-1', secret })
    const probeId = await probe.probeId()
    probe.cut()
    for (const name of ['edge-1', 'edge-2']) {
      const { code, details } = await connectProbe(t, port, token, { name, secret: another }).ended
      t.match({ code, details }, { code: status.UNAUTHENTICATED, details: /was used by another probe/ })
    }
    // the answer to its first Hello may have been lost
    const again = connectProbe(t, port, token, { name: 'edge-1', secret })
    t.equal(await again.probeId(), probeId)
    again.cut()
    const renamed = connectProbe(t, port, '', { name: 'edge-9', secret })
    t.equal(await renamed.probeId(), probeId, 'its secret is sufficient under any name')
    t.match((await connectProbe(t, port, '', { secret: another }).ended).details, /this probe is unknown/)
    const [row] = await query<{ text: string }>(fleet.db, 'SELECT probes::text AS text FROM probes WHERE id = ?', [
      probeId,
    ])
    t.notOk(row?.text.includes(secret) || row?.text.includes(Buffer.from(secret).toString('hex')), 'stored as a hash')
  })

  await t.test('One of two probes that use a token at the same time is admitted', async t => {
    const token = await createProbeToken(fleet.db, 'us-west')
    const probes = ['a', 'b', 'c', 'd'].map(name => connectProbe(t, port, token, { name, secret: newSecret() }))
    let refused = 0
    for (const { ended } of probes) ended.then(() => refused++)
    const welcomed = () => probes.filter(probe => all(probe, 'welcome').length > 0).length
    await waitFor(() => refused + welcomed() === 4)
    t.equal(welcomed(), 1)
  })

  await t.test('A token for one probe expires after 7 days and is refused without a secret', async t => {
    const token = await createProbeToken(fleet.db, 'us-west')
    t.match((await connectProbe(t, port, token).ended).details, /needs a newer version of the probe/)
    await execute(fleet.db, `UPDATE probe_tokens SET expires_at = expires_at - interval '7 days' WHERE NOT is_reusable`)
    t.match((await connectProbe(t, port, token, { secret: newSecret() }).ended).details, /has expired/)
  })

  await t.test('Probes of a reusable token have their own secrets, and one can be revoked alone', async t => {
    const token = await fleet.token('us-west')
    const [first, second] = ['one', 'two'].map(name => ({ name, secret: newSecret() }))
    const revoked = connectProbe(t, port, token, first)
    const other = connectProbe(t, port, token, second)
    await other.ready()
    await revokeProbe(fleet.db, await revoked.probeId())
    t.match(await revoked.ended, { code: status.UNAUTHENTICATED, details: 'this probe was revoked' })
    t.match((await connectProbe(t, port, token, first).ended).details, /this probe was revoked/)
    const renewed = { name: 'one', secret: newSecret() }
    t.match((await connectProbe(t, port, token, renewed).ended).details, /this probe was revoked/, 'also by its name')
    const acks = all(other, 'heartbeatAck').length
    await waitFor(() => all(other, 'heartbeatAck').length > acks + 3)
  })

  await t.test('The gRPC health service answers', async t => {
    const address = `127.0.0.1:${port}`
    const definition = loadPackageDefinition({ 'grpc.health.v1.Health': healthService })
    // biome-ignore lint/suspicious/noExplicitAny: made at run time
    const Health = (definition.grpc as any).health.v1.Health as ServiceClientConstructor
    const health = new Health(address, credentials.createInsecure())
    const call = (method: string, request: object) =>
      new Promise((resolve, reject) =>
        health[method]?.(request, (error: Error | null, value: unknown) => (error ? reject(error) : resolve(value))),
      )
    const watch = async (service: string) => {
      const stream = health.watch?.({ service })
      stream.on('error', () => {})
      const [first] = await once(stream, 'data')
      stream.cancel()
      return first
    }
    for (const service of ['', 'picket.probe.v1.Fleet']) {
      t.match(await call('check', { service }), { status: 'SERVING' })
      t.match(await watch(service), { status: 'SERVING' })
    }
    await t.rejects(call('check', { service: 'unknown' }), { code: status.NOT_FOUND })
    t.match(await watch('unknown'), { status: 'SERVICE_UNKNOWN' })
    t.match(await call('list', {}), {
      statuses: { '': { status: 'SERVING' }, 'picket.probe.v1.Fleet': { status: 'SERVING' } },
    })
    health.close()
  })
})
