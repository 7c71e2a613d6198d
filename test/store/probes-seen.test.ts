import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { recordActivity } from '../../control-plane/monitoring/fleet/live-sets/store.ts'
import { revokeProbe } from '../../control-plane/monitoring/fleet/probes/enrolment-actions.ts'
import { connectProbe, createTestFleet, PATIENT } from '../support/fleet.ts'

t.test('A process is notified why it lost a probe: revoked, or connected to another process', async t => {
  const fleet = await createTestFleet(t)
  // the process itself records and refuses nothing during the test
  const { port } = await fleet.start({ ...PATIENT, heartbeatIntervalMs: 3_600_000, roundIntervalMs: 3_600_000 })
  const token = await fleet.token()
  const probes = ['own', 'revoked', 'moved'].map(name => connectProbe(t, port, token, { name }))
  const [, revoked, moved] = await Promise.all(probes.map(probe => probe.probeId()))
  const rows = await query<{ id: string; connectedTo: string }>(
    fleet.db,
    'SELECT id, connected_to AS "connectedTo" FROM probes',
  )
  const seen = rows.map(row => ({ ...row, silentMs: 0, health: null }))
  t.same(await recordActivity(fleet.db, seen), new Map())
  await revokeProbe(fleet.db, revoked!)
  await execute(fleet.db, `UPDATE probes SET connected_to = 'another process' WHERE id = ?`, [moved!])
  t.same(
    await recordActivity(fleet.db, seen),
    new Map([
      [revoked!, 'revoked'],
      [moved!, 'superseded'],
    ]),
  )
})
