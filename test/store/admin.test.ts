import { randomBytes } from 'node:crypto'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createApiKey, createAuthenticator } from '../../control-plane/accounts/api-keys/actions.ts'
import { assertWithinLimit } from '../../control-plane/accounts/plans/actions.ts'
import {
  createPostgres,
  type Db,
  execute,
  query,
  type Tx,
} from '../../control-plane/foundation/platform/postgres/client.ts'
import { OPERATOR_ACTOR, withAuditActor } from '../../control-plane/foundation/web/auth/audit-actor.ts'
import { UsageError } from '../../control-plane/operations/admin/command.ts'
import {
  COMMANDS,
  findCommand,
  formatHelp,
  formatUsageHint,
} from '../../control-plane/operations/admin/command-line.ts'
import { confirmAddresses } from '../support/addresses.ts'
import { createDatabase } from '../support/database.ts'
import { insertTenant } from '../support/tenant.ts'
import { runWhileLocked } from '../support/while-held.ts'

const db = createPostgres((await createDatabase(t)).url, 4)
t.teardown(() => db.destroy())
const env = {
  PUBLIC_URL: 'https://picket.example.com',
  SECRET_KEY: randomBytes(32).toString('base64'),
  API_KEYS_LIMIT: '7/70/700',
}

async function run(line: string): Promise<string> {
  const found = findCommand(line.split(' '))!
  const command = COMMANDS[found.name]!
  return 'run' in command
    ? await command.run({ db: withAuditActor(db, OPERATOR_ACTOR), unauditedDb: db, env }, found.rest)
    : command.runOffline(env, found.rest, () => {})
}

const countRows = async (table: string) =>
  (await query<{ n: number }>(db, `SELECT count(*)::integer AS n FROM ${table}`))[0]!.n

t.test('Every command has a usage and a summary and is listed', async t => {
  for (const [name, { usage = '', summary }] of Object.entries(COMMANDS)) {
    t.match(formatHelp(name), `Usage:\n  ${name}${usage && ` ${usage}`}\n\n  ${summary}`)
    t.match(formatHelp(null), `  ${name}`)
    t.match(findCommand([...name.split(' '), 'x']), { name, rest: ['x'] })
  }
  t.match(formatHelp(null, 'plan'), 'plan set')
  t.notMatch(formatHelp(null, 'plan'), 'organization list')
  t.match(formatUsageHint(['plan']), /^Usage:/)
  t.match(formatUsageHint(['plan', 'sett', 'x']), /^unknown command "plan sett x"\n\nUsage:\n {2}plan show/)
})

t.test('A command with wrong arguments reports one sentence', async t => {
  const wrong: [string, string | RegExp][] = [
    ['organization show', 'expected one argument: the id of an organization'],
    ['organization list all', 'this command accepts no arguments: all'],
    ['organization rename x', '--name is missing'],
    ['audit list --limit many', '--limit must be a number of rows, at least 1'],
    ['user claim-link unknown', '"unknown" is not an email address'],
    ['plan set a b c', 'expected two arguments: the id of an organization and a plan'],
    ['plan set', 'expected two arguments: the id of an organization and a plan'],
    ['organization delete --yes', 'missing argument: the id of an organization'],
    [`organization rename x --name ${'x'.repeat(101)}`, 'a name must be one line of 1 to 100 characters'],
    ['bootstrap --email a@example.com --name two\nlines', 'a name must be one line of 1 to 100 characters'],
    ['probe-token create --planet mars', /Unknown option '--planet'/],
  ]
  for (const [line, message] of wrong) {
    const error = await run(line).catch(error => error)
    t.ok(error instanceof UsageError, line)
    t.match(error.message, message, line)
  }
})

t.test('Unknown records are not found', async t => {
  const id = uuidv7()
  for (const line of [
    `organization show ${id}`,
    `organization rename ${id} --name Acme`,
    `organization delete ${id} --yes`,
    `plan show ${id}`,
    `plan set ${id} pro`,
    `api-key create --organization ${id}`,
    'organization show x',
    'user claim-link unknown@example.com',
    `user list --organization ${id}`,
    `user remove unknown@example.com --organization ${id}`,
    'audit list --organization x',
  ]) {
    await t.rejects(run(line), { message: /not found$/ }, line)
  }
})

t.test(
  'The operator shows, renames and changes the plan of an organization, and its audit log names the operator',
  async t => {
    const { organizationId, userId } = await insertTenant(db, 'free')
    t.equal(await run(`plan show ${organizationId}`), 'free')
    await run(`plan set ${organizationId} pro`)
    await run(`organization rename ${organizationId} --name Initech`)
    await run(`api-key create --organization ${organizationId}`)
    t.match(JSON.parse(await run(`organization show ${organizationId}`)), {
      ...{ id: organizationId, name: 'Initech', plan: 'pro', custom_domain: true, projects: [{ name: 'Acme' }] },
      usage: {
        monitors: { used: 0, limit: 500 },
        status_pages: { limit: 10 },
        members: { used: 1, limit: 20 },
        api_keys: { limit: 70 },
      },
      members: [{ id: userId, role: 'admin' }],
      api_keys: [{ name: 'Made by the operator', scope: 'admin', hint: /^svc_/ }],
    })
    t.match(await run('organization list'), `${organizationId}\tpro\t0\t1`)
    const output = (await run(`audit list --organization ${organizationId}`)).split('\n')
    t.match(output, [
      /\toperator\tcreated\tapi_key\tMade by the operator\t/,
      /\toperator\tupdated\torganization\tInitech\tname$/,
      /\toperator\tupdated\torganization\tAcme\tplan$/,
    ])
  },
)

t.test('A locked-out tenant gets a key and a link to set a password', async t => {
  const { organizationId, userId } = await insertTenant(db)
  t.match(await run(`api-key create --organization ${organizationId}`), /^svc_\w{36}$/)
  const row = (await run(`user list --organization ${organizationId}`)).split('\t')
  t.match(row, [userId, /@example\.com$/, 'unclaimed', `${organizationId} admin`])
  const first = await run(`user claim-link ${row[1]}`)
  t.match(first, /^https:\/\/picket\.example\.com\/claim\/[\w-]{43}$/)
  t.not(await run(`user claim-link ${row[1]!.toUpperCase()}`), first)
  t.match(await run(`audit list --organization ${organizationId}`), `\toperator\tclaim_link_made\tmember\t${row[1]}\t`)
  await execute(
    db,
    `INSERT INTO claim_links (token_hash, user_id, purpose, expires_at, created_at)
     VALUES ('shown'::bytea, ?, 'claim', now() + interval '1 hour', now())`,
    [userId],
  )
  await run(`user claim-link ${row[1]}`)
  const good = await query(db, 'SELECT 1 FROM claim_links WHERE user_id = ? AND used_at IS NULL', [userId])
  t.equal(good.length, 1, 'all other links are void')
})

t.test('The operator removes a founder with an unconfirmed address, but not the last admin', async t => {
  const made = JSON.parse(await run('bootstrap --email founder@example.com'))
  const remove = `user remove FOUNDER@example.com --organization ${made.organization_id}`
  await t.rejects(run(remove), { message: /last admin/ })
  await execute(
    db,
    `INSERT INTO memberships (organization_id, user_id, role, created_at) VALUES (?, ?, 'admin', now())`,
    [made.organization_id, (await insertTenant(db)).userId],
  )
  t.match(await run(remove), 'founder@example.com is no longer a member')
  await t.rejects(run(remove), { message: /not found/ })
  const acts = await run(`audit list --organization ${made.organization_id}`)
  t.match(acts, `\toperator\tdeleted\tmember\t`)
})

t.test('Texts of customers move no cursor and end no column', async t => {
  const { organizationId } = await insertTenant(db)
  const name = 'Red \x1b[31m\tand\u202eback'
  await execute(db, 'UPDATE organizations SET name = ? WHERE id = ?', [name, organizationId])
  await t.rejects(run(`organization delete ${organizationId}`), { message: /delete Red \\u\{1b\}\[31m/ })
  t.match(await run('organization list'), `\tRed \\u{1b}[31m\\u{9}and\\u{202e}back`)
})

t.test('A confirmed deletion removes an organization with everything in it and nothing else', async t => {
  const kept = await insertTenant(db)
  const gone = await insertTenant(db)
  for (const { projectId, organizationId } of [kept, gone]) {
    await insertRecords(projectId)
    await confirmAddresses(db, organizationId, 'ops@example.com')
  }
  const revoked = uuidv7()
  await execute(
    db,
    `INSERT INTO chat_revocations (id, project_id, team_id, tokens, next_attempt_at, created_at)
     VALUES (?, ?, 'T0', 'sealed'::bytea, now(), now())`,
    [revoked, gone.projectId],
  )
  const tables = [
    'alert_channels',
    'alert_rules',
    'status_pages',
    'api_keys',
    'verdict_states',
    'memberships',
    'users',
    'mail_addresses',
  ]
  const before = await Promise.all(tables.map(countRows))
  await t.rejects(run(`organization delete ${gone.organizationId}`), {
    message: /^this would delete Acme \(1 monitor, 1 status page, 1 member\); add --yes to delete it$/,
  })
  t.same(await Promise.all(tables.map(countRows)), before)

  t.match(await run(`organization delete ${gone.organizationId} --yes`), /^deleted: Acme \(1 monitor,/)
  t.same(
    await Promise.all(tables.map(countRows)),
    before.map(count => count - 1),
  )
  const [monitor] = await query(db, 'SELECT name, url, headers, deleted_at FROM monitors WHERE project_id = ?', [
    gone.projectId,
  ])
  t.match(monitor, { name: '', url: null, headers: null, deleted_at: Date }, 'probes are notified of the deletion')
  const grants = await query(db, 'SELECT id, team_id, project_id, tokens FROM chat_revocations ORDER BY team_id')
  t.match(
    grants,
    [
      { id: revoked, team_id: 'T0' },
      { team_id: /^T1/, project_id: gone.projectId, tokens: Buffer.from('sealed') },
    ],
    'the grants of its chats are still to be revoked at the provider',
  )
  t.equal(await countRows('chat_installations'), 1)
  t.notMatch(await run('organization list'), gone.organizationId)
  for (const command of [`organization show ${gone.organizationId}`, `plan set ${gone.organizationId} free`]) {
    await t.rejects(run(command), { message: 'organization not found' }, command)
  }
  const log = await run(`audit list --organization ${gone.organizationId}`)
  t.match(log, /\toperator\tdeleted\torganization\tAcme\t$/)
  t.equal(log.split('\n').length, 1, 'one row describes the whole deletion')
})

t.test('Nothing can be added to an organization during or after its deletion', async t => {
  const { organizationId, projectId } = await insertTenant(db)
  const add = async (tx: Tx) => {
    await assertWithinLimit(tx, organizationId, 'monitors', 1)
    await insertRecords(projectId, tx)
  }
  await runWhileLocked(db, add, () => run(`organization delete ${organizationId} --yes`))
  t.match(await query(db, 'SELECT deleted_at FROM monitors WHERE project_id = ?', [projectId]), [{ deleted_at: Date }])
  await t.rejects(db.transaction(add), { message: 'organization not found' })
  const { key } = await createApiKey(db, { projectId, userId: null }, { name: 'late', scope: 'admin' })
  t.equal(
    await createAuthenticator(db)(key, '192.0.2.1'),
    null,
    'nor does a key open it that was made with one that is remembered',
  )
})

t.test('A member of another organization stays and sees that organization next', async t => {
  const [kept, gone] = [await insertTenant(db), await insertTenant(db)]
  const { userId } = kept
  const join = `INSERT INTO memberships (organization_id, user_id, role, created_at) VALUES (?, ?, 'viewer', now())`
  await execute(db, join, [gone.organizationId, userId])
  await execute(
    db,
    `INSERT INTO sessions (id, token_hash, user_id, organization_id, last_seen_at, expires_at, created_at)
     VALUES (?, 'x'::bytea, ?, ?, now(), now(), now())`,
    [uuidv7(), userId, gone.organizationId],
  )
  await run(`organization delete ${gone.organizationId} --yes`)
  const sessions = await query(db, 'SELECT organization_id FROM sessions WHERE user_id = ?', [userId])
  t.same(sessions, [{ organization_id: kept.organizationId }])
})

t.test('The organization of the operator cannot be deleted', async t => {
  await run('operator create --email operator@example.com')
  const id = (await run('organization list'))
    .split('\n')
    .find(line => line.endsWith('Operator'))!
    .split('\t')[0]
  await t.rejects(run(`organization delete ${id} --yes`), {
    message: 'the operator’s own organization cannot be deleted',
  })
})

/** A monitor with a verdict, a channel with a rule, a page, a key and a chat. */
async function insertRecords(projectId: string, into: Db = db): Promise<void> {
  const ids = { projectId, monitor: uuidv7(), channel: uuidv7(), page: uuidv7(), slug: uuidv7(), key: uuidv7() }
  const inserts = [
    `INSERT INTO monitors (id, project_id, partition, name, type, url, method, headers, interval_seconds, timeout_ms, regions,
       keyword_type, ssl_check, domain_check, screenshot_on_failure, screenshot_compare, screenshot_threshold, retry_count,
       created_at, updated_at)
     VALUES (:monitor, :projectId, 0, 'Shop', 'http', 'https://example.com/', 'GET', 'x'::bytea, 60, 1000, '{us-east}',
       'contains', true, true, false, false, 0.1, 1, now(), now())`,
    `INSERT INTO verdict_states (monitor_id, partition, state, updated_at) VALUES (:monitor, 0, '{}', now())`,
    `INSERT INTO alert_channels (id, project_id, name, type, config, is_default, created_at, updated_at)
     VALUES (:channel, :projectId, 'Hook', 'webhook', 'x'::bytea, false, now(), now())`,
    `INSERT INTO alert_rules (id, project_id, monitor_id, alert_channel_id, on_down, on_recovery, on_degraded, created_at,
       updated_at) VALUES (:channel, :projectId, :monitor, :channel, true, true, true, now(), now())`,
    `INSERT INTO status_pages (id, project_id, name, slug, template, brand_color, created_at, updated_at)
     VALUES (:page, :projectId, 'Acme', :slug, 'clean', '#00ff00', now(), now())`,
    `INSERT INTO api_keys (id, project_id, name, scope, key_hash, hint, created_at, updated_at)
     VALUES (:key, :projectId, 'CI', 'read', CAST(:slug AS text)::bytea, 'svc_', now(), now())`,
    `INSERT INTO chat_installations (id, project_id, team_id, team_name, scopes, tokens, people_due_at, installed_at,
       created_at, updated_at) VALUES (:key, :projectId, 'T1' || :slug, 'Acme', '{}', 'sealed'::bytea, now(), now(), now(), now())`,
  ]
  for (const insert of inserts) await execute(into, insert, ids)
}
