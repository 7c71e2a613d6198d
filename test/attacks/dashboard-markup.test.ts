import t from 'tap'
import { serializeState } from '../../control-plane/dashboard/core/page-state.ts'
import { TEXT_ATTACKS } from '../support/attacks.ts'
import {
  type ApiAnswers,
  buildChannel,
  buildCheck,
  buildCurrentVotes,
  buildIncident,
  buildList,
  buildMonitor,
  buildTransition,
  failingVotesNow,
  HEALTHY_ANSWERS,
} from '../support/dashboard-answers.ts'
import {
  ADMIN,
  ago,
  buildBoard,
  buildExplanation,
  buildFailingVote,
  REFUSED,
  VIEWER,
} from '../support/dashboard-fixtures.ts'
import { FULL, RECORD_ID, SCENES } from '../support/dashboard-scenes.ts'
import { renderScreen, type ScreenState } from '../support/dashboard-screens.tsx'
import { fillWithText } from '../support/hostile-answers.ts'

/** Every screen of the dashboard. */
const ADDRESSES = [...new Set(SCENES.map(({ address }) => address)), `/start?step=outage&monitor=${RECORD_ID}`]
const SCRIPT_ADDRESS = 'javascript:window.hit=11'
const LONG = 'x'.repeat(4_990)
const AWAY = { status: 503, code: 'unavailable', message: 'not now' }

/** A project in which every text of a user, a target or an operator is `text`. */
function stateWith(text: string): ScreenState {
  const check = { ...REFUSED, error: { ...REFUSED.error!, message: text } }
  const vote = buildFailingVote('us-east', { last_check: check })
  const explanation = buildExplanation({ votes: [vote], decided_by: { ...check, region: 'us-east' } })
  const transition = buildTransition({ summary: text, explanation: explanation as never })
  const monitor = buildMonitor({
    ...{ name: text, url: text, tags: [text], status: 'down', status_changed_at: ago(1), configuration_issues: [text] },
    ...{ assertions: [{ type: 'body', operator: 'contains', value: text }], ping_url: text },
  })
  const failed = buildCheck({
    ...{ status: 'down', error: { source: 'target', code: 'x', message: text }, resolved_ip: text },
    failed_assertions: [{ type: 'body', operator: 'contains', value: text, actual: text }],
    evidence: { headers: { [text]: text }, body: text, chain: [] },
    dns: { rcode: text, server: text, records: [{ type: 'TXT', name: text, ttl_seconds: 1, value: text }] },
  })
  const silence = { kind: 'maintenance', id: '1', name: text, until: null } as const
  const silenced = { kind: 'silenced', id: '2', name: text, until: ago(-60) } as const
  const inForce = {
    id: '2',
    monitor_ids: ['1'],
    monitor_names: [text],
    until: ago(-60),
    reason: text,
    created_at: ago(1),
  }
  const answers: ApiAnswers = {
    ...fillWithText(FULL.answers, text),
    listIncidents: buildList([buildIncident({ title: text })]),
    listAlertChannels: buildList([buildChannel({ name: text, is_paused: true, paused_reason: text })]),
    listSilences: buildList([{ ...inForce, status: 'active' as const }]),
    listMonitors: buildList([monitor]),
    readMonitor: { data: monitor },
    listMonitorVotes: { data: { ...failingVotesNow(), ...buildCurrentVotes({ silenced_by: [silence, silenced] }) } },
    listMonitorTransitions: buildList([transition]),
    listMonitorChecks: buildList([failed]),
    readMonitorGuarantee: { data: { ...HEALTHY_ANSWERS.readMonitorGuarantee!.data, reasons: [text] } },
  }
  return {
    me: { ...ADMIN, organization: { ...ADMIN.organization, name: text }, user: { ...ADMIN.user!, email: text } },
    board: buildBoard([{ name: text, status: 'down', since: ago(1), tags: [text], cause: text, issue: text }]),
    answers,
  }
}

/** The kinds of elements with the names of their attributes, such as `a class href`. */
function elementsIn(html: string): string[] {
  const found = html.matchAll(/<([a-z][\w-]*)((?:\s+[^\s=>"]+(?:="[^"]*")?)*)\s*\/?>/gi)
  return [...found].map(([, name, attributes]) =>
    [name, ...[...attributes!.matchAll(/\s([^\s=>"]+)(?:="[^"]*")?/g)].map(([, attribute]) => attribute).sort()].join(
      ' ',
    ),
  )
}

/** All attacks in one text. A leading space would be a change that a form has not saved. */
const ATTACKS = TEXT_ATTACKS.map(attack => `x${attack}`).join(' ')

t.test('Hostile texts are shown as text in every place of every screen', t => {
  for (const address of ADDRESSES) {
    const expected = elementsIn(renderScreen(address, stateWith('Plain words')).page)
    t.ok(expected.length > 30, `${address} has elements`)
    for (const text of [ATTACKS, LONG, SCRIPT_ADDRESS]) {
      const { page } = renderScreen(address, stateWith(text))
      t.same(elementsIn(page), expected, `${address}: ${text.slice(0, 20)}`)
      t.notMatch(page, /\s(href|src|action|formaction)="?\s*javascript:/i, `${address}: no link runs a script`)
    }
  }
  t.end()
})

t.test('Texts of users are isolated, so that marks of direction end with them', t => {
  const text = 'a\u202e\u2066gnp.exe'
  let count = 0
  for (const address of ADDRESSES) {
    const { html } = renderScreen(address, stateWith(text))
    // the element around each text, or one around that
    const pattern = new RegExp(`<(\\w+)([^>]*)>[^<>]*${text}`, 'g')
    const places = [...html.matchAll(pattern)].map(([, name, attributes]) => `${name}${attributes}`)
    count += places.length
    for (const place of places) t.match(place, /dir="(auto|ltr)"|^(bdi|title|option|dd|code)\b/, `${address}: ${place}`)
  }
  t.ok(count > 80, `${count} places`)
  t.end()
})

t.test('Long texts are complete', t => {
  for (const address of ['/', '/monitors', `/monitors/${RECORD_ID}`]) {
    const { html } = renderScreen(address, stateWith(LONG))
    t.match(html, `>${LONG}<`, address)
  }
  t.end()
})

t.test('No screen has a style attribute, a handler, or a script of its own, in any state', t => {
  const states: Record<string, ScreenState> = {
    healthy: { answers: FULL.answers! },
    failing: stateWith('Shop'),
    interactive: { ...stateWith('Shop'), isInteractive: true },
    viewer: { ...stateWith('Shop'), me: VIEWER },
    empty: { answers: FULL.answers!, board: buildBoard([]) },
    loading: { loading: 'everything' },
    missing: { answers: FULL.answers!, errors: { readMonitor: { ...AWAY, status: 404 } } },
    away: { answers: FULL.answers!, errors: { readMonitor: AWAY, readMonitorBoard: AWAY, listIncidents: AWAY } },
  }
  for (const [name, state] of Object.entries(states)) {
    for (const address of ADDRESSES) {
      const elements = elementsIn(renderScreen(address, state).html)
      const wrong = elements.filter(element =>
        // a frame has an address of this origin (by the policy), and no document of its own
        /^(script|style|iframe(?! src title$)|object|base|meta)\b|\s(on\w+|style|srcdoc)\b/.test(element),
      )
      t.same(wrong, [], `${address}, ${name}`)
    }
  }
  t.end()
})

t.test('The state of a page is JSON that cannot end its element, and is read back unchanged', t => {
  const state = { me: ADMIN, results: {}, board: { data: null, atMs: 0, error: null }, nowMs: 1, build: 'test' }
  for (const [i, attack] of [...TEXT_ATTACKS, '<!--<script>', '\u2028'].entries()) {
    const hostile = { ...state, build: attack }
    const text = serializeState(hostile)
    t.notMatch(text, '<', `attack ${i}`)
    t.same(JSON.parse(text), hostile, `attack ${i}`)
  }
  t.end()
})
