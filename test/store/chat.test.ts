import { randomBytes } from 'node:crypto'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { decryptChatTokens, encryptChatTokens } from '../../control-plane/alerting/channels/chat-tokens.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  claimPeopleMatch,
  claimRenewals,
  loadDueWork,
} from '../../control-plane/integrations/chat/installations/due-store.ts'
import {
  claimOnce,
  findInstallation,
  saveInstallation,
  scheduleInstallationCheck,
} from '../../control-plane/integrations/chat/installations/installation-store.ts'
import { renewTokens } from '../../control-plane/integrations/chat/installations/renew-actions.ts'
import {
  dropRevocationsOfTeam,
  queueRevocation,
} from '../../control-plane/integrations/chat/installations/revocation-store.ts'
import { removeInstallation, revokeDue } from '../../control-plane/integrations/chat/installations/revoke-actions.ts'
import { matchPeople } from '../../control-plane/integrations/chat/people/match-actions.ts'
import { listUnlinkedMembers } from '../../control-plane/integrations/chat/people/people-store.ts'
import { readChatSettings } from '../../control-plane/integrations/chat/settings.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { startChatProvider } from '../support/chat-provider.ts'
import { createDatabase } from '../support/database.ts'
import { insertTenant } from '../support/tenant.ts'
import { waitFor } from '../support/wait.ts'

const db = createPostgres((await createDatabase(t)).url, 8)
t.teardown(() => db.destroy())
const secrets = createSecretCipher(randomBytes(32))
const now = new Date('2026-11-21T10:00:00Z')
const later = (seconds: number) => new Date(now.getTime() + seconds * 1_000)
const provider = await startChatProvider(t)
const tools = {
  db,
  secrets,
  log: createLog('test', 'silent'),
  settings: readChatSettings(provider.env),
  provider: {
    apiUrl: provider.env.CHAT_API_URL!,
    egress: createEgress({ allow: ['127.0.0.0/8'] }),
    metrics: createMetrics(),
  },
}

type Installed = { tenant?: { projectId: string; userId: string }; teamId?: string; accessToken?: string }

/** Creates an installation whose token is due for renewal, by default of a new team in a new project. */
async function installation(
  refreshToken: string | null = 'xoxe-old',
  { tenant, teamId, accessToken = 'xoxb-old' }: Installed = {},
) {
  const { projectId, userId } = tenant ?? (await insertTenant(db))
  const owner = { id: uuidv7(), projectId }
  await db.transaction(tx =>
    saveInstallation(tx, {
      ...owner,
      teamId: teamId ?? owner.id,
      teamName: 'Team',
      scopes: ['chat:write'],
      tokens: encryptChatTokens({ accessToken, refreshToken }, owner, secrets),
      tokenExpiresAt: later(60),
      renewAt: now,
      installedBy: userId,
      installedAt: now,
      revokedAt: null,
      defaultChannelId: null,
      createdAt: now,
      updatedAt: now,
    }),
  )
  return { ...owner, read: async () => (await findInstallation(db, projectId, owner.id))! }
}

t.test('One process renews a token, and another one after its lease expired', async t => {
  const { id } = await installation()
  const lease = { leaseMs: 30_000, limit: 20 }
  t.match(await loadDueWork(db, now), { renewals: true, people: true, revocations: false, buttons: false })
  const claims = await Promise.all([1, 2, 3, 4].map(() => claimRenewals(db, { ...lease, now })))
  t.same(
    claims.flat().map(claimed => claimed.id),
    [id],
  )
  t.same(await claimRenewals(db, { ...lease, now: later(29) }), [])
  t.equal((await claimRenewals(db, { ...lease, now: later(31) })).length, 1)
  const people = await Promise.all([1, 2, 3, 4].map(() => claimPeopleMatch(db, 30_000, now)))
  t.equal(people.filter(claimed => claimed !== null).length, 1)
  await db.raw('DELETE FROM chat_installations')
})

t.test('Tokens whose renewal waits for a slow provider are renewed once by two processes', async t => {
  const installed: Awaited<ReturnType<typeof installation>>[] = []
  for (const token of ['xoxe-1', 'xoxe-2', 'xoxe-3']) installed.push(await installation(token))
  const renewed = { ok: true, access_token: 'xoxb-new', refresh_token: 'xoxe-new', expires_in: 43_200 }
  const asked = () => provider.calls('oauth.v2.access').map(({ fields }) => fields.refresh_token)
  const before = asked().length
  provider.next('oauth.v2.access', 'hang', ...Array.from({ length: 3 }, () => renewed))
  const slow = renewTokens(tools, () => now)
  await waitFor(() => asked().length > before, { label: 'the first call' })
  // the other process, when the lease of the first call has ended
  await renewTokens(tools, () => later(31))
  await slow
  t.same(asked().slice(before).sort(), ['xoxe-1', 'xoxe-1', 'xoxe-2', 'xoxe-3'])
  for (const { read, ...owner } of installed) {
    const { tokens, revokedAt } = await read()
    t.equal(revokedAt, null)
    t.equal(decryptChatTokens(tokens, owner, secrets).accessToken, 'xoxb-new')
  }
  await db.raw('DELETE FROM chat_installations')
})

t.test('A token is kept while the provider fails, and renewed later', async t => {
  const { read, ...owner } = await installation()
  provider.next('oauth.v2.access', 500, { ok: true, access_token: 5 }, { ok: false, error: 'bad_client_secret' })
  for (const seconds of [0, 31, 62]) {
    await renewTokens(tools, () => later(seconds))
    const { tokens, revokedAt } = await read()
    t.equal(decryptChatTokens(tokens, owner, secrets).accessToken, 'xoxb-old')
    t.equal(revokedAt, null)
  }
  const renewed = { ok: true, access_token: 'xoxb-new', refresh_token: 'xoxe-new', expires_in: 43_200 }
  provider.next('oauth.v2.access', renewed)
  await renewTokens(tools, () => later(93))
  const { tokens, renewAt } = await read()
  t.same(decryptChatTokens(tokens, owner, secrets), { accessToken: 'xoxb-new', refreshToken: 'xoxe-new' })
  t.same(renewAt, later(93 + 36_000))
  const asked = provider.calls('oauth.v2.access').length
  await renewTokens(tools, () => later(200))
  t.equal(provider.calls('oauth.v2.access').length, asked, 'nothing is due')
})

t.test('An installation whose tokens cannot be decrypted does not affect others', async t => {
  const [broken, { read, ...owner }] = [await installation(), await installation()]
  await execute(db, `UPDATE chat_installations SET tokens = 'x', renew_at = ? WHERE id = ?`, [later(-60), broken.id])
  const renewed = { ok: true, access_token: 'xoxb-new', refresh_token: 'xoxe-new', expires_in: 43_200 }
  provider.next('oauth.v2.access', renewed)
  await renewTokens(tools, () => now)
  t.match(decryptChatTokens((await read()).tokens, owner, secrets), { accessToken: 'xoxb-new' })
  await execute(db, 'DELETE FROM chat_installations WHERE id = ?', [broken.id])
})

t.test('A refused refresh token marks the installation as revoked', async t => {
  const [refused, without] = [await installation(), await installation(null)]
  await renewTokens(tools, () => now)
  t.same((await refused.read()).revokedAt, now, 'the provider refuses it')
  t.same((await without.read()).revokedAt, now)
})

t.test('The person on call is looked up first among many unlinked members', async t => {
  const { projectId, organizationId, userId } = await insertTenant(db)
  await execute(
    db,
    `WITH made AS (INSERT INTO users (id, email, created_at, updated_at)
       SELECT gen_random_uuid(), n || '@example.com', :now, :now FROM generate_series(1, 150) n RETURNING id)
     INSERT INTO memberships (organization_id, user_id, role, created_at)
       SELECT :organizationId, id, 'viewer', :now FROM made`,
    { organizationId, now },
  )
  await execute(
    db,
    `INSERT INTO alert_settings (project_id, is_digest_enabled, digest_threshold, on_call_user_id, created_at, updated_at)
     VALUES (:projectId, true, 3, :userId, :now, :now)`,
    { projectId, userId, now },
  )
  const rounds = [await listUnlinkedMembers(db, projectId, 'T1'), await listUnlinkedMembers(db, projectId, 'T1')]
  t.same(
    rounds.map(members => members[0]?.userId),
    [userId, userId],
  )
  t.notSame(rounds[0], rounds[1], 'the others are selected at random')
})

t.test('A hash is claimed once by concurrent requests', async t => {
  const hash = randomBytes(32)
  const first = await Promise.all([1, 2, 3, 4].map(() => claimOnce(db, hash, later(60))))
  t.equal(first.filter(isFirst => isFirst).length, 1)
})

t.test('A failed revocation is retried later by one process, and dropped after a permanent refusal', async t => {
  const { read, ...owner } = await installation()
  provider.next('auth.revoke', 'reset')
  await removeInstallation(tools, owner.projectId, owner.id, now)
  t.equal(provider.calls('auth.revoke').length, 1)
  await revokeDue(tools, () => later(59))
  t.equal(provider.calls('auth.revoke').length, 1, 'not before it is due')
  await Promise.all([1, 2, 3].map(() => revokeDue(tools, () => later(61))))
  t.same(
    provider.calls('auth.revoke').map(({ token }) => token),
    ['xoxb-old', 'xoxb-old'],
  )
  t.match(await loadDueWork(db, later(10_000)), { revocations: false })
})

t.test(
  'An installation whose tokens cannot be decrypted is deleted; its revocation is retried and given up',
  async t => {
    const { read, ...owner } = await installation()
    await execute(db, 'UPDATE chat_installations SET tokens = ? WHERE id = ?', [Buffer.alloc(0), owner.id])
    const calls = provider.calls('auth.revoke').length
    await removeInstallation(tools, owner.projectId, owner.id, now)
    t.equal(await read(), null)
    const readFailures = async () => {
      const [row] = await query<{ failures: number }>(db, 'SELECT failures FROM chat_revocations WHERE id = ?', [
        owner.id,
      ])
      return row?.failures
    }
    t.equal(await readFailures(), 1)
    await revokeDue(tools, () => later(61))
    t.equal(await readFailures(), 2)
    await execute(db, 'UPDATE chat_revocations SET failures = 60 WHERE id = ?', [owner.id])
    await revokeDue(tools, () => later(1_000_000))
    t.equal(await readFailures(), undefined)
    t.equal(provider.calls('auth.revoke').length, calls)
  },
)

t.test('A direct channel moves to the team that still has the app', async t => {
  await db.raw('DELETE FROM chat_installations')
  const tenant = await insertTenant(db)
  const [user] = await query<{ email: string }>(db, 'SELECT email FROM users WHERE id = ?', [tenant.userId])
  const teams = ['TA', 'TB', 'TC']
  const installed: Awaited<ReturnType<typeof installation>>[] = []
  for (const teamId of teams) {
    installed.push(await installation(null, { tenant, teamId, accessToken: `xoxb-${teamId}` }))
    provider.people.splice(0, 1, { id: `U${teamId}`, email: user!.email, team: teamId })
    t.equal(await matchPeople(tools, now), true)
  }
  const [first, second, third] = installed
  const directChannels = async () => {
    const sql = 'SELECT chat_installation_id AS id FROM alert_channels WHERE person_id = ?'
    return (await query<{ id: string }>(db, sql, [tenant.userId])).map(({ id }) => id)
  }
  t.same(await directChannels(), [first!.id], 'one channel, in the first team')
  t.equal(await matchPeople(tools, later(1)), false, 'nothing is due')

  provider.refuse('xoxb-TA', 'account_inactive')
  await scheduleInstallationCheck(db, first!.id, later(1))
  t.equal(await matchPeople(tools, later(1)), true)
  t.same((await first!.read()).revokedAt, later(1))
  while (await matchPeople(tools, later(2)));
  const [moved, ...more] = await directChannels()
  t.ok([second!.id, third!.id].includes(moved!), 'the other teams are matched at once')
  t.same(more, [])

  await removeInstallation(tools, tenant.projectId, moved!, later(3))
  t.same(await directChannels(), [])
  while (await matchPeople(tools, later(3)));
  t.same(
    await directChannels(),
    [second!.id, third!.id].filter(id => id !== moved),
    'also after a deletion',
  )
  await db.raw('DELETE FROM chat_installations')
})

/** Adds the revocation of a grant that is due. */
async function pendingRevocation(refreshToken: string | null = null) {
  const { projectId } = await insertTenant(db)
  const owner = { id: uuidv7(), projectId }
  const tokens = encryptChatTokens({ accessToken: `xoxb-${owner.id}`, refreshToken }, owner, secrets)
  await db.transaction(tx => queueRevocation(tx, { ...owner, teamId: owner.id, tokens }, now, now))
  return owner.id
}
const revoked = () => provider.calls('auth.revoke').map(({ token }) => token)
const countRevocations = async () => (await query(db, 'SELECT FROM chat_revocations')).length

t.test('A team that installs again while other grants are revoked keeps its grant', async t => {
  const [id, other, active] = [await pendingRevocation(), await pendingRevocation(), await pendingRevocation()]
  await installation(null, { teamId: active })
  const before = revoked().length
  provider.next('auth.revoke', 'hang')
  const running = revokeDue(tools, () => later(1))
  await waitFor(() => revoked().length > before, { label: 'the first call' })
  const [first] = revoked().slice(before)
  const again = first === `xoxb-${id}` ? other : id
  await db.transaction(tx => dropRevocationsOfTeam(tx, again))
  await running
  t.same(revoked().slice(before), [first])
  await revokeDue(tools, () => later(100))
  t.same(revoked().slice(before), [first, first], 'nor is a grant revoked whose team has an active installation')
  t.equal(await countRevocations(), 0)
})

t.test('A grant whose token has expired is renewed and then revoked', async t => {
  const expired = { ok: false, error: 'token_expired' }
  const renewed = { ok: true, access_token: 'xoxb-new', refresh_token: 'xoxe-new', expires_in: 43_200 }
  const id = await pendingRevocation('xoxe-old')
  const before = revoked().length
  provider.next('auth.revoke', expired, expired, 'reset')
  provider.next('oauth.v2.access', 500, renewed)
  await revokeDue(tools, () => later(1))
  t.same(revoked().slice(before), [`xoxb-${id}`], 'the renewal fails')
  await revokeDue(tools, () => later(100))
  t.same(revoked().slice(before + 1), [`xoxb-${id}`, 'xoxb-new'], 'it is renewed, and the call fails')
  await revokeDue(tools, () => later(1_000))
  t.same(revoked().slice(before + 3), ['xoxb-new'])
  t.equal(await countRevocations(), 0)

  await pendingRevocation('xoxe-refused')
  await pendingRevocation(null)
  provider.next('auth.revoke', expired, expired)
  await revokeDue(tools, () => later(1))
  t.equal(revoked().length, before + 6)
  t.equal(await countRevocations(), 0)
})
