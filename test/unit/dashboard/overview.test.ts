import t from 'tap'
import { matchScreen } from '../../../control-plane/dashboard/core/screen.ts'
import { OPEN_STATUSES } from '../../../control-plane/dashboard/screens/incidents/incident-filter.ts'
import { buildChannel, buildIncident, buildList, buildMonitor } from '../../support/dashboard-answers.ts'
import { ADMIN, ago, buildBoard, NOW, VIEWER } from '../../support/dashboard-fixtures.ts'
import { buildWindow } from '../../support/dashboard-reach-answers.ts'
import { LOADED_SCREENS, renderScreen, type ScreenState, toText } from '../../support/dashboard-screens.tsx'

const AWAY = { status: 503, code: 'unavailable', message: 'temporarily unavailable; try again shortly' }
const show = (state: ScreenState = {}) => {
  const { html, title } = renderScreen('/', state)
  return { html, title, text: toText(html) }
}

const UP = { name: 'Mail', status: 'up' } as const
const DOWN = { id: 'd1', name: 'Shop', status: 'down', since: ago(12), cause: 'connection refused' } as const
const WITH_PROBLEMS = buildBoard([
  { ...DOWN, votes: { 'us-east': 'failing', 'eu-west': 'ok' } },
  { name: 'Search', status: 'degraded', since: ago(3) },
  { name: 'New', status: null },
  { name: 'Old', isPaused: true },
  UP,
])

t.test('The title and the heading are one sentence about all monitors', t => {
  const rows: [Parameters<typeof buildBoard>[0], string][] = [
    [[UP], 'The monitor is up'],
    [[UP, { name: 'b' }], 'All 2 monitors are up'],
    [[UP, { name: 'b' }, { name: 'c', isPaused: true }], 'All 2 monitors are up, 1 paused'],
    [[{ name: 'c', isPaused: true }], '1 paused'],
    [[{ name: 'n', status: null }], '1 unknown'],
    [[DOWN], '1 down'],
    [[DOWN, UP, { name: 'n', status: null }], '1 down, 1 unknown, 1 up'],
    [Array.from({ length: 1_500 }, (_, i) => ({ name: `m${i}` })), 'All 1,500 monitors are up'],
  ]
  for (const [entries, sentence] of rows) {
    const { title, text } = show({ board: buildBoard(entries) })
    t.equal(title, `${sentence} · Picket`)
    t.match(text, sentence)
  }
  t.equal(show({ board: WITH_PROBLEMS }).title, '1 down, 1 degraded, 1 unknown, 1 up, 1 paused · Picket')
  t.end()
})

t.test('Without monitors the page says so, and a healthy project has no list of trouble', t => {
  const empty = show({ board: buildBoard([]), answers: { listAlertChannels: buildList([]) } })
  t.match(empty.text, 'Nothing is monitored yet')
  t.match(empty.text, 'import a file of Uptime Kuma or Gatus.')
  t.match(empty.html, 'href="/settings/import"')
  const healthy = show()
  t.notMatch(healthy.html, /id="trouble"|class="banner/)
  t.match(healthy.text, 'There was no incident yet.')
  t.match(healthy.text, 'Uptime 99.98 % in 24 hours')
  t.match(healthy.text, '100 % in 30 days')
  t.match(healthy.text, '25,920 checks in 24 hours')
  t.match(healthy.text, '2 incidents resolved in 24 hours')
  t.end()
})

t.test('Monitors that are not up are listed with votes, cause and duration; paused ones are not', t => {
  const { html, text } = show({ board: WITH_PROBLEMS })
  t.match(html, 'aria-label="Votes: us-east failing, eu-west ok"')
  t.match(html, 'href="/monitors/d1"')
  t.match(text, 'Shop Down connection refused 12 min')
  t.ok(text.indexOf('Shop Down') < text.indexOf('Search Degraded'))
  t.ok(text.indexOf('Search Degraded') < text.indexOf('New Unknown'))
  t.notMatch(text, /Mail Up|Old Paused/)
  t.equal(html.split('<tr').length - 1, 4, 'a head and three rows')
  t.end()
})

t.test('More trouble than fits is counted, with a link to all', t => {
  const many = buildBoard(Array.from({ length: 211 }, (_, i) => ({ name: `m${i}`, status: 'down' as const })))
  const { html, text } = show({ board: many })
  t.equal(html.split('aria-rowindex').length - 1, 200)
  t.match(text, 'All 211 monitors that are not up')
  t.match(html, 'href="/monitors?q=-is:up+-is:paused"')
  t.end()
})

t.test('Open incidents come first, and one without an acknowledgement is marked', t => {
  const answers = {
    listIncidents: buildList([
      buildIncident({
        id: 'old',
        title: 'Mail was down',
        status: 'resolved',
        resolved_at: ago(60),
        started_at: ago(90),
      }),
      buildIncident({ id: 'open', title: 'Shop is down' }),
      buildIncident({ id: 'seen', title: 'Search is slow', status: 'identified', acknowledged_at: ago(1) }),
    ]),
  }
  const { html, text } = show({ answers })
  t.ok(text.indexOf('Shop is down') < text.indexOf('Mail was down'))
  t.match(text, /Shop is down investigating · began 21 Nov 2026, 13:53:30 UTC \( ?12 min ago ?\) · not acknowledged/)
  t.match(text, 'Mail was down resolved')
  t.equal(text.split('not acknowledged').length - 1, 1)
  t.match(html, 'class="open-incident" href="/incidents/open"')
  t.end()
})

t.test('Open incidents that do not fit are counted, and resolved ones do not hide them', t => {
  const open = Array.from({ length: 6 }, (_, i) => buildIncident({ id: `o${i}`, title: `Shop ${i} is down` }))
  const { html, text } = show({ answers: { listIncidents: buildList(open, 9) } })
  t.match(text, 'Shop 5 is down')
  t.match(html, '<a href="/incidents?status=open">3 more open incidents</a>')
  const match = matchScreen(LOADED_SCREENS, '/')!
  const reads = Object.values(match.screen.queries({ params: {}, search: new URLSearchParams() }, NOW, ADMIN))
  t.ok(
    reads.some(({ name, arguments: args }) => name === 'listIncidents' && JSON.stringify(args).includes(OPEN_STATUSES)),
    'open incidents have a read of their own',
  )
  t.end()
})

t.test('Problems that need a person are listed: paused channels, undelivered alerts, wrong settings', t => {
  const paused = buildChannel({ id: 'c9', name: 'Pager', is_paused: true, paused_reason: '10 deliveries failed' })
  const { html, text } = show({
    answers: {
      listAlertChannels: buildList([buildChannel(), paused]),
      listAlertLog: buildList([], 1_200),
      listRegions: buildList([
        { ...{ region: 'us-east', name: 'US East', is_live: false, live_probes: 0 }, no_live_probe_since: ago(3) },
        { ...{ region: 'eu-west', name: 'EU West', is_live: false, live_probes: 0 }, no_live_probe_since: ago(3) },
      ]),
    },
    board: buildBoard([
      { id: 'm7', name: 'Invoices', issue: 'a keyword is required' },
      { name: 'Shop' },
      { name: 'Paused', isPaused: true },
    ]),
  })
  t.match(text, 'The channel Pager is paused: 10 deliveries failed')
  t.match(text, '1,200 alerts could not be delivered.')
  t.match(text, /Invoices ?: a keyword is required/)
  t.match(text, 'No probe is live in us-east: 2 monitors cannot be checked there.')
  t.notMatch(text, 'eu-west', 'no monitor uses this region')
  for (const address of ['/settings/channels/c9', '/log?status=failed,dead', '/monitors/m7'])
    t.match(html, `href="${address}"`)
  t.end()
})

t.test('A read that fails is an error in its own place, and the rest of the page works', t => {
  const rest = {
    board: WITH_PROBLEMS,
    answers: { listIncidents: buildList([buildIncident({ title: 'Shop is broken' })]) },
  }
  const rows = [
    ['readAnalyticsSummary', 'The figures cannot be shown', [/Shop Down/, /Shop is broken/]],
    ['listIncidents', 'The incidents cannot be shown', [/Shop Down/, /Uptime 99\.98 %/]],
    ['readMonitorBoard', 'The monitors cannot be shown', [/Shop is broken/, /Uptime 99\.98 %/]],
  ] as const
  for (const [name, sentence, others] of rows) {
    const { text } = show({ ...rest, errors: { [name]: AWAY } })
    t.match(text, `${sentence}: ${AWAY.message}.`, name)
    for (const other of others) t.match(text, other, name)
  }
  for (const name of ['listAlertChannels', 'listAlertLog', 'listMonitors', 'listRegions'] as const) {
    const { text } = show({ ...rest, errors: { [name]: AWAY } })
    t.match(text, 'Shop Down', name)
  }
  t.equal(show({ errors: { readMonitorBoard: AWAY } }).title, 'Overview · Picket')
  t.end()
})

t.test('Data of an earlier read stay, with their age and the reason', t => {
  const { text } = show({ board: WITH_PROBLEMS, errors: { listIncidents: AWAY, readMonitorBoard: AWAY }, isOld: true })
  t.match(text, `The incidents are from 1 min ago : ${AWAY.message}.`)
  t.match(text, `The monitors are from 1 min ago : ${AWAY.message}.`)
  t.match(text, 'Shop Down')
  t.end()
})

t.test('While data are loaded, the parts say so', t => {
  const { html, title } = show({ loading: 'everything' })
  t.equal(title, 'Overview · Picket')
  t.ok(html.split('class="skeleton"').length > 3)
  t.notMatch(html, 'cannot be shown')
  t.end()
})

t.test('Viewers see everything without buttons that change something', t => {
  const state = { board: WITH_PROBLEMS }
  const [admin, viewer] = [show(state), show({ ...state, me: VIEWER })]
  t.match(admin.html, 'href="/monitors/new"')
  t.notMatch(viewer.html, 'href="/monitors/new"')
  t.match(viewer.text, 'Shop Down connection refused')
  t.match(viewer.text, 'Role viewer')
  t.end()
})

t.test('Changes of the last 24 hours are listed, also of monitors that recovered', t => {
  const at = (minutes: number) => ({ status_changed_at: ago(minutes) })
  const monitors = [
    buildMonitor({ id: 'c1', name: 'Shop', status: 'up', ...at(5) }),
    buildMonitor({ id: 'c2', name: 'Mail', status: 'down', ...at(23 * 60) }),
    buildMonitor({ name: 'Old', ...at(25 * 60) }),
    buildMonitor({ name: 'Never', status_changed_at: null }),
  ]
  const { html, text } = show({ board: WITH_PROBLEMS, answers: { listMonitors: buildList(monitors) } })
  t.match(text, /Shop Up since 5 min ago.*Mail Down since 23 h ago/)
  t.notMatch(text, /Old Up since|Never/)
  for (const path of ['/monitors/c1', '/monitors?q=since%3A%3C24h']) t.match(html, `href="${path}"`)
  t.match(show().text, 'No monitor changed its status.')
  t.notMatch(show({ board: buildBoard([]) }).text, 'Changes in 24 hours', 'not before the first monitor')
  t.end()
})

t.test('Maintenance that is in force or begins within 24 hours is listed', t => {
  const soon = (minutes: number) => ago(-minutes)
  const windows = [
    buildWindow({ id: 'w1', title: 'Upgrade', status: 'active', cron: null, ends_at: soon(30), next_starts_at: null }),
    buildWindow({ id: 'w2', title: 'Nightly', status: 'active' }),
    buildWindow({ id: 'w3', title: 'Backup', status: 'scheduled', next_starts_at: soon(60) }),
    buildWindow({ title: 'Later', status: 'scheduled', next_starts_at: soon(25 * 60) }),
    buildWindow({ title: 'Past', status: 'ended', next_starts_at: null }),
  ]
  const { html, text } = show({ answers: { listMaintenanceWindows: buildList(windows) } })
  t.match(text, /Upgrade in force, ends 21 Nov .*Nightly in force Backup begins 21 Nov/)
  t.notMatch(text, /Later|Past/)
  t.match(html, 'href="/maintenance/w3"')
  t.notMatch(show({ answers: { listMaintenanceWindows: buildList(windows.slice(3)) } }).html, 'id="maintenance"')
  t.end()
})

t.test('Certificates and domains that end within 30 days are listed, the earliest first', t => {
  const inDays = (days: number) => ago(-days * 24 * 60)
  const monitors = [
    buildMonitor({ id: 'e1', name: 'Shop', ssl_expires_at: inDays(3), domain_expires_at: inDays(-1) }),
    buildMonitor({ id: 'e2', name: 'Mail', ssl_expires_at: inDays(2), domain_expires_at: inDays(200) }),
    buildMonitor({ name: 'Later', ssl_expires_at: inDays(31) }),
  ]
  const { html, text } = show({ answers: { listMonitors: buildList(monitors) } })
  t.match(text, /Shop the domain ended .*Mail the certificate ends .*Shop the certificate ends/)
  t.notMatch(text, /Later the|Mail the domain/)
  t.match(html, 'href="/monitors/e2"')
  t.notMatch(show().html, 'id="expiry"')
  t.end()
})

t.test('Paused monitors do not hide certificates that end soon, and more of them than were read are mentioned', t => {
  const match = matchScreen(LOADED_SCREENS, '/')!
  const { expiring } = match.screen.queries({ params: {}, search: new URLSearchParams() }, NOW, ADMIN)
  t.match(expiring, { name: 'listMonitors', arguments: { query: { sort: 'expires', paused: false, per_page: 50 } } })
  const endsIn = (days: number) => buildMonitor({ name: `Shop ${days}`, ssl_expires_at: ago(-days * 24 * 60) })
  const showEnds = (days: number[], total: number) =>
    show({ answers: { listMonitors: buildList(days.map(endsIn), total) } }).text
  const sentence = 'The first 2 monitors. GET /monitors?sort=expires lists all.'
  t.match(showEnds([-400, 29], 3), sentence)
  t.notMatch(showEnds([-400, 29], 2), sentence, 'all were read')
  t.notMatch(showEnds([-400, 31], 3), sentence, 'the others end later')
  t.end()
})
