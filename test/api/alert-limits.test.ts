import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { insertManyChannels } from '../support/many-channels.ts'
import { insertMonitors } from '../support/verdict.ts'

const secretKey = Buffer.alloc(32, 1)
const api = await startApi(t, { SECRET_KEY: secretKey.toString('base64') })

const channel = (name = 'Hook') => ({
  name,
  type: 'webhook',
  config: { url: `https://${name.replaceAll(' ', '-')}.example.com/` },
})
const addChannel = (key: string, name?: string) => api.call('POST', '/alerts/channels', { key, body: channel(name) })
const addRule = (key: string, monitor_id: string, alert_channel_id: string) =>
  api.call('POST', '/alerts/rules', { key, body: { monitor_id, alert_channel_id } })
const readLimits = async (key: string) => (await api.call('GET', '/project', { key })).body.data.limits

for (const [plan, limit] of [
  ['free', 10],
  ['pro', 50],
  ['business', 500],
] as const) {
  t.test(`POST /alerts/channels 402 beyond the ${limit} channels of the ${plan} plan`, async t => {
    const { key, projectId } = await api.tenant(plan)
    const where = { projectId, monitorIds: [], url: 'http://127.0.0.1:9/', secretKey }
    await insertManyChannels(api.db, { ...where, count: limit - 1 })
    t.equal((await addChannel(key)).status, 201)
    const refused = await addChannel(key)
    t.equal(refused.status, 402)
    t.same(refused.body.error, {
      code: 'tier_limit_reached',
      message: `the ${plan} plan includes ${limit} alert channels and ${limit} are in use`,
      status: 402,
    })
    t.match(await readLimits(key), { alert_channels: { limit, used: limit }, rules_per_monitor: 20 })
  })
}

t.test('POST /alerts/channels 404 for an unknown chat installation also at the limit of the plan', async t => {
  const { key, projectId } = await api.tenant('free')
  await insertManyChannels(api.db, { projectId, monitorIds: [], url: 'http://127.0.0.1:9/', secretKey, count: 10 })
  const config = { installation_id: projectId, channel_id: 'C1' }
  const { status, body } = await api.call('POST', '/alerts/channels', {
    key,
    body: { name: 'Chat', type: 'chat_a', config },
  })
  t.match({ status, body }, { status: 404, body: { error: { message: /chat installation/ } } })
})

t.test('POST /alerts/channels 402 for every concurrent request beyond the limit', async t => {
  const { key } = await api.tenant('free')
  const answers = await Promise.all(Array.from({ length: 14 }, (_, i) => addChannel(key, `Hook ${i}`)))
  t.equal(answers.filter(({ status }) => status === 201).length, 10)
  t.equal(answers.filter(({ status }) => status === 402).length, 4)
})

t.test('Channels beyond the limit still work and can be changed; only new ones are refused', async t => {
  const { key, projectId } = await api.tenant('free')
  const monitorIds = await insertMonitors(api.db, projectId, 1)
  const where = { projectId, monitorIds, url: 'http://127.0.0.1:9/', secretKey }
  const [id] = await insertManyChannels(api.db, { ...where, count: 30 })
  t.equal((await api.call('PUT', `/alerts/channels/${id}`, { key, body: { name: 'Another' } })).status, 200)
  t.equal((await addChannel(key)).status, 402)
  t.same((await readLimits(key)).alert_channels, { limit: 10, used: 30 })
  const rules = (await api.call('GET', `/alerts/rules?monitor_id=${monitorIds[0]}`, { key })).body.data
  t.equal(rules.length, 30, 'so do rules')
  const changed = await api.call('PUT', `/alerts/rules/${rules[0].id}`, { key, body: { on_degraded: true } })
  t.equal(changed.status, 200)
})

t.test('POST /alerts/rules 402 for the 21st rule of a monitor, also when a rule is moved to it', async t => {
  const { key, projectId } = await api.tenant()
  const [full, other] = (await insertMonitors(api.db, projectId, 2)) as [string, string]
  const where = { projectId, monitorIds: [full], url: 'http://127.0.0.1:9/', secretKey }
  await insertManyChannels(api.db, { ...where, count: 19 })
  const ids = await insertManyChannels(api.db, { ...where, monitorIds: [], count: 4 })
  const answers = await Promise.all(ids.map(id => addRule(key, full, id)))
  t.same(answers.map(({ status }) => status).sort(), [201, 402, 402, 402])
  const { error } = answers.find(({ status }) => status === 402)!.body
  t.match(error, {
    code: 'tier_limit_reached',
    message: 'a monitor can have at most 20 alert rules; this would make 21',
  })
  const free = ids.find((_, i) => answers[i]!.status === 402)!
  const elsewhere = (await addRule(key, other, free)).body.data
  const moved = await api.call('PUT', `/alerts/rules/${elsewhere.id}`, { key, body: { monitor_id: full } })
  t.equal(moved.status, 402)
  const { data } = (await api.call('GET', `/alerts/rules?monitor_id=${full}`, { key })).body
  const channelOfFull = data[0].alert_channel_id
  t.equal((await addRule(key, full, channelOfFull)).status, 402, 'before the 409 for a pair that has a rule')
  const body = { monitor_id: full, alert_channel_id: channelOfFull }
  t.equal((await api.call('PUT', `/alerts/rules/${elsewhere.id}`, { key, body })).status, 402)
  t.equal((await api.call('DELETE', `/alerts/rules/${data[1].id}`, { key })).status, 200)
  t.equal((await addRule(key, full, channelOfFull)).status, 409, 'with room for another rule')
})

t.test('POST /import 402 for a file with channels, or rules of a monitor, beyond the limit', async t => {
  const { key } = await api.tenant('free')
  const names = Array.from({ length: 11 }, (_, i) => `Hook ${i}`)
  const file = { version: 1, alert_channels: names.map(channel) }
  const refused = await api.call('POST', '/import', { key, body: file })
  t.equal(refused.status, 402)
  t.match(refused.body.error, { code: 'tier_limit_reached', message: /10 alert channels/ })
  const { key: rich } = await api.tenant()
  const channels = Array.from({ length: 21 }, (_, i) => `Hook ${i}`)
  const monitor = {
    name: 'Shop',
    type: 'http',
    url: 'https://shop.example/',
    rules: channels.map(name => ({ channel: name })),
  }
  const whole = { version: 1, alert_channels: channels.map(channel), monitors: [monitor] }
  const tooMany = await api.call('POST', '/import', { key: rich, body: whole })
  t.equal(tooMany.status, 402)
  t.match(tooMany.body.error, { message: /at most 20 alert rules/ })
})

t.test('An installation can set its own limits', async t => {
  const own = await startApi(t, { ALERT_CHANNELS_LIMIT: '2', ALERT_RULES_LIMIT: '1' })
  const { key, projectId } = await own.tenant()
  const [monitor_id] = await insertMonitors(own.db, projectId, 1)
  const made = [1, 2, 3].map(n => () => own.call('POST', '/alerts/channels', { key, body: channel(`Hook ${n}`) }))
  const [first, second, third] = [await made[0]!(), await made[1]!(), await made[2]!()]
  t.same([first.status, second.status, third.status], [201, 201, 402])
  const link = (alert_channel_id: string) =>
    own.call('POST', '/alerts/rules', { key, body: { monitor_id, alert_channel_id } })
  t.equal((await link(first.body.data.id)).status, 201)
  t.equal((await link(second.body.data.id)).status, 402)
  const { limits } = (await own.call('GET', '/project', { key })).body.data
  t.match(limits, { alert_channels: { limit: 2, used: 2 }, rules_per_monitor: 1 })
})
