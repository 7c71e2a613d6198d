import t from 'tap'
import { monitorRoutes } from '../../control-plane/monitoring/monitors/routes.ts'
import type { LiveCheckTypes } from '../../control-plane/monitoring/monitors/settings/configuration-issues.ts'
import { monitorLifecycleRoutes } from '../../control-plane/verdict/core/monitor-lifecycle-routes.ts'
import { createResourceApi } from '../support/resource-api.ts'

const everything = new Set(['http', 'keyword', 'tcp', 'ping', 'dns'])
const liveTypes: LiveCheckTypes = new Map([
  ['us-east', everything],
  ['eu-west', everything],
  ['ap-southeast', everything],
  ['us-west', new Set(['http'])],
])
const watching = async () => ({ lastCheckedAt: new Map(), liveTypes })
const api = await createResourceApi(t, (app, handles) => {
  monitorRoutes(app, { ...handles, readMonitoringState: watching })
  monitorLifecycleRoutes(app, { ...handles, watching })
})
const { call } = await api.account('business')

const REGIONS = ['us-east', 'eu-west', 'ap-southeast']
const SHOP = { name: 'Shop', type: 'http', url: 'https://shop.example', regions: REGIONS }
const PACE = { interval_seconds: 30, timeout_ms: 10_000, retry_count: 2 }

const readGuarantee = async (id: string) => (await call(`GET /monitors/${id}/guarantee`)).body.data

t.test('GET /monitors/{id}/guarantee 200 has the limits for each kind of outage', async t => {
  const { body, status } = await call('POST /monitors', { ...SHOP, ...PACE })
  t.equal(status, 201)
  const guarantee = await readGuarantee(body.data.id)
  t.same(guarantee.outages, [
    { kind: 'refused', down_within: 37, message_within: 39, shortest: 35, down_within_in_doubt: 37 },
    { kind: 'wrong', down_within: 37, message_within: 39, shortest: 35, down_within_in_doubt: 37 },
    { kind: 'slow', down_within: 67, message_within: 69, shortest: 65, down_within_in_doubt: 67 },
    { kind: 'hanging', down_within: 49.7, message_within: 51.7, shortest: 47.7, down_within_in_doubt: 49.7 },
  ])
  t.same(guarantee.reasons, [])
  t.match(
    guarantee.holds_while,
    /^NATS, PostgreSQL, the control plane and in each region the probe that checks the monitor/,
  )
  t.same(body.data.guarantee, guarantee, 'the answer of the create is the same')
})

t.test('PUT /monitors/{id} 200 returns the guarantee of the new settings', async t => {
  const { id } = (await call('POST /monitors', { ...SHOP, ...PACE })).body.data
  const { body } = await call(`PUT /monitors/${id}`, { interval_seconds: 60, timeout_ms: 30_000 })
  const hanging = body.data.guarantee.outages.find(({ kind }: { kind: string }) => kind === 'hanging')
  t.match(hanging, { down_within: 103, message_within: 105 })
  t.same(await readGuarantee(id), body.data.guarantee)
  t.notOk('guarantee' in (await call(`GET /monitors/${id}`)).body.data, 'it is only in the answers of changes')
})

t.test('GET /monitors/{id}/guarantee 200 names what weakens it', async t => {
  const rare = { ...SHOP, ...PACE, regions: ['us-east'], interval_seconds: 3600 }
  const { id } = (await call('POST /monitors', rare)).body.data
  const { outages, reasons } = await readGuarantee(id)
  t.equal(outages.length, 4)
  t.match(reasons, [/^one_region: only us-east checks/, /^long_interval: .* 3600 s/])
})

t.test('GET /monitors/{id}/guarantee 200 names a region without a probe when the others decide', async t => {
  const { id } = (await call('POST /monitors', { ...SHOP, ...PACE, regions: ['us-east', 'ap-northeast'] })).body.data
  const { outages, reasons, holds_while } = await readGuarantee(id)
  t.equal(outages.length, 4)
  t.match(reasons, [/^no_probe: no live probe in ap-northeast .* the other regions decide without it$/])
  t.match(holds_while, /each limit is 20 s longer/)
})

t.test('GET /monitors/{id}/guarantee 200 has the limit for a single region in doubt', async t => {
  const { id } = (await call('POST /monitors', { ...SHOP, ...PACE, regions: ['us-east'] })).body.data
  const { outages, holds_while } = await readGuarantee(id)
  t.match(outages, [
    { kind: 'refused', down_within: 37, down_within_in_doubt: 63 },
    { kind: 'wrong', down_within: 37, down_within_in_doubt: 37 },
    { kind: 'slow', down_within: 67, down_within_in_doubt: 67 },
    { kind: 'hanging', down_within: 49.7, down_within_in_doubt: 73 },
  ])
  t.match(holds_while, /no probe of another region gets an answer with a status below 500/)
})

t.test('GET /monitors/{id}/guarantee 200 has what faults of the installation add', async t => {
  const always = [
    { fault: 'probe_lost', adds: 30, adds_duration: false },
    { fault: 'acknowledgements_lost', adds: 30, adds_duration: false },
    { fault: 'control_plane_lost', adds: 20, adds_duration: false },
  ]
  const lasting = [
    { fault: 'all_regions_lost', adds: 60, adds_duration: true },
    { fault: 'nats_or_postgresql_lost', adds: 60, adds_duration: true },
  ]
  const ofOne = (await call('POST /monitors', { ...SHOP, ...PACE, regions: ['us-east'] })).body.data
  t.same((await readGuarantee(ofOne.id)).under_faults, [...always, ...lasting])
  const ofThree = (await call('POST /monitors', { ...SHOP, ...PACE })).body.data
  const absent = { fault: 'regions_lost', adds: 20, adds_duration: false }
  t.same(ofThree.guarantee.under_faults, [...always, absent, ...lasting])
  await call(`PUT /monitors/${ofThree.id}`, { interval_seconds: 300 })
  t.match((await readGuarantee(ofThree.id)).under_faults, [
    { fault: 'probe_lost', adds: 120 },
    { fault: 'acknowledgements_lost', adds: 120 },
    { fault: 'control_plane_lost', adds: 20 },
    { fault: 'regions_lost', adds: 20 },
    { fault: 'all_regions_lost', adds: 330, adds_duration: true },
    { fault: 'nats_or_postgresql_lost', adds: 330, adds_duration: true },
  ])
})

const WITHOUT: [string, object, RegExp][] = [
  ['no region has a probe', { ...SHOP, regions: ['ap-northeast'] }, /^no_probe: no live probe in ap-northeast /],
  [
    'no probe of a region can run the check',
    { ...SHOP, type: 'tcp', url: 'shop.example:1', regions: ['us-west'] },
    /^no_probe: no live probe in us-west /,
  ],
  [
    'one region of two has probes of which none can run the check',
    { ...SHOP, type: 'tcp', url: 'shop.example:1', regions: ['us-east', 'us-west'] },
    /^no_probe: no live probe in us-west /,
  ],
  ['the monitor is incomplete', { name: 'Shop', type: 'http' }, /^incomplete: url is required/],
  ['the monitor is a heartbeat', { name: 'Backup', type: 'heartbeat', heartbeat_interval: 60 }, /^heartbeat: /],
]
for (const [why, body, reason] of WITHOUT) {
  t.test(`GET /monitors/{id}/guarantee 200 is empty with a reason: ${why}`, async t => {
    const created = await call('POST /monitors', body)
    t.equal(created.status, 201)
    const { outages, reasons, under_faults } = await readGuarantee(created.body.data.id)
    t.same(outages, [])
    t.same(under_faults, [])
    t.match(reasons, [reason])
  })
}

t.test('GET /monitors/{id}/guarantee 200 is empty while the monitor is paused', async t => {
  const { id } = (await call('POST /monitors', { ...SHOP, ...PACE })).body.data
  await call(`POST /monitors/${id}/pause`)
  t.match(await readGuarantee(id), { outages: [], reasons: [/^paused: /] })
})

t.test('GET /monitors/{id}/guarantee 404 for a monitor of another tenant', async t => {
  const { id } = (await call('POST /monitors', SHOP)).body.data
  const stranger = await api.account()
  t.equal((await stranger.call(`GET /monitors/${id}/guarantee`)).status, 404)
  t.equal((await call('GET /monitors/none/guarantee')).status, 404)
})
