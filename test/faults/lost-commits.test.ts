import { randomUUID } from 'node:crypto'
import t from 'tap'
import { channelRoutes } from '../../control-plane/alerting/routing/alert-channels/routes.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  type PendingCommit,
  UnknownCommitError,
  wasCommitted,
} from '../../control-plane/foundation/platform/postgres/commit-outcome.ts'
import { SERVER_HISTORY_SQL } from '../../control-plane/foundation/platform/postgres/server-history.ts'
import { withRequestActor } from '../../control-plane/foundation/web/auth/audit-actor.ts'
import { startCommitRelay } from '../support/commit-relay.ts'
import { type Account, createResourceApi } from '../support/resource-api.ts'

const relays: Awaited<ReturnType<typeof startCommitRelay>>[] = []
const api = await createResourceApi(
  t,
  (app, handles) => {
    channelRoutes(app, handles)
    // the effect of a bug, or of a database that is unreachable for long
    app.post('/fails-late', async request => {
      await execute(withRequestActor(handles.db, request), 'UPDATE projects SET updated_at = now()')
      throw new Error('after the commit')
    })
    app.post('/unknown', async () => {
      throw new UnknownCommitError(new Error('cut'))
    })
  },
  {
    async lead(url) {
      relays.push(await startCommitRelay(t, url))
      return relays[0]!.url
    },
  },
)
const relay = relays[0]!
const HOOK = { name: 'Ops', type: 'webhook', config: { url: 'https://hooks.example.com/a' } }
const INSERT = 'INSERT INTO alert_channels'
const countChannels = async ({ call }: Account) => (await call('GET /alerts/channels')).body.meta.total

t.test('A write whose commit succeeded without an answer succeeds, and is carried out once', async t => {
  const account = await api.account()
  const headers = { 'idempotency-key': randomUUID() }
  relay.lose('answer', INSERT)
  const made = await account.call('POST /alerts/channels', HOOK, headers)
  t.match(made, { status: 201, body: { data: { name: 'Ops' } } })
  t.equal(await countChannels(account), 1)
  const again = await account.call('POST /alerts/channels', HOOK, headers)
  t.match(again, { status: 201, headers: { 'idempotent-replayed': 'true' } })
  t.same(again.body, made.body)
  t.equal(await countChannels(account), 1)
  relay.lose('answer', INSERT)
  t.equal((await account.call('POST /alerts/channels', HOOK)).status, 201, 'without a key as well')
  t.equal(await countChannels(account), 2)
})

t.test('A write whose commit never arrived is 503, and a repetition with the same key carries it out once', async t => {
  const account = await api.account()
  const headers = { 'idempotency-key': randomUUID() }
  relay.lose('commit', INSERT)
  t.match(await account.call('POST /alerts/channels', HOOK, headers), {
    status: 503,
    body: { error: { code: 'unavailable' } },
  })
  t.equal(await countChannels(account), 0)
  t.equal((await account.call('POST /alerts/channels', HOOK, headers)).status, 201)
  t.equal(await countChannels(account), 1)
})

t.test('A request that failed after a commit is not carried out again with the same key', async t => {
  const { call } = await api.account()
  const headers = { 'idempotency-key': randomUUID() }
  t.equal((await call('POST /fails-late', {}, headers)).status, 500)
  const again = await call('POST /fails-late', {}, headers)
  t.match(again, {
    status: 409,
    body: { error: { code: 'conflict', message: /carried out, but its answer was lost/ } },
  })
})

t.test('A request with an unknown outcome keeps its key', async t => {
  const account = await api.account()
  const headers = { 'idempotency-key': randomUUID() }
  t.match(await account.call('POST /unknown', {}, headers), { status: 503, body: { error: { code: 'unavailable' } } })
  t.match(await account.call('POST /unknown', {}, headers), {
    status: 409,
    body: { error: { message: /still being processed/ } },
  })
  const later = { project_id: account.projectId }
  await api
    .db('idempotency_keys')
    .where(later)
    .update({ created_at: new Date(Date.now() - 120_000) })
  t.equal((await account.call('POST /unknown', {}, headers)).status, 503, 'nothing was stored: it may be tried again')
})

t.test('A request whose process crashed after its commit is not carried out again', async t => {
  const account = await api.account()
  const headers = { 'idempotency-key': randomUUID() }
  t.equal((await account.call('POST /alerts/channels', HOOK, headers)).status, 201)
  const at = new Date(Date.now() - 120_000)
  const mine = { project_id: account.projectId }
  await api.db('idempotency_keys').where(mine).update({ status: null, answer: null, created_at: at })
  await api.db('idempotency_marks').where(mine).update({ claimed_at: at })
  const again = await account.call('POST /alerts/channels', HOOK, headers)
  t.match(again, { status: 409, body: { error: { message: /carried out, but its answer was lost/ } } })
  t.equal(await countChannels(account), 1)
})

t.test('The outcome of a transaction comes from the database, and is unknown until the transaction ends', async t => {
  const db = createPostgres(api.url, 4)
  t.teardown(() => db.destroy())
  const cut = new Error('cut')
  const sent: PendingCommit[] = []
  const sql = `SELECT CAST(pg_current_xact_id() AS text) AS id, ${SERVER_HISTORY_SQL} AS history`
  const begin = (end: () => Promise<void>) =>
    db.transaction(async tx => {
      sent.push(...(await query<PendingCommit>(tx, sql)))
      await end()
    })
  await begin(async () => {
    await t.rejects(wasCommitted(db, sent[0]!, cut, 300), { message: /the outcome of a commit is unknown/ })
  })
  await t.rejects(begin(() => Promise.reject(cut)))
  t.same(await Promise.all(sent.map(one => wasCommitted(db, one, cut))), [true, false])
})
