import t from 'tap'
import {
  isCheckedByProbes,
  listConfigurationIssues,
  listProbeIssues,
} from '../../../../control-plane/monitoring/monitors/settings/configuration-issues.ts'
import type { MonitorType } from '../../../../shared/checks/check.ts'

const nothing = { url: null, keyword: null, heartbeatInterval: null }
const url = 'https://example.com'

const ROWS: [type: MonitorType, has: Partial<typeof nothing | object>, issues: string[]][] = [
  ['http', {}, ['url is required to check an http monitor']],
  ['http', { url }, []],
  ['keyword', {}, ['url is required to check a keyword monitor', 'keyword is required to check a keyword monitor']],
  ['keyword', { url }, ['keyword is required to check a keyword monitor']],
  ['keyword', { url, keyword: 'ok' }, []],
  ['tcp', {}, ['url is required to check a tcp monitor']],
  ['tcp', { url: 'example.com' }, ['port is required to check a tcp monitor']],
  ['tcp', { url: 'example.com:443' }, []],
  ['tcp', { url }, []],
  ['ping', {}, ['url is required to check a ping monitor']],
  ['ping', { url: 'ping://example.com' }, []],
  ['dns', {}, ['url is required to check a dns monitor']],
  ['dns', { url: 'dns://example.com' }, []],
  ['dns', { url: 'dns://192.0.2.1/example.com?type=MX' }, []],
  [
    'dns',
    { url: '192.0.2.1' },
    ['a dns monitor needs a name to look up, not an address; to name a server, use dns://server/name'],
  ],
]

for (const [type, has, issues] of ROWS) {
  t.test(`${type} with ${Object.keys(has).join(' and ') || 'nothing'}: ${issues.length} issues`, async t => {
    const monitor = { ...nothing, type, ...has, isPaused: false, deletedAt: null, dataSource: null }
    t.same(listConfigurationIssues(monitor), issues)
    t.equal(isCheckedByProbes(monitor), issues.length === 0)
    t.notOk(isCheckedByProbes({ ...monitor, isPaused: true }), 'paused')
    t.notOk(isCheckedByProbes({ ...monitor, deletedAt: new Date(0) }), 'deleted')
    const dataSource = { id: '1', name: 'Cells', fieldId: '2', key: 'a' }
    t.notOk(isCheckedByProbes({ ...monitor, dataSource }), 'of a data source')
  })
}

t.test('A region without a live probe for the type is reported for monitors that probes check', async t => {
  const http = { ...nothing, type: 'http' as const, url, isPaused: false, deletedAt: null, dataSource: null }
  const monitor = { ...http, regions: ['us-east', 'eu-west', 'us-west'] as ('us-east' | 'eu-west' | 'us-west')[] }
  const live = new Map([
    ['us-east', new Set(['http', 'tcp'])],
    ['eu-west', new Set(['ping'])],
  ])
  const sentence = 'no_probe: no live probe in eu-west, us-west can check this monitor'
  t.same(listProbeIssues(monitor, live), [sentence])
  t.same(listProbeIssues({ ...monitor, regions: ['us-east'] }, live), [])
  t.same(listProbeIssues(monitor, null), [], 'not known')
  t.same(listProbeIssues({ ...monitor, isPaused: true }, live), [])
  t.same(listProbeIssues({ ...monitor, url: null }, live), [], 'an incomplete monitor has another issue')
  t.same(listProbeIssues({ ...monitor, type: 'heartbeat', heartbeatInterval: 60 }, live), [])
})
