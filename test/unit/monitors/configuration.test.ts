import t from 'tap'
import { configurationIssues, isChecked } from '../../../control-plane/monitors/configuration.ts'
import { CHECK_TYPES, type MonitorType } from '../../../shared/check.ts'

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
]

for (const [type, has, issues] of ROWS) {
  t.test(`${type} with ${Object.keys(has).join(' and ') || 'nothing'}: ${issues.length} issues`, async t => {
    const monitor = { ...nothing, type, ...has, isPaused: false, deletedAt: null }
    t.same(configurationIssues(monitor), issues)
    t.equal(isChecked(monitor), issues.length === 0)
    t.notOk(isChecked({ ...monitor, isPaused: true }), 'paused')
    t.notOk(isChecked({ ...monitor, deletedAt: new Date(0) }), 'deleted')
  })
}

t.test('a type that probes do not run waits, however complete it is', async t => {
  for (const type of ['ping', 'dns'] as const) {
    if ((CHECK_TYPES as readonly string[]).includes(type)) continue
    const monitor = { ...nothing, type, url: 'example.com', heartbeatInterval: 60, isPaused: false, deletedAt: null }
    t.same(configurationIssues(monitor), [`${type} monitors are not checked by this version yet`])
    t.notOk(isChecked(monitor))
  }
})
