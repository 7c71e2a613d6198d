import t from 'tap'
import { guessSource } from '../../../../control-plane/dashboard/screens/settings/import/file-kind.ts'
import { convertGatus } from '../../../../control-plane/integrations/import-export/converters/gatus/convert.ts'
import { convertUptimeKuma } from '../../../../control-plane/integrations/import-export/converters/uptime-kuma/convert.ts'
import {
  createImportReport,
  isLeftOutRecord,
} from '../../../../control-plane/integrations/import-export/import/import-report.ts'
import {
  buildItems,
  hideChannelConfig,
  summarize,
} from '../../../../control-plane/integrations/import-export/jobs/items.ts'
import { joinFile, splitFile } from '../../../../control-plane/integrations/import-export/jobs/reading/file-parts.ts'

t.test('A warning is part of the entry that it names; an entry that is left out is an item of its own', async t => {
  const report = createImportReport(async () => {})
  const create = { action: 'create' as const, resource: 'monitor' as const, id: null, fields: {} }
  report.changes.push({ ...create, key: 'Shop' }, { ...create, key: 'DB: replica' })
  report.unchangedRecords.push({ resource: 'monitor', key: 'Router', id: 'r' })
  const items = buildItems(report, [
    { path: 'monitorList[0]', message: 'Shop: its proxy was not carried over' },
    { path: 'monitorList[1]', message: 'DB: replica: its tags were cut' },
    { path: 'monitorList[2]', message: 'Queue: monitors of type rabbitmq are not supported; it was left out' },
    { path: 'statusPageList', message: 'Status pages: this section was not carried over' },
  ])
  t.strictSame(
    items.map(({ action, key, warnings }) => [action, key, ...warnings]),
    [
      ['left_out', 'Queue', 'monitors of type rabbitmq are not supported; it was left out'],
      ['create', 'Shop', 'its proxy was not carried over'],
      ['create', 'DB: replica', 'its tags were cut'],
      ['note', 'Status pages', 'this section was not carried over'],
      ['unchanged', 'Router'],
    ],
  )
  t.match(summarize(items, 3), { create: 2, left_out: 1, note: 1, unchanged: 1, warnings: 4, extra: 3 })
})

t.test(
  'Each monitor, channel, rule and window that a converter loses is known as left out; lost settings are not',
  async t => {
    const ok = { name: 'Shop', url: 'https://shop.example.com', conditions: ['[STATUS] == 200'] }
    const gatus: [string, object][] = [
      ['monitor', { endpoints: [ok, { name: 'Old', url: 'gopher://old.example.com' }] }],
      ['entry', { endpoints: [ok, 'Shop'] }],
      ['channel of an unknown kind', { endpoints: [ok], alerting: { carrier: { url: 'https://a.example' } } }],
      ['channel without a target', { endpoints: [ok], alerting: { slack: {} } }],
      ['rule', { endpoints: [{ ...ok, alerts: [{ type: 'carrier' }] }] }],
      ['window', { endpoints: [ok], maintenance: { start: 'noon', duration: '1h' } }],
    ]
    for (const [what, source] of gatus) t.ok(convertGatus(source).warnings.some(isLeftOutRecord), `Gatus: ${what}`)
    const condition = { endpoints: [{ ...ok, conditions: ['[STATUS] == 200', '[MOOD] == good'] }] }
    const { warnings } = convertGatus(condition)
    t.ok(warnings.length > 0 && !warnings.some(isLeftOutRecord), 'a condition is not a record')

    const monitor = { id: 1, name: 'Shop', type: 'http', url: 'https://shop.example.com', interval: 60 }
    const kuma: [string, object][] = [
      ['monitor', { monitorList: [{ ...monitor, type: 'rabbitmq' }] }],
      [
        'channel',
        { monitorList: [monitor], notificationList: [{ id: 1, name: 'Push', config: '{"type":"pushover"}' }] },
      ],
      ['rule', { monitorList: [{ ...monitor, notificationIDList: { 7: true } }] }],
    ]
    for (const [what, source] of kuma) t.ok(convertUptimeKuma(source).warnings.some(isLeftOutRecord), `Kuma: ${what}`)
    const plain = convertUptimeKuma({ monitorList: [{ ...monitor, description: 'x' }] })
    t.ok(plain.warnings.length > 0 && !plain.warnings.some(isLeftOutRecord), 'a description is not a record')
  },
)

t.test('A caller with read access does not see the settings of alert channels', async t => {
  const config = { from: null, to: { url: 'https://hooks.example.com/secret' } }
  const channel = {
    action: 'create' as const,
    resource: 'alert_channel' as const,
    key: 'Ops',
    id: null,
    warnings: [] as string[],
  }
  const hidden = hideChannelConfig({ ...channel, fields: { config, is_default: { from: false, to: true } } })
  t.strictSame(hidden.fields, {
    config: { from: null, to: '********', is_secret: true },
    is_default: { from: false, to: true },
  })
  const monitor = { ...channel, resource: 'monitor' as const, fields: { config } }
  t.strictSame(hideChannelConfig(monitor), monitor)
})

t.test('A file that is split into parts and joined is the same file', async t => {
  const monitors = Array.from({ length: 250 }, (_, i) => ({ name: `Shop ${i}`, type: 'http' as const }))
  const converted = { file: { version: 1 as const, monitors, alert_channels: [] }, warnings: [] }
  const parts = splitFile(converted)
  t.equal(parts.filter(part => part.startsWith('["monitors"')).length, 3)
  t.strictSame(await joinFile(parts, async () => {}), converted)
})

t.test('The beginning of a file shows what it is', async t => {
  const rows: [head: string, source: string | null][] = [
    ['SQLite format 3\0\u0010\0', 'uptime-kuma'],
    ['{"version":"1.23.0","notificationList":[', 'uptime-kuma'],
    ['# gatus\nendpoints:\n  - name: a', 'gatus'],
    ['version: 1\nmonitors: []', 'picket'],
    ['{"version":1,"monitors":[]}', 'picket'],
    ['dear diary', null],
  ]
  for (const [head, source] of rows) t.equal(guessSource(head), source, head)
})
