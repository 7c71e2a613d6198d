import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { connectProbe, createTestFleet, PATIENT } from '../support/fleet.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const OLD = { name: 'old', capabilities: ['http', 'keyword'] }
const NEW = { name: 'new', capabilities: ['http', 'keyword', 'tcp'] }

t.test('During an upgrade each probe gets only what it can check', async t => {
  const fleet = await createTestFleet(t)
  const { port, metrics } = await fleet.start(PATIENT)
  const token = await fleet.token()
  const web = await insertMonitors(fleet.db, fleet.projectId, 40, { regions: ['eu-west'] })
  const tcp = await insertMonitors(fleet.db, fleet.projectId, 40, { regions: ['eu-west'] })
  await execute(
    fleet.db,
    `UPDATE monitors SET type = 'tcp', url = 'shop.example:443', config_version = 2 WHERE id = ANY (?::uuid[])`,
    [tcp],
  )
  const unassigned = async () => {
    const { text } = await metrics.render()
    return Number(/^picket_fleet_unassigned_monitors\{region="eu-west"\} (\d+)/m.exec(text)?.[1])
  }

  const old = connectProbe(t, port, token, { ...OLD, beatMs: 50 })
  await waitFor(() => old.assigned.size === 40, { label: 'its 40 monitors' })
  t.ok(
    web.every(id => old.assigned.has(id)),
    'it has no monitor that it cannot check',
  )
  await waitFor(async () => (await unassigned()) === 40, { label: '40 monitors without a probe' })

  const newer = connectProbe(t, port, token, { ...NEW, beatMs: 50 })
  await waitFor(() => newer.assigned.size > 40 && newer.assigned.size + old.assigned.size === 80, {
    label: 'an equal share',
  })
  t.ok(tcp.every(id => newer.assigned.has(id)))
  t.ok([...old.assigned.keys()].every(id => web.includes(id)))
  await waitFor(async () => (await unassigned()) === 0)

  const before = (await fleet.epoch()).epoch
  const upgraded = connectProbe(t, port, token, {
    ...OLD,
    capabilities: NEW.capabilities,
    instanceId: 'upgraded',
    beatMs: 50,
  })
  await upgraded.ready()
  t.ok((await fleet.epoch()).epoch > before, 'it was not evicted, but the plan changed')
  const isShared = () => [...upgraded.assigned.keys()].some(id => newer.assigned.has(id))
  await waitFor(() => upgraded.assigned.size + newer.assigned.size === 80 && !isShared(), {
    label: 'an equal share again, and no monitor at both',
  })
  t.ok(tcp.some(id => upgraded.assigned.has(id)))

  const downgraded = connectProbe(t, port, token, {
    ...NEW,
    capabilities: OLD.capabilities,
    instanceId: 'down',
    beatMs: 50,
  })
  await downgraded.ready()
  await waitFor(
    () => upgraded.assigned.size + downgraded.assigned.size === 80 && tcp.every(id => upgraded.assigned.has(id)),
    { label: 'that a downgraded probe loses what it cannot check' },
  )
})

t.test('A monitor that changes its type leaves a probe that cannot check it', async t => {
  const fleet = await createTestFleet(t)
  const { port } = await fleet.start(PATIENT)
  const token = await fleet.token()
  const old = connectProbe(t, port, token, OLD)
  await old.ready()
  const newer = connectProbe(t, port, token, NEW)
  await newer.ready()
  await insertMonitors(fleet.db, fleet.projectId, 20, { regions: ['eu-west'] })
  await waitFor(() => old.assigned.size + newer.assigned.size === 20)
  const [id] = old.assigned.keys()
  const change = `UPDATE monitors SET type = 'tcp', url = 'shop.example:443', config_version = 2 WHERE id = ?`
  await execute(fleet.db, change, [id!])
  await waitFor(() => !old.assigned.has(id!) && newer.assigned.get(id!)?.spec?.type === 'tcp', { label: 'the move' })
  t.pass('it moved')
})
