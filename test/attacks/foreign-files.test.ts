import t from 'tap'
import { convertForeignFile } from '../../control-plane/integrations/import-export/converters/convert-reader.ts'
import { shareApi } from '../support/api-server.ts'
import { countTurns } from '../support/turns-during.ts'

const PROJECT = 'project'
const list = <T>(length: number, of: (i: number) => T) => Array.from({ length }, (_, i) => of(i))
const monitors = (length: number) =>
  list(length, i => ({ id: i, type: 'http', name: `Shop ${i}`, url: 'https://a.example' }))
/** Each group is inside the previous one. */
const chain = list(9_000, i => ({ id: i, type: 'group', name: `g${i}`, parent: i - 1 }))
const smtp = { id: 1, name: 'Mail', config: JSON.stringify({ type: 'smtp', smtpTo: '<'.repeat(400_000) }) }
const dns = { name: 'DNS', url: `${':'.repeat(500_000)}x`, dns: { 'query-name': 'a.example' } }
const overrides = list(9_000, i => ({ group: `g${i}`, 'webhook-url': 'https://h.example' }))
const alerted = list(9_000, i => ({
  name: `e${i}`,
  url: 'https://a.example',
  group: 'none',
  alerts: [{ type: 'slack' }],
}))

t.test('Converting a file of another product does not block the event loop', async t => {
  const { answer, turns } = await countTurns(() =>
    convertForeignFile(PROJECT, 'uptime-kuma', { monitorList: monitors(9_000) }),
  )
  t.equal(answer.file.monitors?.length, 9_000)
  t.ok(turns > 10, `${turns} turns of the event loop`)
})

t.test('Files that are made to be slow are converted as fast as others', async t => {
  const deep = await convertForeignFile(PROJECT, 'uptime-kuma', {
    monitorList: [...chain, { ...monitors(1)[0], parent: 8_999 }],
  })
  t.equal(deep.file.monitors?.[0]?.tags?.length, 50, 'the nearest groups')
  t.equal(deep.file.monitors?.[0]?.tags?.at(-1), 'g8999')
  t.match(await convertForeignFile(PROJECT, 'uptime-kuma', { notificationList: [smtp], monitorList: monitors(1) }), {
    file: { alert_channels: [{ name: 'Mail', config: { to: [/^<+$/] } }] },
  })
  t.match(await convertForeignFile(PROJECT, 'gatus', { endpoints: [dns] }), { file: { monitors: [] } })
  const many = await convertForeignFile(PROJECT, 'gatus', {
    alerting: { slack: { overrides } },
    endpoints: alerted.slice(0, 2_000),
  })
  t.equal(many.file.alert_channels?.length, 9_000)
})

t.test('POST /import 400 reports an error of the thread like one of the process', async t => {
  const api = await shareApi()
  const send = (body: unknown) => api.call('POST', '/import?from=uptime-kuma', { body })
  t.match(await send({ nothing: true }), {
    status: 400,
    body: { error: { message: 'the body is not an Uptime Kuma backup: monitorList is missing' } },
  })
  const { status, body } = await send({ monitorList: [...monitors(2), { ...monitors(1)[0], url: 'ftp://a.example' }] })
  t.equal(status, 200)
  t.equal(body.data.create, 2)
  t.match(body.data.warnings, [{ path: 'monitors[2]' }])
})
