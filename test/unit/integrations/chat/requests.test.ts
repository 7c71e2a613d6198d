import { createHmac } from 'node:crypto'
import t from 'tap'
import { selectDirectRecipients } from '../../../../control-plane/alerting/routing/recipients/direct-recipients.ts'
import {
  decodeState,
  encodeState,
  resolveLandingUrl,
} from '../../../../control-plane/integrations/chat/installations/install-state.ts'
import { parseClick, removeButton } from '../../../../control-plane/integrations/chat/requests/button-click.ts'
import {
  filterByCode,
  getIncidentCode,
  parseCommand,
} from '../../../../control-plane/integrations/chat/requests/command.ts'
import { parseProviderEvent } from '../../../../control-plane/integrations/chat/requests/provider-event.ts'
import {
  buildIncidentsReply,
  buildStatusReply,
  stripMarkup,
} from '../../../../control-plane/integrations/chat/requests/reply.ts'
import { isSignedByProvider } from '../../../../control-plane/integrations/chat/requests/signature.ts'

const sign = (text: string) => createHmac('sha256', 'key').update(text).digest('base64url')
const isEqual = (a: string, b: string) => a === b

t.test('A state is decoded until it expires, and only with a valid signature', async t => {
  const state = { id: 'x', projectId: 'p', userId: 'u', redirectTo: 'http://a.test/', expiresAtMs: 1_000 }
  const text = encodeState(state, sign)
  t.same(decodeState(text, sign, isEqual, 999), state)
  t.equal(decodeState(text, sign, isEqual, 1_000), 'expired')
  for (const forged of ['', '.', text.slice(1), `${text}x`, `${text}.x`, text.split('.')[0]!]) {
    t.equal(decodeState(forged, sign, isEqual, 0), 'forged', forged)
  }
})

t.test('An installation ends on a page of this origin', async t => {
  const landing = (text?: string) => resolveLandingUrl(text, 'https://picket.test')
  t.equal(landing(), 'https://picket.test/settings/chat')
  t.equal(landing('/x?y=1'), 'https://picket.test/x?y=1')
  t.equal(landing('https://picket.test/a'), 'https://picket.test/a')
  const others = [
    '//evil.test',
    'https://evil.test',
    'https://picket.test.evil.test',
    'https://picket.test@evil.test',
    'http://picket.test/',
  ]
  const tricks = [
    'javascript:x',
    '/\\evil.test',
    '\\\\evil.test',
    'https:evil.test',
    '/\tx',
    '',
    'x',
    'https://u:p@picket.test/',
  ]
  for (const text of [...others, ...tricks]) t.equal(landing(text), null, text)
})

t.test('The documented example of a signature is accepted within its time window', async t => {
  // from the provider's public documentation
  const secret = '8f742231b10e8888abcd99yyyzzz85a5'
  const timestamp = '1531420618'
  const body = Buffer.from(
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  )
  const signature = 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503'
  const atMs = (seconds: number) => (1_531_420_618 + seconds) * 1_000
  const request = { timestamp, signature, body }
  t.ok(isSignedByProvider(request, secret, atMs(0)))
  t.ok(isSignedByProvider(request, secret, atMs(300)))
  t.notOk(isSignedByProvider(request, secret, atMs(301)))
  t.notOk(isSignedByProvider(request, secret, atMs(-301)))
  t.notOk(isSignedByProvider({ ...request, body: Buffer.concat([body, Buffer.from(' ')]) }, secret, atMs(0)))
  t.notOk(isSignedByProvider({ ...request, timestamp: '1531420618.0' }, secret, atMs(0)))
})

t.test('A command is parsed in any case and spacing', async t => {
  const rows: [string, object][] = [
    [' Status ', { kind: 'status' }],
    ['INCIDENTS', { kind: 'incidents' }],
    ['ack', { kind: 'ack', code: null }],
    ['ack  #A1B2C3', { kind: 'ack', code: 'a1b2c3' }],
    ['ack it now', { kind: 'help' }],
    ['', { kind: 'help' }],
    ['constructor', { kind: 'help' }],
  ]
  for (const [text, command] of rows) t.same(parseCommand(text), command, text)
  const ids = ['0190a0a0-0000-7000-8000-0000000a1b2c', '0190a0a0-0000-7000-8000-0000001a1b2c']
  const incidents = ids.map(id => ({ id }))
  t.equal(getIncidentCode(ids[0]!), '0a1b2c')
  t.same(filterByCode('0a1b2c', incidents), [incidents[0]])
  t.same(filterByCode('a1b2c', incidents), [], 'too short for a code')
  t.same(filterByCode('', incidents), [])
})

t.test('Markup of users is removed from a reply', async t => {
  t.equal(
    stripMarkup('<!channel> *a*\n_b_ `c` <https://x|y> &'),
    '&lt;!channel&gt;  a   b   c  &lt;https://x y&gt; &amp;',
  )
  t.equal(stripMarkup('@everyone'), '@\u200beveryone')
  const counts = { total: 32, up: 10, down: 15, degraded: 4, paused: 1, pending: 2 }
  const failing = Array.from({ length: 10 }, (_, i) => ({ name: `<m${i}>`, status: 'down' }))
  const { text } = buildStatusReply(counts, failing, 2)
  t.match(
    text,
    /^10 up · 4 degraded · 15 down · 1 paused · 2 pending$/m,
    'all monitors, including those without a status',
  )
  t.match(text, /and 9 more/)
  t.match(text, /2 open incidents/)
  t.notMatch(text, /<m/)
})

t.test('An unacknowledged incident has a button, an acknowledged one does not', async t => {
  const at = new Date('2026-11-21T10:00:00Z')
  const incident = { id: `${'0'.repeat(30)}abcdef`, title: 'Shop', severity: 'major', started_at: at }
  const incidents = [
    { ...incident, acknowledged_at: null },
    { ...incident, acknowledged_at: at },
  ]
  const answer = buildIncidentsReply(incidents, 5, 'Open', new Date(at.getTime() + 90_000))
  t.match(answer.text, /`abcdef` Shop · major · for 1 minute 30 seconds\n/)
  t.match(answer.text, /acknowledged\nand 3 more$/)
  t.match(answer.blocks, [{}, { accessory: { action_id: 'acknowledge', value: incident.id } }, {}, {}])
  t.notOk('accessory' in answer.blocks![2]!)
})

t.test('Only a click on the acknowledge button is parsed', async t => {
  const click = {
    type: 'block_actions',
    user: { id: 'U1' },
    team: { id: 'T1' },
    actions: [{ action_id: 'acknowledge', value: 'i' }],
    response_url: 'https://x.test',
  }
  t.match(parseClick(click), { teamId: 'T1', chatUserId: 'U1', incidentId: 'i', message: { blocks: [] } })
  t.match(parseClick({ ...click, team: null, user: { id: 'U1', team_id: 'T2' } }), { teamId: 'T2' })
  const others: unknown[] = [null, 5, 'x', [], {}, { ...click, type: 'view_submission' }, { ...click, actions: [] }]
  const more = [
    { ...click, actions: [{ action_id: 'open' }] },
    { ...click, user: null },
    { ...click, actions: 'x' },
  ]
  for (const other of [...others, ...more]) t.equal(parseClick(other), null, JSON.stringify(other))
})

t.test('Only events that end an installation are parsed', async t => {
  const event = (type: unknown, more: object = {}) =>
    parseProviderEvent({ type: 'event_callback', team_id: 'T1', event: { type }, ...more })
  t.same(parseProviderEvent({ type: 'url_verification', challenge: 'x' }), { challenge: 'x', endedTeamId: null })
  t.match([event('app_uninstalled'), event('tokens_revoked')], [{ endedTeamId: 'T1' }, { endedTeamId: 'T1' }])
  const others = [event('message'), event(5), event('app_uninstalled', { team_id: '../x' }), parseProviderEvent(null)]
  for (const other of others) t.same(other, { challenge: null, endedTeamId: null })
})

t.test('An obsolete button is removed and other buttons stay', async t => {
  const mine = { action_id: 'acknowledge', value: 'i' }
  const neighbour = { action_id: 'acknowledge', value: 'j' }
  const blocks = [
    { type: 'header' },
    { type: 'actions', elements: [mine, neighbour] },
    { type: 'actions', elements: [mine] },
  ]
  t.same(removeButton(blocks, 'i', 'done'), [
    { type: 'header' },
    { type: 'actions', elements: [neighbour] },
    { type: 'context', elements: [{ type: 'mrkdwn', text: 'done' }] },
  ])
})

t.test('The person on call gets the beginning, and the person who acknowledged gets updates and the end', async t => {
  const people = [
    { userId: 'ann', channelId: '1', isOnCall: true },
    { userId: 'bob', channelId: '2', isOnCall: false },
  ]
  const recipients = (name: string, acknowledged_by: string | null, author_id: string | null = null) =>
    selectDirectRecipients({ name, data: { incident: { acknowledged_by }, update: { author_id } } }, people).map(
      ({ userId }) => userId,
    )
  t.same(recipients('incident.created', null), ['ann'])
  t.same(recipients('incident.acknowledged', 'bob'), [])
  t.same(recipients('incident.updated', 'bob', 'ann'), ['bob'])
  t.same(recipients('incident.updated', 'bob', 'bob'), [], 'their own words')
  t.same(recipients('incident.resolved', 'bob'), ['bob'])
  t.same(recipients('incident.resolved', null), [])
  t.same(recipients('monitor.down', 'bob'), [])
})
