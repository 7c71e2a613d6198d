import t from 'tap'
import { toCurl } from '../../../control-plane/dashboard/core/api-call/curl.ts'
import {
  buildSection,
  findPageEntry,
  toProjectEntry,
} from '../../../control-plane/dashboard/core/api-call/project-entry.ts'
import { toRequest } from '../../../control-plane/dashboard/core/api-call/request.ts'
import { toTypeScript } from '../../../control-plane/dashboard/core/api-call/typescript.ts'
import { call, type DataQuery, read } from '../../../control-plane/dashboard/core/operations.ts'
import { loadScreen } from '../../../control-plane/dashboard/core/screen.ts'
import { SCREENS } from '../../../control-plane/dashboard/screens/index.ts'
import { ADMIN } from '../../support/dashboard-fixtures.ts'

const ID = '01900000-0000-7000-8000-000000000001'

t.test('A call has the method, the path with its query, and the body that the client sends', async t => {
  const body = { name: 'Shop', type: 'http' as const, url: 'https://shop.example.com' }
  const rows: [DataQuery, object][] = [
    [read('readMonitor', { path: { id: ID } }), { method: 'GET', path: `/api/v1/monitors/${ID}` }],
    [read('readMonitor', { path: { id: 'a/b?' } }), { method: 'GET', path: '/api/v1/monitors/a%2Fb%3F' }],
    [
      read('listMonitors', { query: { tag: 'a b&c', page: 2, type: undefined } }),
      { method: 'GET', path: '/api/v1/monitors?tag=a+b%26c&page=2' },
    ],
    [call('createMonitor', { body }), { method: 'POST', path: '/api/v1/monitors', body }],
    [call('pauseMonitor', { path: { id: ID } }), { method: 'POST', path: `/api/v1/monitors/${ID}/pause` }],
    [
      call('updateMonitor', { path: { id: ID }, body: { name: 'Shop' } }),
      { method: 'PUT', path: `/api/v1/monitors/${ID}`, body: { name: 'Shop' } },
    ],
    [call('deleteMonitor', { path: { id: ID } }), { method: 'DELETE', path: `/api/v1/monitors/${ID}` }],
  ]
  for (const [query, request] of rows) t.same(toRequest(query), request, query.name)
})

t.test('A command is quoted for a shell', async t => {
  t.equal(
    toCurl([call('createIncident', { body: { title: "Ann's $HOME `id`", message: 'a\nb' } })]),
    [
      `curl -s -X POST "$PICKET_URL/api/v1/incidents" \\`,
      `  -H "Authorization: Bearer $PICKET_API_KEY" -H 'Content-Type: application/json' \\`,
      `  -d '{\n  "title": "Ann'\\''s $HOME \`id\`",\n  "message": "a\\nb"\n}'`,
    ].join('\n'),
  )
  const path = { id: '$HOME`id`"\\!' }
  t.match(
    toCurl([read('readMonitor', { path })]),
    'curl -s "$PICKET_URL/api/v1/monitors/%24HOME%60id%60%22%5C%21" \\\n',
  )
  const file = new File(['version: 1'], "it's.yaml")
  const upload = call('createImport', { query: { from: 'picket' }, body: file })
  t.match(toCurl([upload]), `-H 'Content-Type: application/octet-stream' \\\n  --data-binary @'it'\\''s.yaml'`)
  t.match(toTypeScript({ result: upload }), `body: new Blob([await readFile("it's.yaml")])`)
})

t.test('A program names each answer, and writes objects as TypeScript', async t => {
  const monitor = read('readMonitor', { path: { id: ID } })
  const creation = call('createMonitor', {
    body: {
      ...{ name: 'Shop "1"', type: 'http', url: 'https://shop.example.com/health' },
      ...{ headers: { 'X-Key': 'a' }, regions: ['us-east', 'eu-west'], assertions: [] },
    },
  })
  t.same(toTypeScript({ monitor, result: creation, me: read('readMe', {}) }).split('\n'), [
    "import { env } from 'node:process'",
    "import { createPicket } from 'picket-client'",
    '',
    "const picket = createPicket({ origin: env.PICKET_URL ?? '', apiKey: env.PICKET_API_KEY })",
    `const monitor = await picket.readMonitor({ path: { id: "${ID}" } })`,
    'const result = await picket.createMonitor({',
    '  body: {',
    '    name: "Shop \\"1\\"",',
    '    type: "http",',
    '    url: "https://shop.example.com/health",',
    '    headers: { "X-Key": "a" },',
    '    regions: ["us-east", "eu-west"],',
    '    assertions: [],',
    '  },',
    '})',
    'const me = await picket.readMe()',
  ])
})

t.test('The entry of a project file has what is stored, the changes of the form over it, and no defaults', async t => {
  const body = { title: 'Upgrade', monitor_ids: ['m1'], starts_at: '2027-03-01T09:00:00Z', ends_at: null } as never
  const rows: [DataQuery, object | null, object | null][] = [
    [
      call('createMaintenanceWindow', { body }),
      null,
      { maintenance_windows: [{ title: 'Upgrade', starts_at: '2027-03-01T09:00:00Z', monitors: ['m1'] }] },
    ],
    [
      call('updateMonitor', { path: { id: ID }, body: { interval_seconds: 30, keyword: null } as never }),
      { id: ID, name: 'Shop', keyword: 'ok', interval_seconds: 60 },
      { monitors: [{ id: ID, name: 'Shop', interval_seconds: 30 }] },
    ],
    [
      call('updateAlertSettings', { body: { is_digest_enabled: false, on_call_user_id: 'x' } as never }),
      { digest_threshold: 20 },
      { alert_settings: { digest_threshold: 20, is_digest_enabled: false } },
    ],
    [
      call('updateDependency', {
        path: { id: ID },
        body: { overrides: [{ alert_channel_id: 'c1', on_degraded: false }] } as never,
      }),
      { id: ID, slug: 'github' },
      { dependencies: [{ id: ID, slug: 'github', overrides: [{ channel: 'c1', on_degraded: false }] }] },
    ],
    [
      call('createStatusPage', {
        body: { name: 'Acme', slug: 'acme', components: [{ name: 'Shop', monitor_id: 'm1' }, { name: 'Mail' }] },
      }),
      null,
      {
        status_pages: [{ name: 'Acme', slug: 'acme', components: [{ name: 'Shop', monitor: 'm1' }, { name: 'Mail' }] }],
      },
    ],
    [
      call('updateDependency', { path: { id: ID }, body: { components: ['API'] } as never }),
      { id: ID, slug: 'github' },
      { dependencies: [{ id: ID, slug: 'github', components: ['API'] }] },
    ],
    [call('createIncident', { body: { title: 'Slow' } as never }), null, null],
    [
      call('updateMonitorParents', { path: { id: ID }, body: { parent_ids: ['m1'] } }),
      { id: ID, name: 'Shop' },
      { monitors: [{ id: ID, name: 'Shop', parents: ['m1'] }] },
    ],
  ]
  for (const [query, stored, section] of rows) {
    const entry = toProjectEntry(query)
    t.same(entry && buildSection(entry, stored), section, query.name)
  }
})

t.test('Each screen has calls that can be shown, and its record or list is named in the project file', async t => {
  const entries: Record<string, string> = {}
  for (const declared of SCREENS) {
    const screen = await loadScreen(declared)
    const params = Object.fromEntries([...screen.path.matchAll(/:(\w+)/g)].map(([, name]) => [name!, ID]))
    const queries = screen.queries({ params, search: new URLSearchParams() }, Date.parse('2026-11-21T12:00:00Z'), ADMIN)
    for (const query of Object.values(queries))
      t.match(toRequest(query), { method: 'GET', path: /^\/api\/v1\/[^{}]+$/ })
    t.notMatch(toCurl(Object.values(queries)) + toTypeScript(queries), /undefined|\[object/, screen.path)
    const entry = findPageEntry(screen, queries)
    if (entry) entries[screen.path] = `${entry.section}${entry.id === null ? '' : '[id]'}`
  }
  t.match(entries, {
    '/monitors/:id': 'monitors[id]',
    '/settings/channels': 'alert_channels',
    '/settings/channels/:id': 'alert_channels[id]',
    '/maintenance/:id': 'maintenance_windows[id]',
    '/sources/:id': 'data_sources[id]',
    '/dependencies': 'dependencies',
    '/pages/:id': 'status_pages[id]',
    '/settings/alerts': 'alert_settings',
  })
  t.notOk(entries['/incidents/:id'], 'incidents are not in the file')
})
