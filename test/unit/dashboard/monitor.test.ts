import t from 'tap'
import {
  buildChannel,
  buildCheck,
  buildCurrentVotes,
  buildIncident,
  buildList,
  buildMonitor,
  buildTransition,
  failingVotesNow,
  HEALTHY_ANSWERS,
} from '../../support/dashboard-answers.ts'
import { ago, VIEWER } from '../../support/dashboard-fixtures.ts'
import { renderScreen, type ScreenState, toText } from '../../support/dashboard-screens.tsx'

const AWAY = { status: 503, code: 'unavailable', message: 'temporarily unavailable; try again shortly' }
const NOT_FOUND = { status: 404, code: 'not_found', message: 'monitor not found' }
const { id: ID } = buildMonitor()

const show = (state: ScreenState = {}, search = '') => {
  const { html, title } = renderScreen(`/monitors/${ID}${search}`, state)
  return { html, title, text: toText(html) }
}
const showMonitor = (changes: Parameters<typeof buildMonitor>[0], state: ScreenState = {}) =>
  show({ ...state, answers: { ...state.answers, readMonitor: { data: buildMonitor(changes) } } })

const EDITOR = { ...VIEWER, scope: 'write', role: 'editor' } as const
const DOWN = { status: 'down', status_changed_at: ago(1) } as const

const buildScreenshot = (region: string, url: string) => ({
  ...{ id: 's1', monitor_id: ID, region, taken_in: region, scheduled_at: ago(1), attempt: 1, difference: null, url },
  ...{ created_at: ago(1), updated_at: ago(1) },
})

type Silence = ReturnType<typeof buildCurrentVotes>['silenced_by'][number]

const buildSilence = (kind: Silence['kind'], changes: Partial<Silence> = {}): Silence => ({
  ...{ kind, id: kind, name: null, until: null },
  ...changes,
})

t.test('A monitor of a data source leads to the source and lists nothing that only probes have', t => {
  const source = { id: 's1', name: 'Platform', field_id: null, key: 'cart' }
  const reasons = ['data_source: the status is that of a document, which is fetched at its own interval']
  const { html, text } = showMonitor(
    { data_source: source },
    { answers: { readMonitorGuarantee: { data: { outages: [], reasons } as never } } },
  )
  t.match(html, '<a href="/sources/s1" dir="auto">Platform</a>')
  t.match(text, 'Data source Platform Value cart')
  t.match(text, 'The status is that of a document, which is fetched at its own interval.')
  t.notMatch(text, /data_source:|Checked every|Re-checks/)
  t.end()
})

t.test('A monitor that is up shows its status, votes, history, checks, alerts and settings', t => {
  const { html, text, title } = show()
  t.equal(title, 'Shop · Picket')
  t.match(text, 'http https://shop.example/')
  t.match(text, 'Up for 1 h 30 min, since 21 Nov 2026, 12:35:30 UTC')
  t.match(text, '0 of 3 votes are failing; 2 more make it down.')
  t.match(text, 'Next check 14:06:00 UTC · a vote is valid for 3 min 10 s')
  t.match(text, '99.98 % in 24 hours')
  t.match(html, 'aria-label="90 days, 1 with trouble, 1 change of settings and alert rules"')
  t.match(text, /2 min 10 s down/)
  t.match(html, 'aria-label="Response time of 360 checks; last p50 400 ms, p95 700 ms"')
  t.match(html, 'aria-label="Distribution of response times: 210 successful checks, 2 failed"')
  t.match(html, '<rect class="outage"')
  t.match(text, 'The status has not changed yet.')
  t.match(text, /Up 21 Nov 2026, 14:04:30 UTC us-east 200, 812 ms/)
  t.match(text, 'Operations webhook · down, recovery; reminder every 30 min')
  t.match(text, 'Checked every 30 s Regions us-east, eu-west, ap-southeast Timeout 10 s Re-checks 2')
  t.match(text, 'Certificate expires 1 Mar 2027')
  t.match(text, 'An outage is detected at the latest after 37 s (refused).')
  t.notMatch(text, 'cannot be shown')
  t.end()
})

t.test('The charts say so when the status changed too often to mark all outages', t => {
  const notice = 'The status changed too often to mark all outages.'
  t.notMatch(show().text, notice)
  const { data } = HEALTHY_ANSWERS.readAnalyticsUptime!
  t.match(show({ answers: { readAnalyticsUptime: { data: { ...data, truncated: true } } } }).text, notice)
  t.end()
})

t.test('The page of a monitor says so when it marks only the newest changes of settings', t => {
  const notice = /Only the newest 1 changes are marked/
  t.notMatch(show().text, notice)
  const [entry] = HEALTHY_ANSWERS.listAuditLog!.data
  t.match(show({ answers: { listAuditLog: buildList([entry!], 360) } }).text, notice)
  t.end()
})

t.test('A monitor that is down says why: reason, votes of the decision, votes now, open incident', t => {
  const answers = {
    readMonitor: { data: buildMonitor(DOWN) },
    listMonitorVotes: { data: failingVotesNow() },
    listMonitorTransitions: buildList([
      buildTransition(),
      buildTransition({ id: 't0', from: null, to: 'up', at: ago(900) }),
    ]),
    listIncidents: buildList([buildIncident({ id: 'old', resolved_at: ago(600) }), buildIncident({ id: 'i9' })]),
  }
  const { html, text } = show({ answers })
  t.match(text, 'Down for 1 min, since 21 Nov 2026, 14:04:30 UTC')
  t.match(text, '2 of 3 regions failed 3 checks in a row: us-east, eu-west (connection refused)')
  t.match(text, '2 of 3 votes are failing; 2 are enough for down.')
  t.match(text, 'Down: 2 of 3 regions are failing, which is a majority of the votes.')
  t.match(html, 'aria-label="Votes now: us-east failing, eu-west failing, ap-southeast ok"')
  t.match(html, '<details class="transition" open>', 'the last change is open')
  t.equal(html.split('<details class="transition"').length - 1, 2)
  t.match(html, 'href="/incidents/i9">Open incident')
  t.end()
})

t.test('Paused, unknown and suppressed monitors say what is the case', t => {
  const paused = showMonitor(
    { status: null, is_paused: true },
    { answers: { listMonitorVotes: { data: buildCurrentVotes({ silenced_by: [buildSilence('paused')] }) } } },
  )
  t.match(paused.text, 'Paused')
  t.match(paused.text, 'The monitor is paused: it is not checked.')
  t.match(paused.text, 'Resume')
  t.notMatch(paused.text, /Check now|for 1 h 30 min/)
  const unchecked = buildCurrentVotes({ status: null, unchecked_since: ago(5) })
  const unknown = showMonitor(
    { status: null, status_changed_at: null },
    { answers: { listMonitorVotes: { data: unchecked } } },
  )
  t.match(unknown.text, 'Unknown')
  t.match(unknown.text, 'No check has counted for three intervals, so the status is unknown.')
  const until = '2026-11-21T15:00:00.000Z'
  const silences = [
    buildSilence('maintenance', { name: 'Move', until }),
    buildSilence('parent_down', { name: 'Router' }),
    buildSilence('parent_grace', { name: 'Router', until }),
  ]
  const { text } = show({ answers: { listMonitorVotes: { data: buildCurrentVotes({ silenced_by: silences }) } } })
  t.match(text, 'No alerts until 2026-11-21 15:00 UTC: maintenance window "Move".')
  t.match(text, 'No alerts: the parent "Router" is down.')
  t.match(text, 'Alerts wait until 2026-11-21 15:00 UTC: the parent "Router" may be down too.')
  t.end()
})

t.test('A change without an explanation is a line, and a heartbeat has neither charts nor regions', t => {
  const bare = buildTransition({ to: null, summary: 'No check counted for three intervals', explanation: {} })
  const { html, text } = show({ answers: { listMonitorTransitions: buildList([bare]) } })
  t.match(html, '<div class="transition">')
  t.match(text, /Unknown 21 Nov 2026, 14:04:30 UTC 1 min ago No check counted for three intervals/)
  const ping = 'https://picket.example/ping/x'
  const times = { heartbeat_interval: 3_600, heartbeat_grace: 300 }
  const heartbeat = showMonitor({ type: 'heartbeat', url: null, ping_url: ping, regions: [], ...times })
  t.match(heartbeat.text, `Expected every 1 h Grace 5 min Ping address ${ping}`)
  t.match(heartbeat.html, '>Pings</h2>')
  t.notMatch(heartbeat.text, /Check now|Response times|Checked every|votes (is|are) failing/)
  t.end()
})

t.test('The address of a check opens it: phases, fault, error, assertions, answer, certificate, screenshots', t => {
  const certificate = {
    ...{ subject: 'CN=shop.example', issuer: 'CN=Example CA', names: ['shop.example'], fingerprint: 'ab12' },
    ...{ valid_from: ago(9_000), valid_to: ago(-9_000) },
  }
  const check = buildCheck({
    ...{ status: 'down', status_code: 500, screenshot_url: '/api/v1/screenshots/x', trigger: 'second_opinion' },
    error: { source: 'target', code: 'assertion', message: 'status 500' },
    failed_assertions: [{ type: 'status_code', operator: 'eq', value: '200', actual: '500' }],
    evidence: { headers: { server: 'nginx' }, body: 'Internal error', chain: [certificate] },
    ...{ certificate },
    dns: {
      ...{ rcode: 'NOERROR', server: '192.0.2.53' },
      records: [{ type: 'A', name: 'shop.example.', ttl_seconds: 60, value: '192.0.2.1' }],
    },
  })
  const picture = { ...buildScreenshot('eu-west', '/baseline-eu'), kind: 'baseline' } as const
  const answers = {
    listMonitorChecks: buildList([check]),
    listMonitorScreenshots: buildList([picture, { ...picture, id: 's2', region: 'us-east', url: '/baseline-us' }]),
  }
  const closed = show({ answers }, '?range=7d&region=us-east')
  t.match(closed.text, /Down 21 Nov 2026, 14:04:30 UTC us-east status 500/)
  t.notMatch(closed.html, 'class="drawer"')
  const address = `/monitors/${ID}?range=7d&amp;region=us-east&amp;check=k1&amp;at=${encodeURIComponent(ago(1))}`
  t.match(closed.html, `id="check-k1" href="${address}"`)
  const { html, text } = show({ answers }, `?range=7d&region=us-east&check=k1&at=${ago(1)}`)
  t.match(html, `href="/monitors/${ID}?range=7d&amp;region=us-east">Close`, 'the rest of the address stays')
  t.match(text, 'DNS 12 ms · Connect 20 ms · TLS 40 ms · First byte 700 ms · Transfer 40 ms')
  t.match(text, 'Attempt 1, a second opinion for another region')
  t.match(text, 'Cause target Error status 500 (assertion)')
  t.match(text, 'Failed assertion status_code eq 200; actual value: 500')
  t.match(text, 'Answer of the target server: nginx Internal error')
  t.match(text, 'shop.example. 60 A 192.0.2.1')
  t.equal(text.split('CN=Example CA').length - 1, 1, 'a certificate that is also in the chain is shown once')
  t.match(html, 'alt="The page at the time of the failure"')
  t.match(html, 'src="/baseline-us" alt="The page as it should look"')
  t.notMatch(html, '/baseline-eu')
  const missed = buildCheck({
    status: 'missed',
    status_code: null,
    response_time_ms: null,
    timings: null,
    probe_id: null,
  })
  t.match(
    show({ answers: { listMonitorChecks: buildList([missed]) } }).text,
    /Unknown 21 Nov 2026, 14:04:30 UTC us-east/,
  )
  t.end()
})

t.test('A check whose screenshot is the newest comparison of its region and differs can be accepted as baseline', t => {
  const { scheduled_at, attempt } = buildCheck()
  const of = { scheduled_at, attempt }
  const own = { ...buildScreenshot('us-east', '/own'), ...of, kind: 'comparison', difference: 0.2 } as const
  const baseline = { ...own, id: 's0', scheduled_at: ago(60), kind: 'baseline', difference: null } as const
  const showPictures = (pictures: object[], compares = true, me: ScreenState['me'] = EDITOR) => {
    const answers = {
      readMonitor: { data: buildMonitor({ screenshot_compare: compares }) },
      listMonitorChecks: buildList([buildCheck({ screenshot_url: '/own' })]),
      listMonitorScreenshots: buildList(pictures as (typeof own)[]),
    }
    return show({ answers, me }, `?check=k1&at=${ago(1)}`)
  }
  const { html, text } = showPictures([own, baseline])
  t.match(html, `method="post" action="/monitors/${ID}/baseline"`)
  t.match(text, 'The newest comparison of each region becomes its baseline. Where the settings have changed since,')
  t.match(text, `curl -s -X POST "$PICKET_URL/api/v1/monitors/${ID}/screenshots/baseline"`)
  const failure = { ...own, id: 's2', scheduled_at: ago(0), kind: 'failure', difference: null }
  const elsewhere = { ...own, id: 's3', region: 'eu-west', scheduled_at: ago(0) }
  t.match(
    showPictures([failure, elsewhere, own, baseline]).text,
    'Accept as baseline',
    'neither of them is compared here',
  )

  const newer = { ...own, id: 's4', scheduled_at: ago(0) }
  const without: [what: string, shown: { html: string }][] = [
    ['a viewer', showPictures([own, baseline], true, VIEWER)],
    ['a monitor that compares no longer', showPictures([own, baseline], false)],
    ['no screenshot', showPictures([])],
    ['no difference', showPictures([{ ...own, difference: 0 }, baseline])],
    ['not compared', showPictures([{ ...own, difference: null }, baseline])],
    ['a newer comparison would be accepted', showPictures([newer, own, baseline])],
    ['another attempt', showPictures([{ ...own, attempt: 2 }, baseline])],
    ['the screenshot of a failure', showPictures([{ ...own, kind: 'failure' }, baseline])],
    ['it is the baseline already', showPictures([{ ...own, kind: 'baseline' }])],
  ]
  for (const [what, shown] of without) t.notMatch(shown.html, /\/baseline"|Accept as baseline/, what)
  const listMonitorChecks = buildList([buildCheck({ screenshot_url: '/own' })])
  const errors = { listMonitorScreenshots: AWAY }
  const showAway = (screenshot_compare: boolean) => {
    const answers = { listMonitorChecks, readMonitor: { data: buildMonitor({ screenshot_compare }) } }
    return show({ answers, errors }, `?check=k1&at=${ago(1)}`)
  }
  const away = showAway(true)
  t.notMatch(showAway(false).text, 'The baseline')
  t.match(away.text, `The baseline cannot be shown: ${AWAY.message}.`)
  t.match(away.html, '<img src="/own"')
  t.end()
})

t.test('An id of another monitor, or of a check that was deleted, is a part that says so', t => {
  for (const search of ['?check=other', `?check=other&at=${ago(1)}`, '?check=other&at=yesterday']) {
    const { text } = show({}, search)
    t.match(text, 'There is no such check of this monitor', search)
    t.match(text, 'Up for 1 h 30 min', search)
  }
  t.notMatch(show({}, '?check=k1').text, 'There is no such check', 'one of the list is found without its time')
  const away = show({ errors: { listMonitorChecks: AWAY } }, `?check=k1&at=${ago(1)}`)
  t.match(away.text, `The check cannot be shown: ${AWAY.message}.`)
  t.end()
})

t.test('The address contains the filters and the page of the checks', t => {
  const checks = { data: [buildCheck()], meta: { page: 2, per_page: 20, total: 45, total_pages: 3 } }
  const { html, text } = show({ answers: { listMonitorChecks: checks } }, '?region=eu-west&status=down&page=2&range=7d')
  t.match(html, /<option[^>]*value="eu-west"[^>]*selected|<option[^>]*selected[^>]*value="eu-west"/)
  t.match(text, '21–40 of 45 checks')
  t.match(html, `href="/monitors/${ID}?region=eu-west&amp;status=down&amp;page=3&amp;range=7d#checks"`)
  t.match(html, `href="/monitors/${ID}?region=eu-west&amp;status=down&amp;range=7d#latency" aria-current="true"`)
  t.match(html, '<input type="hidden" name="range" value="7d"', 'the filter keeps the range')
  t.match(html, '<input type="hidden" name="region" value="eu-west"', 'the range keeps the filter')
  const own = show({}, '?from=2026-11-20T10:00&to=2026-11-20T12:00&region=eu-west')
  t.match(own.html, '<input type="datetime-local" name="from" step="300" value="2026-11-20T10:00"')
  t.match(own.html, '<input type="hidden" name="from" value="2026-11-20T10:00"')
  t.notMatch(own.html, 'aria-current="true"')
  for (const search of ['?page=-1', '?page=x', '?status=broken', '?range=1y'])
    t.match(show({}, search).text, 'Shop', search)
  t.end()
})

t.test(
  'Changes of the settings are marks in the charts and below the days, for those who can read the audit log',
  t => {
    const { html, text } = show()
    t.match(html, '<line class="change"')
    t.match(html, '<title>Settings changed: timeout_ms by Ann</title>')
    t.match(html, '<rect class="change"')
    t.match(text, 'timeout_ms by Ann')
    const denied = show({ errors: { listAuditLog: { ...AWAY, status: 403 } } })
    t.notMatch(denied.html, 'class="change"')
    t.notMatch(denied.text, 'timeout_ms by Ann')
    t.end()
  },
)

t.test('Alerts that wait are listed with their reason', t => {
  const alert = { event_id: 'e1', event: 'monitor.down', at: ago(10), reason: 'silenced' as const, until: ago(-60) }
  const listMonitorVotes = { data: buildCurrentVotes({ alerts_withheld: true, withheld_alerts: [alert] }) }
  t.match(
    show({ answers: { listMonitorVotes } }).text,
    /Monitor down of 21 Nov 2026, 13:55:30 UTC ?: withheld by a silence until 21 Nov 2026, 15:05:30 UTC/,
  )
  t.notMatch(show().html, 'Withheld alerts')
  t.end()
})

t.test('Changes of the alert rules of a monitor are marks too', t => {
  const [stored] = HEALTHY_ANSWERS.listAuditLog!.data
  const entry = { ...stored!, resource: 'alert_rule', resource_id: 'r1', resource_name: null }
  const rule = { monitor_id: { from: null, to: 'm1' }, alert_channel_id: { from: null, to: buildChannel().id } }
  const gone = { monitor_id: { from: 'm1', to: null }, alert_channel_id: { from: 'unknown', to: null } }
  const listAuditLog = buildList([
    { ...entry, action: 'created' as const, changes: rule },
    { ...entry, id: 'a2', changes: { on_degraded: { from: true, to: false } } },
    { ...entry, id: 'a3', resource_id: 'r2', action: 'deleted' as const, changes: gone },
    { ...stored!, id: 'a4', action: 'created' as const },
  ])
  const { html } = show({ answers: { listAuditLog } })
  const { name } = buildChannel()
  for (const text of [`Alert rule for ${name} created by Ann`, 'Alert rule deleted by Ann'])
    t.match(html, `<title>${text}</title>`)
  t.match(html, /Alert rule( for \w+)? changed: on_degraded by Ann/)
  t.notMatch(html, 'Settings changed', 'the creation of the monitor is not marked')
  t.match(html, '3 changes of settings and alert rules')
  t.end()
})

t.test('A read that fails is an error in its own place, and the rest of the page works', t => {
  const rows = [
    ['listMonitorVotes', 'The votes cannot be shown'],
    ['listMonitorTransitions', 'The changes of status cannot be shown'],
    ['listMonitorChecks', 'The checks cannot be shown'],
    ['listAnalyticsStrips', 'The days cannot be shown'],
    ['readAnalyticsLatency', 'The response times cannot be shown'],
    ['readAnalyticsHeatmap', 'The counts of the distribution cannot be shown'],
    ['listAlertRules', 'The alert rules cannot be shown'],
    ['readMonitorGuarantee', 'The guaranteed times cannot be shown'],
    ['readAnalyticsUptime', 'Outages in the charts cannot be shown'],
    ['listIncidents', 'The incidents cannot be shown'],
    ['listAlertChannels', 'The names and pauses of the channels cannot be shown'],
  ] as const
  for (const [name, sentence] of rows) {
    const { text } = show({ errors: { [name]: AWAY } })
    t.match(text, `${sentence}: ${AWAY.message}.`, name)
    t.equal(text.split('cannot be shown').length - 1, 1, name)
    t.match(text, 'Up for 1 h 30 min', name)
  }
  const paused = {
    listAlertChannels: buildList([buildChannel({ is_paused: true, paused_reason: '10 deliveries failed' })]),
  }
  t.match(show({ answers: paused }).text, 'Paused: 10 deliveries failed')
  const away = { listMonitorVotes: { data: buildCurrentVotes({ checks_available: false }) } }
  t.match(show({ answers: away }).text, 'The newest checks cannot be read at the moment. Verdicts are not affected.')
  t.end()
})

t.test('Without its monitor the page is not found, not available, or loading', t => {
  const missing = show({ errors: { readMonitor: NOT_FOUND } })
  t.equal(missing.title, 'Page not found · Picket')
  t.match(missing.text, 'This page does not exist, its record was deleted, or it belongs to another organization.')
  t.notMatch(missing.html, '<section')
  const away = show({ errors: { readMonitor: AWAY } })
  t.equal(away.title, 'Not available · Picket')
  t.match(away.text, `This page cannot be shown: ${AWAY.message}. The page tries again by itself.`)
  const loading = show({ loading: 'everything' })
  t.equal(loading.title, 'Loading · Picket')
  t.match(loading.html, 'class="alone skeleton"')
  t.end()
})

t.test('Viewers see everything without buttons that change something', t => {
  const rules = { listAlertRules: buildList([]) }
  const [admin, viewer] = [show({ answers: rules }), show({ answers: rules, me: VIEWER })]
  for (const text of ['Check now', 'Pause', 'Add a channel']) {
    t.match(admin.text, text)
    t.notMatch(viewer.text, text)
  }
  t.notMatch(viewer.html, `/monitors/${ID}/settings`)
  t.match(viewer.text, 'This monitor has no alert channel.')
  t.match(viewer.text, '0 of 3 votes are failing')
  t.equal(
    admin.html.split(' disabled').length - 1,
    8,
    'three buttons, four of the frame and the cursor wait for the script',
  )
  t.notMatch(show({ isInteractive: true }).html, ' disabled')
  t.end()
})
