import t from 'tap'
import { findVendorDomain, groupByCause, parseHost } from '../../../control-plane/dashboard/core/board/common-cause.ts'
import { buildList, buildMonitor } from '../../support/dashboard-answers.ts'
import { buildBoard, buildRow } from '../../support/dashboard-fixtures.ts'
import { renderScreen, toText } from '../../support/dashboard-screens.tsx'
import { INTEGRATION_ANSWERS } from '../../support/integration-answers.ts'

const bars = (...failing: string[]) =>
  ['us-east', 'eu-west', 'ap-southeast'].map(name => ({
    name,
    state: failing.includes(name) ? ('failing' as const) : ('ok' as const),
  }))
const down = (name: string, cause: string | null, ...failing: string[]) =>
  buildRow({ name, status: 'down', cause, bars: bars(...failing) })
const ALL = ['us-east', 'eu-west', 'ap-southeast']
const KNOWN = { hosts: new Map<string, string>(), parents: {}, vendors: [] }

type Row = [
  what: string,
  rows: ReturnType<typeof buildRow>[],
  hosts: Record<string, string>,
  groups: [cause: string, names: string][],
]
const TABLE: Row[] = [
  ['nothing', [], {}, []],
  ['one monitor has no common cause', [down('a', 'timed out', ...ALL)], { a: 'x' }, [['none', 'a']]],
  [
    'the same host',
    [down('a', 'timed out', ...ALL), down('b', 'refused', ...ALL), down('c', 'reset', ...ALL)],
    { a: 'shop.example', b: 'shop.example', c: 'mail.example' },
    [
      ['host shop.example', 'a b'],
      ['none', 'c'],
    ],
  ],
  [
    'the same error',
    [down('a', 'refused', ...ALL), down('b', 'timed out', ...ALL), down('c', 'refused', ...ALL)],
    { a: 'x', b: 'y', c: 'z' },
    [
      ['error refused', 'a c'],
      ['none', 'b'],
    ],
  ],
  [
    'the only region that fails',
    [down('a', 'timed out', 'eu-west'), down('b', 'refused', 'eu-west'), down('c', 'reset', 'us-east', 'eu-west')],
    {},
    [
      ['region eu-west', 'a b'],
      ['none', 'c'],
    ],
  ],
  [
    'the cause of more monitors first, the host before the error for as many',
    [down('a', 'refused', ...ALL), down('b', 'refused', ...ALL), down('c', 'refused', ...ALL)],
    { a: 'x', b: 'x' },
    [['error refused', 'a b c']],
  ],
  [
    'the host for as many',
    [down('a', 'refused', ...ALL), down('b', 'refused', ...ALL)],
    { a: 'x', b: 'x' },
    [['host x', 'a b']],
  ],
  [
    'what is left is grouped again',
    [
      down('a', 'refused', ...ALL),
      down('b', 'refused', ...ALL),
      down('c', 'refused', ...ALL),
      down('d', 'timed out', 'us-east'),
      down('e', 'reset', 'us-east'),
    ],
    {},
    [
      ['error refused', 'a b c'],
      ['region us-east', 'd e'],
    ],
  ],
  [
    'a monitor without a cause and without a vote',
    [buildRow({ name: 'a', status: 'unknown' }), buildRow({ name: 'b', status: 'unknown' })],
    {},
    [['none', 'a b']],
  ],
  [
    'a monitor that only one region checks says nothing about the region',
    ['a', 'b'].map(name => buildRow({ name, status: 'down', bars: [{ name: 'us-east', state: 'failing' }] })),
    {},
    [['none', 'a b']],
  ],
]

for (const [what, rows, hosts, expected] of TABLE)
  t.test(`Monitors in trouble are grouped: ${what}`, t => {
    const groups = groupByCause(rows, { ...KNOWN, hosts: new Map(Object.entries(hosts)) })
    t.same(
      groups.map(({ cause, rows: members }) => [
        cause ? `${cause.kind} ${cause.value}` : 'none',
        members.map(({ name }) => name).join(' '),
      ]),
      expected,
    )
    t.end()
  })

t.test('Every monitor is in exactly one group, whatever they have in common', t => {
  const rows = Array.from({ length: 300 }, (_, i) =>
    buildRow({
      ...{ name: `m${i}`, id: `m${i}`, status: i % 3 === 0 ? 'down' : 'degraded' },
      ...{ cause: i % 5 === 0 ? null : `error ${i % 7}`, bars: bars(...ALL.slice(0, i % 4)) },
    }),
  )
  const hosts = new Map(rows.filter((_, i) => i % 2 === 0).map(({ id }, i) => [id, `host ${i % 11}`]))
  const groups = groupByCause(rows, { ...KNOWN, hosts })
  t.same(groups.flatMap(group => group.rows.map(({ id }) => id)).sort(), rows.map(({ id }) => id).sort())
  t.ok(groups.every(group => group.cause === null || group.rows.length > 1))
  t.end()
})

const describe = (groups: ReturnType<typeof groupByCause>) =>
  groups.map(({ cause, rows }) => [
    cause ? `${cause.kind} ${cause.value}` : 'none',
    rows.map(({ name }) => name).join(' '),
  ])

t.test('The outage of a parent comes before causes of more monitors, and contains the parent', t => {
  const rows = [
    down('shop', 'refused', ...ALL),
    down('mail', 'refused', ...ALL),
    down('router', 'timed out', ...ALL),
    down('other', 'refused', ...ALL),
  ]
  const parents = { shop: [{ id: 'router', name: 'router' }] }
  t.same(describe(groupByCause(rows, { ...KNOWN, parents })), [
    ['parent router', 'shop router'],
    ['error refused', 'mail other'],
  ])
  const two = { shop: [{ id: 'router', name: 'router' }], mail: [{ id: 'away', name: 'Same name' }] }
  t.same(
    describe(groupByCause(rows, { ...KNOWN, parents: two }))[0],
    ['parent router', 'shop router'],
    'a single child of a parent that is not listed has no group',
  )
  t.end()
})

t.test('Monitors at the domain of a vendor with an incident are one group', t => {
  const rows = ['api', 'checkout', 'lookalike'].map(name => down(name, null, ...ALL))
  const hosts = new Map([
    ['api', 'api.adyen.com'],
    ['checkout', 'adyen.com'],
    ['lookalike', 'notadyen.com'],
  ])
  const vendors = [{ id: 'd1', name: 'Adyen', domain: 'adyen.com' }]
  t.same(describe(groupByCause(rows, { ...KNOWN, hosts, vendors })), [
    ['vendor Adyen', 'api checkout'],
    ['none', 'lookalike'],
  ])
  const same = new Map([...hosts, ['checkout', 'api.adyen.com']])
  t.same(describe(groupByCause(rows, { ...KNOWN, hosts: same, vendors }))[0], ['vendor Adyen', 'api checkout'])
  t.end()
})

t.test('Only the status page of a vendor of the catalog says which domain is its own', t => {
  const rows: [string | null, string, string | null][] = [
    ['adyen', 'https://status.adyen.com', 'adyen.com'],
    ['google-cloud', 'https://status.cloud.google.com/summary', 'cloud.google.com'],
    ['github', 'https://www.githubstatus.com', null],
    ['odd', 'https://status.io', null],
    [null, 'https://status.example.com', null],
  ]
  for (const [slug, url, domain] of rows) t.equal(findVendorDomain({ slug, status_url: url }), domain, url)
  t.end()
})

t.test('The host of an address is found in all its forms', t => {
  const rows: [string | null, string | null][] = [
    ['https://Shop.example.com:8443/health?x=1', 'shop.example.com'],
    ['https://ann:secret@shop.example.com/', 'shop.example.com'],
    ['db.example.com:5432', 'db.example.com'],
    ['example.com', 'example.com'],
    ['192.0.2.1', '192.0.2.1'],
    ['http://[2001:db8::1]:80/', '2001:db8::1'],
    ['', null],
    [null, null],
  ]
  for (const [address, host] of rows) t.equal(parseHost(address), host, address ?? 'null')
  t.end()
})

t.test('The overview has one line a common cause, which contains all its monitors, and the others as rows', t => {
  const board = buildBoard([
    { id: 'm1', name: 'Checkout', status: 'down', cause: 'timed out' },
    { id: 'm2', name: 'Search', status: 'degraded', cause: 'slow' },
    { id: 'm3', name: 'Mail', status: 'down', cause: 'reset' },
  ])
  const listMonitors = buildList([
    buildMonitor({ id: 'm1', url: 'https://shop.example/a', configuration_issues: [] }),
    buildMonitor({ id: 'm2', url: 'https://shop.example/b', configuration_issues: [] }),
    buildMonitor({ id: 'm3', url: 'https://mail.example/', configuration_issues: [] }),
  ])
  const { html } = renderScreen('/', { board, answers: { listMonitors } })
  t.match(toText(html), /shop\.example Same host 1 down 1 degraded/)
  const [, group = ''] = /<details class="common">(.*?)<\/details>/s.exec(html) ?? []
  t.match(group, '/monitors/m1')
  t.match(group, '/monitors/m2')
  t.notMatch(group, '/monitors/m3')
  for (const id of ['m1', 'm2', 'm3']) t.equal(html.split(`data-id="${id}"`).length - 1, 1, id)
  const away = { status: 503, code: 'unavailable', message: 'try again' }
  const without = renderScreen('/', { board, errors: { listMonitors: away } }).html
  for (const id of ['m1', 'm2', 'm3'])
    t.match(without, `data-id="${id}"`, 'no monitor is hidden without their addresses')
  t.end()
})

t.test('The overview names the parent that is down, and an incident of a vendor as possible', t => {
  const board = buildBoard([
    { id: 'm1', name: 'Shop', status: 'down', cause: 'timed out', parents: ['switch'] },
    { id: 'switch', name: 'Switch', status: 'up', parents: ['router'] },
    { id: 'router', name: 'Router', status: 'down', cause: 'no answer' },
    { id: 'm2', name: 'Payments', status: 'down', cause: 'reset' },
    { id: 'm3', name: 'Payouts', status: 'degraded', cause: 'slow' },
  ])
  const listMonitors = buildList(
    ['m2', 'm3'].map(id => buildMonitor({ id, url: `https://${id}.adyen.com/`, configuration_issues: [] })),
  )
  const [stored] = INTEGRATION_ANSWERS.listDependencies!.data
  const adyen = { ...stored!, id: 'd9', slug: 'adyen', name: 'Adyen', status_url: 'https://status.adyen.com' }
  const show = (openIncidents: number) =>
    renderScreen('/', {
      ...{ board },
      answers: { listMonitors, listDependencies: buildList([{ ...adyen, open_incidents: openIncidents }]) },
    }).html
  const html = show(1)
  t.match(toText(html), 'Router Parent is down 2 down')
  t.match(toText(html), 'Adyen Possible cause: vendor incident 1 down 1 degraded')
  t.match(html, 'href="/dependencies/d9"')
  t.notMatch(show(0), 'Adyen', 'without an open incident the vendor is not a cause')
  t.end()
})
