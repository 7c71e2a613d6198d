import t from 'tap'
import { buildAcknowledgeUrl } from '../../../control-plane/alerting/channels/notices/wording.ts'
import { incidentScreen } from '../../../control-plane/dashboard/screens/incidents/incident.tsx'
import { toQueries } from '../../../control-plane/dashboard/screens/incidents/incident-filter.ts'
import {
  describeAcknowledged,
  incidentListScreen,
} from '../../../control-plane/dashboard/screens/incidents/incident-list.tsx'
import { buildList, OWN_USER_ID, renderScreen } from '../../support/render-screen.ts'

const ID = '01900000-0000-7000-8000-000000000001'
const MONITOR = { id: '01900000-0000-7000-8000-000000000002', name: 'Checkout', status: 'down' }

const INCIDENT = {
  ...{ id: ID, title: 'Checkout is down', severity: 'major', status: 'investigating', message: null },
  ...{ source: 'automatic', caused_by_monitor_id: null, monitor_ids: [MONITOR.id], monitors: [MONITOR] },
  ...{ started_at: '2026-11-21T14:02:07Z', resolved_at: null, acknowledged_at: null, acknowledged_by: null },
  ...{ possible_causes: [], created_at: '2026-11-21T14:02:07Z', updated_at: '2026-11-21T14:02:07Z' },
}
const ACKNOWLEDGED = { ...INCIDENT, acknowledged_at: '2026-11-21T14:05:07Z', acknowledged_by: OWN_USER_ID }
const RESOLVED = { ...ACKNOWLEDGED, status: 'resolved', resolved_at: '2026-11-21T14:06:07Z' }

const check = (at: string, region: string, error: string | null) => ({
  ...{ at, kind: 'check', monitor_id: MONITOR.id, region },
  check: {
    ...{ status: error ? 'down' : 'up', status_code: error ? 0 : 200, response_time_ms: 80, attempt: 1 },
    ...{ scheduled_at: at, probe_id: 'probe-1', error: error && { source: 'target', code: 'refused', message: error } },
  },
})
const transition = (at: string, to: string, explanation: object | null = null) => ({
  ...{ at, kind: 'transition', monitor_id: MONITOR.id, transition_id: `to ${to} ${at}`, from: null, to },
  ...{ quorum: 'full', summary: `2 of 3 regions say ${to}.`, has_explanation: explanation !== null, explanation },
})
const delivery = (status: string, receivedAt: string | null) => ({
  ...{ at: '2026-11-21T14:02:08Z', kind: 'delivery', delivery_id: `whd_${status}`, event: 'monitor.down' },
  ...{ alert_channel_id: ID, channel_name: 'Operations', channel_type: 'webhook', status, attempts: 3 },
  ...{ received_at: receivedAt, response_code: receivedAt ? 204 : null },
})
const update = (message: string, status: string, at: string, isInternal: boolean) => ({
  ...{ at, kind: 'incident_updated', update_id: ID, status, message, is_internal: isInternal, author_id: OWN_USER_ID },
})

const EXPLANATION = {
  ...{ from: 'up', to: 'down', at: '2026-11-21T14:02:07Z', rule: 'majority_failing' },
  quorum: { mode: 'full', regions: 3, needed: 2, voting: 3, lost_since: null },
  counts: { ok: 1, degraded: 0, failing: 2, not_voting: 0 },
  thresholds: {
    ...{ failures_in_a_row: 3, better_in_a_row: 3, interval_seconds: 30, timeout_ms: 10_000 },
    vote_lifetime_seconds: 190,
  },
  votes: [],
  timings: {
    ...{ first_failure_at: '2026-11-21T14:01:32Z', others_asked_at: null, no_majority_since: null },
    ...{ outage_since: null, outage_seconds: null },
  },
}

const buildTimeline = (items: object[], rest: object = {}) => ({
  data: {
    ...{ incident_id: ID, monitor_ids: [MONITOR.id], monitors_truncated: false, items, counts: [], omitted: [] },
    ...rest,
  },
})

type Options = { timeline?: unknown; members?: unknown; scope?: 'read' | 'write' | 'admin' }
const renderIncident = (incident: object, { timeline = buildTimeline([]), members, scope }: Options = {}) =>
  renderScreen(incidentScreen, {
    answers: { incident: { data: incident }, timeline, members: members ?? new Error('this needs the role admin') },
    params: { id: ID },
    ...(scope && { scope }),
  })

t.test('An open incident says how long it is open and offers to acknowledge and to resolve it', async t => {
  const { text, html } = renderIncident(INCIDENT)
  t.match(text, /Major, investigating, open for 10 min, not acknowledged\./)
  t.match(html, `method="post" action="/incidents/${ID}/acknowledge"`)
  t.match(html, `method="post" action="/incidents/${ID}/resolve"`)
  t.match(html, `method="post" action="/incidents/${ID}/updates"`)
  t.match(html, `href="/monitors/${MONITOR.id}"`)
  t.notMatch(text, /Possible causes/)
})

t.test('The link of an alert leads to the button that acknowledges the incident', async t => {
  const { pathname, hash } = new URL(buildAcknowledgeUrl('https://picket.example', ID))
  t.equal(pathname, `/incidents/${ID}`)
  const [, buttons = ''] = renderIncident(INCIDENT).html.split(`id="${hash.slice(1)}"`)
  t.match(buttons.slice(0, 500), `action="/incidents/${ID}/acknowledge"`)
})

t.test('A viewer sees an incident without forms', async t => {
  const { html, text } = renderIncident(INCIDENT, { scope: 'read' })
  t.notMatch(html, /<form|<button/)
  t.match(text, /not acknowledged/)
})

t.test('An acknowledged incident names the person, and a resolved one its duration', async t => {
  t.match(renderIncident(ACKNOWLEDGED).text, /open for 10 min, acknowledged by you after 3 min\./)
  t.notMatch(renderIncident(ACKNOWLEDGED).html, /\/acknowledge"/)
  const { text, html } = renderIncident(RESOLVED)
  t.match(text, /Major, resolved, lasted 4 min, acknowledged by you after 3 min\./)
  t.notMatch(html, /\/(acknowledge|resolve)"/)
  const other = { ...ACKNOWLEDGED, acknowledged_by: ID }
  t.match(renderIncident(other).text, /acknowledged by a member after/)
  const members = buildList([{ user_id: ID, email: 'bob@example.com' }])
  t.match(renderIncident(other, { members }).text, /acknowledged by bob@example\.com after/)
  t.match(renderIncident({ ...other, acknowledged_by: null }).text, /by a person whose account was deleted/)
})

t.test('The axis shows checks by region, the explanation, deliveries with receipts, and updates', async t => {
  const { text, html } = renderIncident(INCIDENT, {
    timeline: buildTimeline([
      check('2026-11-21T14:01:32Z', 'us-east', 'connection refused'),
      check('2026-11-21T14:01:33Z', 'eu-west', 'connection refused'),
      check('2026-11-21T14:02:02Z', 'us-east', 'connection refused'),
      check('2026-11-21T14:02:02Z', 'ap-southeast', null),
      transition('2026-11-21T14:02:07Z', 'down', EXPLANATION),
      delivery('delivered', '2026-11-21T14:02:08.250Z'),
      delivery('failed', null),
      update('We look at it.', 'identified', '2026-11-21T14:03:07Z', true),
    ]),
  })
  t.match(
    text,
    /21 Nov 2026 14:01:32 UTC −35\.0 s us-east 2 of 2 failed connection refused eu-west failed ap-southeast ok/,
  )
  t.equal(text.split('connection refused').length, 2, 'the same error is named once')
  t.match(text, /Checkout is down 2 of 3 regions say down\. Why, by region Down: 2 of 3 regions are failing/)
  t.match(html, '<details open')
  t.match(text, /\+1\.0 s Operations monitor down Delivered 204, after 250 ms, 3 attempts Receipt/)
  t.match(text, /Operations monitor down Failed 3 attempts Receipt/)
  t.match(html, 'href="/log/whd_failed"')
  t.match(text, /\+1 min Identified by you internal We look at it\./)
})

t.test(
  'The axis shows maintenance, vendor incidents, changes, the acknowledgement and the end, each at its time',
  async t => {
    const items = [
      {
        ...{ at: '2026-11-21T13:30:00Z', kind: 'change' },
        entry: {
          ...{ action: 'updated', resource: 'monitor', resource_id: MONITOR.id, resource_name: 'Checkout' },
          ...{ actor: { kind: 'user', id: OWN_USER_ID, name: 'Ann', ip: null }, changes: { url: {}, timeout_ms: {} } },
        },
      },
      {
        ...{
          at: '2026-11-21T13:50:00Z',
          kind: 'maintenance',
          window_id: 'w1',
          name: 'Move <b>',
          monitor_id: MONITOR.id,
        },
        ends_at: '2026-11-21T15:00:00Z',
      },
      {
        ...{ at: '2026-11-21T14:00:07Z', kind: 'vendor_incident', name: 'GitHub', title: 'Slow pushes' },
        ...{ severity: 'major', source_url: 'https://status.example/1' },
      },
      { at: '2026-11-21T14:02:07Z', kind: 'incident_opened', title: 'x', severity: 'major', source: 'automatic' },
      delivery('delivered', '2026-11-21T14:02:08.250Z'),
      { at: '2026-11-21T14:05:07Z', kind: 'incident_acknowledged', user_id: OWN_USER_ID },
      { at: '2026-11-21T14:06:07Z', kind: 'incident_resolved' },
    ]
    const { html, text } = renderIncident(RESOLVED, { timeline: buildTimeline(items) })
    const rows = [
      /13:30:00 UTC −32 min 7 s Checkout was updated by Ann ?: url, timeout_ms/,
      /13:50:00 UTC −12 min 7 s Maintenance Move &lt;b> of Checkout until 21 Nov 2026, 15:00:00 UTC/,
      /14:00:07 UTC −2 min GitHub reports Slow pushes major/,
      /14:02:07 UTC Incident opened ?, major, automatically/,
      /14:02:08 UTC \+1\.0 s Operations monitor down Delivered 204, after 250 ms, 3 attempts Receipt/,
      /14:05:07 UTC \+3 min Acknowledged by you/,
      /14:06:07 UTC \+4 min Resolved/,
    ]
    const places = rows.map(row => text.search(row))
    t.notOk(places.includes(-1), JSON.stringify(places))
    t.same(
      places,
      places.toSorted((a, b) => a - b),
      'oldest first',
    )
    t.match(html, '<a href="https://status.example/1" dir="auto" rel="noreferrer">')
    t.equal(
      html.split(/<li class="(?:change|maintenance|vendor_incident|incident_\w+|delivery)"/).length - 1,
      rows.length,
    )
  },
)

t.test('The axis shows alerts that were withheld, why, and whether they wait', async t => {
  const withheld = (event: string, rest: object) => ({
    ...{ at: '2026-11-21T14:02:08Z', kind: 'withheld_alert', event_id: ID, monitor_id: MONITOR.id, event },
    ...{ until: null, is_waiting: false, ...rest },
  })
  const { text } = renderIncident(INCIDENT, {
    timeline: buildTimeline([
      withheld('monitor.down', { reason: 'silenced', until: '2026-11-21T16:00:00Z', is_waiting: true }),
      withheld('monitor.up', { reason: 'maintenance', until: '2026-11-21T15:00:00Z' }),
      withheld('monitor.down', { reason: 'parent', is_waiting: true }),
    ]),
  })
  t.match(text, /Monitor down not sent: ?withheld by a silence until 21 Nov 2026, 16:00:00 UTC · It waits until then/)
  t.match(text, /Monitor up ?withheld by maintenance until 21 Nov 2026, 15:00:00 UTC · It has no delivery of its own\./)
  t.match(text, /Monitor down not sent: ?withheld by the outage of a parent · It waits\./)
})

t.test('Only the decision that opened the incident is unfolded, and one row says that it ended', async t => {
  const resolved = { at: '2026-11-21T14:06:07Z', kind: 'incident_resolved' }
  const { html, text } = renderIncident(RESOLVED, {
    timeline: buildTimeline([
      transition('2026-11-21T13:40:00Z', 'down', EXPLANATION),
      transition('2026-11-21T14:02:07Z', 'down', EXPLANATION),
      transition('2026-11-21T14:06:07Z', 'up', EXPLANATION),
      resolved,
      update('Checkout is up again after 4 minutes.', 'resolved', '2026-11-21T14:06:07.020Z', false),
    ]),
  })
  t.equal(html.split('<details').length - 1, 3)
  t.equal(html.split('<details open').length - 1, 1)
  t.equal(text.split('Resolved by you').length - 1, 1)
  t.equal(html.split('<li class="incident_resolved"').length - 1, 0)
  const alone = renderIncident(RESOLVED, { timeline: buildTimeline([resolved]) })
  t.equal(alone.html.split('<li class="incident_resolved"').length - 1, 1, 'without an update it has its own row')
})

t.test('The axis says what is missing', async t => {
  const timeline = buildTimeline([], {
    omitted: [
      { kind: 'check', reason: 'unavailable' },
      { kind: 'change', reason: 'insufficient_scope' },
    ],
    counts: [{ kind: 'delivery', items: 200, truncated: true }],
  })
  const { text } = renderIncident(INCIDENT, { timeline })
  t.match(text, /Checks are not shown: the history cannot be read at the moment\./)
  t.match(text, /more than 200 entries of the kind “delivery”/)
  t.match(
    renderIncident(INCIDENT, { timeline: new Error('try again') }).text,
    /The events cannot be shown: try again\./,
  )
})

t.test('A silence that overlaps the incident is on the axis, with its reason and its end', async t => {
  const silence = {
    ...{ at: '2026-11-21T13:50:00Z', kind: 'silence', silence_id: 's1', monitor_id: MONITOR.id },
    ...{ ends_at: '2026-11-21T15:00:00Z', reason: 'a <b>move</b>' },
  }
  const { text, html } = renderIncident(INCIDENT, { timeline: buildTimeline([silence]) })
  t.match(text, /Alerts of Checkout silenced until\s+21 Nov 2026,\s+15:00/)
  t.match(html, 'a &lt;b>move')
  t.notMatch(html, /<b>move/)
})

t.test('Texts of people are shown as texts', async t => {
  const hostile = '<img src=x onerror=alert(1)>'
  const timeline = buildTimeline([update(hostile, 'identified', '2026-11-21T14:03:07Z', false)])
  const { html } = renderIncident({ ...INCIDENT, title: hostile }, { timeline })
  t.notMatch(html, /<img/)
})

const renderList = (answers: Record<string, unknown>, search = '') =>
  renderScreen(incidentListScreen, { answers: { members: new Error('not allowed'), ...answers }, search })

t.test('The list shows open incidents first, then resolved ones', async t => {
  const open = buildList([INCIDENT])
  const { text, html } = renderList({ open, unacknowledged: open, resolved: buildList([RESOLVED], 60) })
  t.match(text, /1 incident open, 1 not acknowledged\./)
  t.match(
    text,
    /Open 1 .*Major Checkout is down Investigating Checkout 21 Nov 2026, 14:02:07 UTC 10 min not yet .*Resolved 60 /,
  )
  t.match(text, /4 min by you/)
  t.match(html, 'href="/incidents?page=2"')
})

t.test('The list without incidents says why it is empty', async t => {
  const none = buildList([])
  t.match(renderList({ open: none, unacknowledged: none, resolved: none }).text, /There has been no incident\./)
  const filtered = renderList({ resolved: none, unacknowledged: none }, 'status=resolved&q=shop')
  t.match(filtered.text, /No incident matches these filters\. Show all incidents/)
  t.match(filtered.html, '<option value="resolved" selected>')
  t.match(filtered.html, 'value="shop"')
})

t.test('A part of the list that cannot be read is an error in its own place', async t => {
  const { text } = renderList({
    open: new Error('try again'),
    unacknowledged: buildList([]),
    resolved: buildList([RESOLVED]),
  })
  t.match(text, /Open incidents cannot be shown: try again\..*Resolved 1 /)
})

t.test('Filters of the address become the queries of the API', async t => {
  const queries = (search: string) => toQueries(new URLSearchParams(search))
  t.same(queries(''), {
    open: { status: 'investigating,identified,monitoring', per_page: 100 },
    resolved: { status: 'resolved', page: 1 },
  })
  t.same(queries('page=2').open, null, 'open incidents are on the first page')
  t.same(queries('status=monitoring&page=3'), { open: { status: 'monitoring', page: 3 }, resolved: null })
  t.same(queries('status=resolved&severity=major&q=shop&monitor_id=x&page=no'), {
    open: null,
    resolved: { status: 'resolved', severity: 'major', q: 'shop', monitor_id: 'x', page: 1 },
  })
  t.match(queries('status=open&from=2026-11-20&to=2026-11-21').open, {
    from: '2026-11-20T00:00:00.000Z',
    to: '2026-11-22T00:00:00.000Z',
  })
  t.match(queries('status=open&page=2').open, { page: 2, per_page: 100 }, 'what follows the open incidents of the list')
  t.match(queries('status=open&from=yesterday').open, { from: 'yesterday' }, 'the API says that it is wrong')
})

t.test('The sentence counts only the incidents that were read', async t => {
  const incidents = (waiting: number, others: number) => [
    ...Array.from({ length: waiting }, () => ({ acknowledged_at: null })),
    ...Array.from({ length: others }, () => ({ acknowledged_at: '2026-11-20T10:00:00Z' })),
  ]
  t.equal(describeAcknowledged(incidents(0, 3), 3), 'all acknowledged')
  t.equal(describeAcknowledged(incidents(2, 1), 3), '2 not acknowledged')
  t.equal(describeAcknowledged(incidents(0, 100), 300), '0 of the newest 100 not acknowledged')
  t.equal(describeAcknowledged(incidents(40, 60), 300), '40 of the newest 100 not acknowledged')
})

/** A whole check, as the API returns it. */
const wholeCheck = (region: string, status: 'up' | 'down', body: string | null) => ({
  ...{ id: `check-${region}`, monitor_id: MONITOR.id, region, probe_id: 'probe-1', status, attempt: 3 },
  ...{ scheduled_at: '2026-11-21T14:02:05Z', started_at: null, trigger: 'schedule', response_time_ms: 80 },
  ...{ timings: null, status_code: 503, error: null, failed_assertions: [], resolved_ip: null, screenshot_url: null },
  ...{ certificate: null, ping: null, dns: null, evidence: body && { headers: { server: 'nginx' }, body, chain: [] } },
})

t.test('An incident shows the evidence of a failing and a healthy region side by side', async t => {
  const failing = wholeCheck('us-east', 'down', '<script>alert(1)</script>')
  const render = (healthy: object | null) => {
    const evidence = { monitor_id: MONITOR.id, transition_id: ID, failing, healthy }
    return renderIncident(INCIDENT, { timeline: buildTimeline([], { evidence }) })
  }
  const { html, text } = render(wholeCheck('eu-west', 'up', null))
  t.match(html, 'aria-label="Failing: us-east"')
  t.match(html, 'aria-label="Healthy: eu-west"')
  t.match(html, `href="/monitors/${MONITOR.id}?check=check-us-east&amp;at=2026-11-21T14%3A02%3A05Z#check"`)
  t.match(text, /server: nginx/)
  t.notMatch(html, '<script>alert(1)')
  t.match(render(wholeCheck('us-east', 'up', null)).html, 'aria-label="Before the failure: us-east"')
  t.match(render(null).text, /There is no healthy check to compare/)
  t.notMatch(renderIncident(INCIDENT).html, 'id="evidence"', 'nothing to compare')
})
