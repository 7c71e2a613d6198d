import t from 'tap'
import { toLineResults } from '../../../control-plane/dashboard/screens/setup/monitors/bulk-create.tsx'
import {
  listChangedFields,
  listDifferences,
  moveToCurrent,
  toSavedBodies,
} from '../../../control-plane/dashboard/screens/setup/monitors/state/differences.ts'
import {
  findFormProblems,
  toCreateBody,
} from '../../../control-plane/dashboard/screens/setup/monitors/state/monitor-body.ts'
import {
  EMPTY_FORM,
  hasMaskedSecrets,
  type MonitorForm,
  type MonitorRecord,
  toCopiedForm,
  toMonitorForm,
} from '../../../control-plane/dashboard/screens/setup/monitors/state/monitor-form.ts'
import {
  applyProposals,
  completeAddress,
  parseAddressLines,
  proposeName,
  proposeRegions,
  proposeType,
  toProposedForm,
} from '../../../control-plane/dashboard/screens/setup/monitors/state/proposals.ts'
import { MONITOR_TYPES } from '../../../shared/checks/check.ts'
import { MASK } from '../../../shared/secret-names.ts'
import { STORED_MONITOR } from '../../support/form-records.ts'

const STORED = toMonitorForm(STORED_MONITOR)
const buildBody = (part: Partial<MonitorForm>) => toCreateBody(applyProposals({ ...EMPTY_FORM, ...part }, null))

t.test('A name, a type and a complete address are proposed from what was typed', async t => {
  const names = [
    ['https://www.shop.example.com/health/', 'shop.example.com/health'],
    ['https://shop.example.com?a=1#b', 'shop.example.com'],
    ['tcp://mail.example.com:25', 'mail.example.com:25'],
    ['  example.com ', 'example.com'],
    ['', ''],
  ] as const
  for (const [url, name] of names) t.equal(proposeName({ type: 'http', url }), name, url)
  t.equal(proposeName({ type: 'heartbeat', url: 'https://old.example.com' }), '')
  const types = [
    ['https://a.example', 'http'],
    ['a.example', 'http'],
    ['a.example/path', 'http'],
    ['a.example:25', 'tcp'],
    ['tcp://a.example:1', 'tcp'],
    ['ping://a.example', 'ping'],
    ['dns://a.example', 'dns'],
    ['ftp://a.example', 'http'],
  ] as const
  for (const [url, type] of types) t.equal(proposeType(url), type, url)
  t.equal(completeAddress('http', ' a.example '), 'https://a.example')
  t.equal(completeAddress('keyword', 'http://a.example'), 'http://a.example')
  t.equal(completeAddress('tcp', 'a.example:25'), 'a.example:25')
  t.equal(completeAddress('http', ''), '')
})

t.test('Three regions with a probe are proposed', async t => {
  t.same(proposeRegions(null), ['us-east', 'eu-west', 'ap-southeast'])
  t.same(proposeRegions([]), ['us-east', 'eu-west', 'ap-southeast'], 'no probe is live')
  t.same(proposeRegions(['us-west', 'eu-west']), ['us-west', 'eu-west'])
  t.same(proposeRegions(['us-east', 'us-west', 'eu-west', 'eu-central', 'ap-northeast']), [
    'us-east',
    'us-west',
    'eu-west',
  ])
})

t.test('The address of the page fills in the form', async t => {
  const open = (search: string) => toProposedForm(new URLSearchParams(search), MONITOR_TYPES)
  t.match(open('url=shop.example.com'), { type: 'http', url: 'https://shop.example.com' })
  t.match(open('url=mail.example.com:25'), { type: 'tcp', url: 'mail.example.com:25' })
  t.match(open('type=heartbeat'), { type: 'heartbeat', url: '' })
  t.same(open('type=unknown'), EMPTY_FORM)
})

t.test('A new monitor sends what its type needs and what differs from the defaults', async t => {
  const http = { url: ' https://a.example ', regions: ['us-east' as const] }
  const table: [Partial<MonitorForm>, object][] = [
    [http, { name: 'a.example', type: 'http', url: 'https://a.example' }],
    [
      { ...http, name: 'Shop', interval_seconds: '30', regions: ['us-east', 'eu-west'], tags: ' a, b,,a ' },
      {
        ...{ name: 'Shop', type: 'http', url: 'https://a.example', interval_seconds: 30 },
        ...{ regions: ['us-east', 'eu-west'], tags: ['a', 'b'] },
      },
    ],
    [
      {
        ...http,
        auth_type: 'basic',
        auth_config: { ...EMPTY_FORM.auth_config, username: 'u', password: 'p', token: 'old' },
      },
      {
        ...{ name: 'a.example', type: 'http', url: 'https://a.example' },
        ...{ auth_type: 'basic', auth_config: { username: 'u', password: 'p' } },
      },
    ],
    [
      { ...http, type: 'tcp', url: 'a.example:25', headers: [{ name: 'X', value: '1' }], keyword: 'text' },
      { name: 'a.example:25', type: 'tcp', url: 'a.example:25' },
    ],
    [
      {
        ...http,
        headers: [
          { name: ' X-A ', value: '1' },
          { name: '', value: '' },
        ],
        timeout_ms: '',
      },
      { name: 'a.example', type: 'http', url: 'https://a.example', headers: { 'X-A': '1' }, timeout_ms: null },
    ],
    [
      { type: 'heartbeat', name: 'Backup', heartbeat_interval: '3600', url: 'https://old.example' },
      { name: 'Backup', type: 'heartbeat', heartbeat_interval: 3600 },
    ],
    [
      { ...http, type: 'keyword', keyword: 'Welcome', keyword_type: 'not_contains' },
      {
        ...{ name: 'a.example', type: 'keyword', url: 'https://a.example' },
        ...{ keyword: 'Welcome', keyword_type: 'not_contains' },
      },
    ],
  ]
  for (const [part, body] of table) t.same(buildBody(part), body)
})

t.test('A form without what its type needs says so in the words of the API', async t => {
  const problems = (part: Partial<MonitorForm>) => findFormProblems({ ...EMPTY_FORM, ...part })
  t.same(problems({}), [{ path: 'url', message: 'url is required to check an http monitor' }])
  t.same(problems({ type: 'keyword', url: 'https://a.example' }), [
    { path: 'keyword', message: 'keyword is required to check a keyword monitor' },
  ])
  t.same(problems({ type: 'heartbeat', heartbeat_interval: '' }), [
    { path: 'heartbeat_interval', message: 'heartbeat_interval is required to check a heartbeat monitor' },
  ])
  const headers = [
    { name: 'X-A', value: '1' },
    { name: 'x-a ', value: '2' },
  ]
  t.same(problems({ url: 'https://a.example', headers }), [
    { path: 'headers', message: 'the header "x-a" is listed twice' },
  ])
  t.same(problems({ type: 'tcp', url: 'a.example:1', headers }), [])
})

t.test('A stored monitor that is not changed sends nothing', async t => {
  t.same(listChangedFields(STORED, STORED), [])
  t.same(toSavedBodies(STORED, STORED), { update: null, auth: null })
  const reordered = { ...STORED, regions: [...STORED.regions!].reverse(), tags: 'live,shop' }
  t.same(listChangedFields(STORED, reordered), [], 'the order of regions and tags changes nothing')
})

t.test('Only changed fields are saved, and credentials by their own operation', async t => {
  t.same(toSavedBodies(STORED, { ...STORED, interval_seconds: '30', tags: '' }), {
    update: { interval_seconds: 30, tags: null },
    auth: null,
  })
  const auth_config = { ...STORED.auth_config, username: 'other' }
  t.same(toSavedBodies(STORED, { ...STORED, auth_config }), {
    update: null,
    auth: { auth_type: 'basic', auth_config: { username: 'other', password: MASK } },
  })
  t.same(toSavedBodies(STORED, { ...STORED, auth_type: '' }).auth, { auth_type: null, auth_config: null })
  const headers = [...STORED.headers, { name: 'X-B', value: '2' }]
  t.same(toSavedBodies(STORED, { ...STORED, headers }).update, { headers: { 'X-Api-Key': MASK, 'X-B': '2' } })
  t.same(toSavedBodies(STORED, { ...STORED, screenshot_threshold: '0.5' }).update, null, 'a fixed field')
})

t.test('Changes by two people are compared by field', async t => {
  const theirs: MonitorForm = { ...STORED, interval_seconds: '300', name: 'Their name' }
  const mine: MonitorForm = { ...STORED, interval_seconds: '30', tags: 'mine' }
  t.same(listDifferences(STORED, theirs, mine), [
    { field: 'name', label: 'Name', before: 'Checkout', theirs: 'Their name', mine: 'Their name', isConflict: false },
    { field: 'interval_seconds', label: 'Interval', before: '1 min', theirs: '5 min', mine: '30 s', isConflict: true },
  ])
  const moved = moveToCurrent(STORED, theirs, mine)
  t.match(moved, { name: 'Their name', interval_seconds: '30', tags: 'mine' })
  t.same(toSavedBodies(theirs, moved).update, { interval_seconds: 30, tags: ['mine'] })
  t.same(listDifferences(STORED, mine, mine)[0]?.isConflict, false, 'the same change twice does not conflict')
  t.same(listDifferences(STORED, STORED, mine), [])
})

t.test('Credentials that two people changed stay a pair', async t => {
  const mine: MonitorForm = { ...STORED, auth_config: { ...STORED.auth_config, password: 'new' } }
  const bearer = { auth_type: 'bearer', auth_config: { token: MASK } } as const
  const theirs = toMonitorForm({ ...STORED_MONITOR, ...bearer })
  t.match(listDifferences(STORED, theirs, mine), [
    { field: 'auth_type', before: 'basic', theirs: 'bearer', mine: 'basic', isConflict: true },
    { field: 'auth_config', isConflict: true },
  ])
  const moved = moveToCurrent(STORED, theirs, mine)
  t.same(toSavedBodies(theirs, moved), {
    update: null,
    auth: { auth_type: 'basic', auth_config: { username: 'ann', password: 'new' } },
  })
  const without: MonitorForm = { ...STORED, auth_type: '' }
  const cleared = toSavedBodies(theirs, moveToCurrent(STORED, theirs, without)).auth
  t.same(cleared, { auth_type: null, auth_config: null })
  const other = moveToCurrent(STORED, theirs, { ...STORED, interval_seconds: '30' })
  t.equal(toSavedBodies(theirs, other).auth, null, 'those of the other person stay')
})

t.test('A copy has no secrets', async t => {
  const copy = toCopiedForm(STORED_MONITOR)
  t.equal(copy.name, 'Checkout (copy)')
  t.same(copy.headers, [{ name: 'X-Api-Key', value: '' }])
  t.match(copy.auth_config, { username: 'ann', password: '' })
  t.equal(hasMaskedSecrets(STORED_MONITOR), true)
  const plain: MonitorRecord = { ...STORED_MONITOR, headers: null, auth_type: null, auth_config: null }
  t.equal(hasMaskedSecrets(plain), false)
})

t.test('Pasted lines are addresses, each with its own result', async t => {
  t.same(parseAddressLines(' a.example \r\n\nb.example\na.example\n'), ['a.example', 'b.example'])
  const items = ['a', 'b', 'c'].map(url => ({ url, name: url }))
  t.same(toLineResults(items, { monitors: [{ id: '1' }, { id: '2' }], errors: [{ index: 1, error: 'no' }] }), [
    { url: 'a', name: 'a', id: '1' },
    { url: 'b', name: 'b', problem: 'no' },
    { url: 'c', name: 'c', id: '2' },
  ])
})
