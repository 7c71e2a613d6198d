import t from 'tap'
import {
  isRevoked,
  isTransient,
  parseChatResponse,
} from '../../../../control-plane/alerting/channels/chat-api-response.ts'
import { toChatOutcome } from '../../../../control-plane/alerting/deliveries/attempts/chat-outcome.ts'
import { decideRetry } from '../../../../control-plane/alerting/deliveries/attempts/retry-policy.ts'
import { parseGrant } from '../../../../control-plane/integrations/chat/installations/grant.ts'
import { computeTokenLifetime } from '../../../../control-plane/integrations/chat/installations/installation.ts'
import { parsePerson } from '../../../../control-plane/integrations/chat/people/chat-person.ts'
import { parseChannels } from '../../../../control-plane/integrations/chat/provider/channel-list.ts'
import { FailureSource } from '../../../../shared/checks/result.ts'

const now = new Date('2026-11-21T10:00:00Z')
const answered = (body: string, statusCode: number | null = 200, headers: Record<string, string> = {}) => ({
  statusCode,
  error: statusCode === null ? { source: FailureSource.TARGET, code: 'timeout', message: 'timed out' } : null,
  headers,
  body: Buffer.from(body),
  totalUs: 5_000,
})

t.test('A response is successful only when ok is true, and every other one has a reason', async t => {
  const rows: [ReturnType<typeof answered>, string][] = [
    [answered('{"ok":true}'), 'ok'],
    [answered('{"ok":"true"}'), 'unreadable'],
    [answered('{"ok":1}'), 'unreadable'],
    [answered('[true]'), 'unreadable'],
    [answered('null'), 'unreadable'],
    [answered(''), 'unreadable'],
    [answered('<html>'), 'unreadable'],
    [answered('{"ok":false,"error":"token_revoked"}'), 'token_revoked'],
    [answered('{"ok":false,"error":"<b>"}'), 'unreadable'],
    [answered('{"ok":false,"error":5}'), 'unreadable'],
    [answered('{"ok":true}', 500), 'unavailable'],
    [answered('{"ok":true}', 429), 'ratelimited'],
    [answered('{"ok":true}', null), 'unreachable'],
    [answered('{"ok":false,"error":"invalid_auth"}', 403), 'invalid_auth'],
  ]
  for (const [answer, expected] of rows) {
    const result = parseChatResponse(answer)
    t.equal(result.ok ? 'ok' : result.reason, expected, `${answer.statusCode} ${answer.body}`)
  }
})

t.test('Retry-After is accepted up to a minute', async t => {
  const wait = (text: string) => {
    const result = parseChatResponse(answered('', 429, { 'retry-after': text }))
    return result.ok ? null : result.retryAfterMs
  }
  t.same(['7', '0', '100000', '-1', '1.5', 'soon', ''].map(wait), [7_000, 0, 60_000, null, null, null, null])
})

t.test('Temporary errors are retried, permanent refusals are not, and no refusal is a success', async t => {
  const outcome = (error: string) => toChatOutcome(answered(JSON.stringify({ ok: false, error })), now, [])
  const next = (error: string, made = 1) => decideRetry(made, outcome(error), now)
  for (const error of [
    'channel_not_found',
    'not_in_channel',
    'is_archived',
    'token_revoked',
    'msg_too_long',
    'whatever',
  ]) {
    t.equal(next(error), 'failed', error)
  }
  t.same(next('internal_error'), { retryAt: new Date(now.getTime() + 1_000) })
  t.same(next('token_expired'), { retryAt: new Date(now.getTime() + 3_000) }, 'the token is renewed meanwhile')
  t.equal(next('ratelimited', 3), 'failed', 'there are at most three attempts')
  const delayed = toChatOutcome(answered('', 429, { 'retry-after': '20' }), now, [])
  t.same(decideRetry(1, delayed, now), { retryAt: new Date(now.getTime() + 20_000) })
  t.equal(decideRetry(1, toChatOutcome(answered('{"ok":true}'), now, []), now), 'delivered')
  t.match(outcome('not_in_channel').error, /invite the app to the channel/)
  t.match(outcome('account_inactive').chat, { ok: false, fault: 'revoked' })
  t.ok(isRevoked('token_revoked') && !isTransient('token_revoked') && !isRevoked('ratelimited'))
})

const GRANT = {
  ok: true,
  access_token: 'xoxb-1',
  token_type: 'bot',
  scope: 'chat:write,commands',
  team: { id: 'T1', name: 'Acme' },
  incoming_webhook: { channel: '#ops', channel_id: 'C1' },
}

t.test('A grant is validated', async t => {
  const good = { teamId: 'T1', teamName: 'Acme', scopes: ['chat:write', 'commands'], accessToken: 'xoxb-1' }
  const unexpiring = { refreshToken: null, expiresInSeconds: null }
  t.same(parseGrant(GRANT), { ...good, ...unexpiring, channel: { id: 'C1', name: '#ops' } })
  t.match(parseGrant({ ...GRANT, incoming_webhook: undefined }), { channel: null })
  t.match(parseGrant({ ...GRANT, team: { id: 'T1', name: 'A\u0000\r\nB' } }), { teamName: 'A   B' })
  const expiring = { ...GRANT, refresh_token: 'xoxe-1', expires_in: 43_200 }
  t.match(parseGrant(expiring), { refreshToken: 'xoxe-1', expiresInSeconds: 43_200 })
  t.match(parseGrant({ ...GRANT, expires_in: 43_200 }), unexpiring, 'without a refresh token')
  const bad = [
    { access_token: '' },
    { access_token: 'a b' },
    { access_token: 'a\r\nX: y' },
    { access_token: { x: 1 } },
    { token_type: 'user' },
    { team: null },
    { team: { id: '../x' } },
    { scope: 'commands' },
    { scope: null },
  ]
  for (const wrong of bad) t.equal(parseGrant({ ...GRANT, ...wrong }), null, JSON.stringify(wrong))
})

t.test('A token is renewed two hours before it expires, a short one at half of its lifetime', async t => {
  const at = (hours: number) => new Date(now.getTime() + hours * 3_600_000)
  t.same(computeTokenLifetime(12 * 3_600, now), { tokenExpiresAt: at(12), renewAt: at(10) })
  t.same(computeTokenLifetime(3_600, now), { tokenExpiresAt: at(1), renewAt: at(0.5) })
  t.same(computeTokenLifetime(null, now), { tokenExpiresAt: null, renewAt: null })
})

t.test('Only confirmed users of the team are matched by email', async t => {
  const user = { id: 'U1', team_id: 'T1', profile: { email: 'Ann@Example.com' }, is_email_confirmed: true }
  t.same(parsePerson({ user }, 'T1'), { chatUserId: 'U1', email: 'ann@example.com' })
  const others: object[] = [
    { deleted: true },
    { is_bot: true },
    { is_stranger: true },
    { is_email_confirmed: false },
    { team_id: 'T2' },
    { team_id: undefined },
    { profile: {} },
    { profile: null },
    { id: 'U1 OR 1=1' },
  ]
  for (const other of others) t.equal(parsePerson({ user: { ...user, ...other } }, 'T1'), null, JSON.stringify(other))
  t.equal(parsePerson({}, 'T1'), null)
})

t.test('Invalid entries of a channel list are ignored', async t => {
  const channels = [{ id: 'C1', name: 'ops', is_member: true }, null, 5, { id: '' }, { id: 'C2', name: 7 }]
  t.same(parseChannels({ channels, response_metadata: { next_cursor: 'x' } }), {
    channels: [
      { id: 'C1', name: 'ops', is_member: true },
      { id: 'C2', name: 'C2', is_member: false },
    ],
    cursor: 'x',
  })
  t.same(parseChannels({ channels: 'all' }), { channels: [], cursor: '' })
})
