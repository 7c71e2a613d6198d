import t from 'tap'
import { migrateClickhouse } from '../../control-plane/foundation/migrations/clickhouse/index.ts'
import { type Clickhouse, createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  encodeOrigin,
  RESULT_LINE_COLUMNS,
  toResultLine,
} from '../../control-plane/insight/analytics/recording/result-line.ts'
import { voteRoutes } from '../../control-plane/insight/explanations/votes/votes-routes.ts'
import { monitorLifecycleRoutes } from '../../control-plane/verdict/core/monitor-lifecycle-routes.ts'
import { FailureSource, Outcome, type Result } from '../../shared/checks/result.ts'
import { computeSlots, findSlotFrom } from '../../shared/checks/slots.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { unwrapData } from '../support/client.ts'
import { insertLines } from '../support/insert-lines.ts'
import { startNats } from '../support/nats.ts'
import { type Account, createResourceApi } from '../support/resource-api.ts'
import { buildArrival, createResult } from '../support/results.ts'
import { NO_HISTORY } from '../support/unwatched.ts'
import {
  countVoters,
  createNextResult,
  insertLiveProbes,
  insertMonitor,
  publish,
  readTransitions,
  startVerdictProcess,
} from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const REGIONS = ['us-east', 'eu-west', 'ap-southeast']
const { url } = await createClickhouseDatabase(t)
await migrateClickhouse(url)
const clickhouse: Clickhouse = createClickhouse(url)
// nothing listens on this port
const away = createClickhouse('http://127.0.0.1:1/picket')
t.teardown(() => Promise.all([clickhouse.close(), away.close()]))

let history = clickhouse
const api = await createResourceApi(t, (app, handles) => {
  const context = {
    ...handles,
    get clickhouse() {
      return history
    },
  }
  voteRoutes(app, context)
  monitorLifecycleRoutes(app, { ...handles, watching: NO_HISTORY })
})
const server = await startNats(t)
const nats = await connectNats(server.url, 'test')
await ensureStreams(nats.manager)
t.teardown(() => nats.close())
await insertLiveProbes(api.db)
await startVerdictProcess(t, api.url, server.url)

const record = (results: Result[], region: string) =>
  insertLines(
    clickhouse,
    `results (${RESULT_LINE_COLUMNS})`,
    results.map(result => toResultLine(result, encodeOrigin({ region, probeId: 'probe-1' }), buildArrival(result))),
  )

const readVotes = (account: Account, id: string) => unwrapData(account.picket.listMonitorVotes({ path: { id } }))

/** The votes with the newest checks: an answer does not wait long for a busy ClickHouse. */
const waitForVotesWithChecks = (account: Account, id: string) =>
  waitFor(
    async () => {
      const votes = await readVotes(account, id)
      return votes.checks_available ? votes : null
    },
    { label: 'votes with checks' },
  )

/** A monitor that all its regions have found up. */
async function insertUp({ projectId }: Account, spec = {}): Promise<string> {
  const id = await insertMonitor(api.db, projectId, { regions: REGIONS, retryCount: 1, ...spec })
  for (const region of REGIONS) await publish(nats, [createNextResult(id, { up: true })], region)
  await waitFor(async () => (await countVoters(api.db, id)) === REGIONS.length, { label: 'the votes of all regions' })
  return id
}

const failure = {
  up: false,
  outcome: Outcome.DOWN,
  statusCode: 0,
  error: { source: FailureSource.TARGET, code: 'timeout', message: 'no response' },
}
const slotAgo = (ms: number) => Date.now() - ms

t.test('GET /monitors/{id}/votes 200 says what each region says, before and after the verdict changes', async t => {
  const account = await api.account()
  const id = await insertUp(account)
  const quiet = await waitForVotesWithChecks(account, id)
  t.match(quiet, {
    monitor_id: id,
    status: 'up',
    status_by_votes: 'up',
    failing_votes_needed: 2,
    quorum: { mode: 'full', regions: 3, needed: 2, voting: 3, lost_since: null },
    counts: { ok: 3, degraded: 0, failing: 0, not_voting: 0 },
    thresholds: { failures_in_a_row: 2, better_in_a_row: 2, interval_seconds: 30 },
    silenced_by: [],
    alerts_withheld: false,
    withheld_alerts: [],
    checks_available: true,
  })
  t.same(
    quiet.votes.map(({ region, vote, no_vote_reason }) => ({ region, vote, no_vote_reason })),
    REGIONS.map(region => ({ region, vote: 'ok', no_vote_reason: null })),
  )
  for (const { region, next_check_at } of quiet.votes) {
    const slots = computeSlots(id, region, 30)
    t.equal(new Date(next_check_at!).getTime(), findSlotFrom(slots, new Date(quiet.at).getTime() + 1), region)
  }

  await publish(nats, [createNextResult(id, failure)], 'us-east')
  const growing = await waitFor(
    async () => {
      const votes = await readVotes(account, id)
      return votes.votes[0]!.failed_in_a_row === 1 ? votes : null
    },
    { label: 'the first failure, which is in checkpoints only' },
  )
  t.match(growing.votes[0], { vote: 'ok', state: 'ok', last_check: { status: 'down', error: { code: 'timeout' } } })
  t.equal(growing.status_by_votes, 'up', 'one failure of two')

  await publish(nats, [createNextResult(id, failure)], 'us-east')
  for (let i = 0; i < 2; i++) await publish(nats, [createNextResult(id, failure)], 'eu-west')
  await waitFor(async () => (await readTransitions(api.db, id)).some(({ to }) => to === 'down'), { label: 'down' })
  const down = await readVotes(account, id)
  const { data: transitions } = (await account.call(`GET /monitors/${id}/transitions`)).body
  t.match(down, {
    status: 'down',
    since: transitions[0].at,
    status_by_votes: 'down',
    last_transition_id: transitions[0].id,
    counts: transitions[0].explanation.counts,
    thresholds: transitions[0].explanation.thresholds,
    quorum: transitions[0].explanation.quorum,
    timings: { first_failure_at: transitions[0].explanation.timings.first_failure_at, outage_since: transitions[0].at },
  })
  const stored = new Map<string, object>(
    transitions[0].explanation.votes.map((vote: { region: string }) => [vote.region, vote]),
  )
  for (const region of ['us-east', 'eu-west']) {
    const { age_seconds: _, ...vote } = stored.get(region) as { age_seconds: number; first_failure_at: string }
    const cell = down.votes.find(one => one.region === region)
    t.match(cell, { ...vote, vote: 'failing', vote_since: vote.first_failure_at }, `${region}: the same names`)
  }
})

t.test(
  'GET /monitors/{id}/votes 200 adds the newest checks and the beginning of their run from the history',
  async t => {
    const account = await api.account()
    const id = await insertUp(account)
    const at = (secondsAgo: number, changes: Partial<Result> = {}) =>
      createResult(id, slotAgo(secondsAgo * 1_000), changes)
    const first = at(60)
    await record([at(120, failure), first, at(30)], 'us-east')
    const internal = { source: FailureSource.INTERNAL, code: 'probe_overloaded', message: 'no room' }
    await record([at(20, { outcome: Outcome.UNKNOWN, error: internal })], 'eu-west')
    const { votes } = await waitForVotesWithChecks(account, id)
    t.match(votes[0], { vote: 'ok', newest_check: { status: 'up', status_code: 200, probe_id: 'probe-1' } })
    t.equal(votes[0]!.vote_since, new Date(first.scheduledAtMs).toISOString())
    t.match(votes[1], {
      vote: 'ok',
      last_check: { status: 'up' },
      newest_check: { status: 'unknown', error: { source: 'internal', code: 'probe_overloaded' } },
      vote_since: null,
    })
    t.equal(votes[2]!.newest_check, null)
  },
)

t.test('GET /monitors/{id}/votes 200 without the newest checks while ClickHouse is away', async t => {
  const account = await api.account()
  const id = await insertUp(account)
  history = away
  t.teardown(() => {
    history = clickhouse
  })
  const votes = await readVotes(account, id)
  t.match(votes, { status: 'up', checks_available: false, quorum: { mode: 'full', voting: 3 } })
  for (const vote of votes.votes) {
    t.match(vote, { vote: 'ok', last_check: { status: 'up' }, newest_check: null })
  }
})

t.test('GET /monitors/{id}/votes 200 says why a region has no vote', async t => {
  const account = await api.account()
  const reasons = async (id: string) => (await readVotes(account, id)).votes.map(vote => vote.no_vote_reason)
  const fresh = await insertMonitor(api.db, account.projectId, { regions: REGIONS })
  t.same(await reasons(fresh), ['not_checked', 'not_checked', 'not_checked'])
  t.match(await readVotes(account, fresh), { status: null, status_by_votes: null, quorum: { mode: null, voting: 0 } })

  const id = await insertUp(account)
  await execute(api.db, `UPDATE region_epochs SET absent_from = now() + interval '1 hour' WHERE region = 'us-east'`)
  await execute(api.db, `UPDATE region_epochs SET absent_from = now(), absent_until = NULL WHERE region = 'us-east'`)
  t.same(await reasons(id), ['no_probe', null, null])
  t.match(await readVotes(account, id), { quorum: { without_probe: ['us-east'] }, status_by_votes: 'up' })
  t.equal((await readVotes(account, id)).votes[0]!.next_check_at, null)
  await execute(api.db, `UPDATE region_epochs SET absent_from = NULL WHERE region = 'us-east'`)

  await account.call(`POST /monitors/${id}/pause`)
  t.same(await reasons(id), ['paused', 'paused', 'paused'])
  t.match(await readVotes(account, id), { status: null, silenced_by: [{ kind: 'paused', until: null }] })
})

t.test('GET /monitors/{id}/votes 200 says too_old and in_doubt', async t => {
  const account = await api.account()
  const id = await insertMonitor(api.db, account.projectId, { regions: REGIONS })
  const cell = (region: string, rest: object) => ({
    ...{ region, state: 'ok', failures: 0, notUp: 0, better: 0, votedAtMs: slotAgo(1_000), firstFailure: null },
    ...{
      last: null,
      secondOpinion: null,
      fence: { configVersion: 1, epoch: 1, scheduledAtMs: 0, attempt: 1 },
      ...rest,
    },
  })
  const doubt = { sinceMs: slotAgo(5_000), askedForMs: null, witness: null, settledBy: null }
  const state = {
    ...{ monitorId: id, configVersion: 1, status: 'up', statusSinceMs: slotAgo(9_000), outageSinceMs: null },
    ...{ noMajoritySinceMs: null, quorumLostSinceMs: null, askedAtMs: null, unchecked: null, restoredAtMs: null },
    cells: [
      cell('us-east', { votedAtMs: slotAgo(200_000) }),
      cell('eu-west', { state: 'failing', failures: 1, doubt }),
      cell('ap-southeast', { state: 'pending', notUp: 1 }),
    ],
  }
  await execute(
    api.db,
    `INSERT INTO verdict_states (monitor_id, partition, state, updated_at)
     SELECT id, partition, :state, now() FROM monitors WHERE id = :id`,
    { id, state: JSON.stringify(state) },
  )
  const votes = await readVotes(account, id)
  t.same(
    votes.votes.map(vote => vote.no_vote_reason),
    ['too_old', 'in_doubt', 'not_decided'],
  )
  t.match(votes.votes[1], { vote: null, state: 'failing', doubt: { settled_by: null, witness: null } })
  t.match(votes, { status_by_votes: null, failing_votes_needed: null, quorum: { mode: null, voting: 0 } })
})

t.test('GET /monitors/{id}/votes 200 lists what holds back alerts, with name and end', async t => {
  const account = await api.account()
  const { projectId } = account
  const id = await insertMonitor(api.db, projectId)
  const parent = await insertMonitor(api.db, projectId, { name: 'Router' })
  await execute(api.db, 'INSERT INTO monitor_parents (monitor_id, parent_id) VALUES (?, ?)', [id, parent])
  t.same((await readVotes(account, id)).silenced_by, [])
  await execute(api.db, `UPDATE monitors SET status = 'down' WHERE id = ?`, [parent])
  await execute(
    api.db,
    `INSERT INTO silences (monitor_id, withheld, reason, is_parent_down, grace_until, is_asked, is_answered, due_at)
     VALUES (?, '{}', 'grace', false, '2030-01-01T00:00:00Z', false, false, now() + interval '1 day')`,
    [id],
  )
  const [window] = await api.db
    .raw(
      `INSERT INTO maintenance_windows (id, project_id, title, duration_minutes, time_zone, starts_at, created_at, updated_at)
     VALUES (gen_random_uuid(), ?, 'Move', 60, 'UTC', now(), now(), now()) RETURNING id`,
      [projectId],
    )
    .then(({ rows }: { rows: { id: string }[] }) => rows)
  await execute(
    api.db,
    `INSERT INTO maintenance_periods (project_id, monitor_id, window_id, starts_at, ends_at)
     VALUES (?, ?, ?, now() - interval '1 hour', '2030-02-01T00:00:00Z')`,
    [projectId, id, window!.id],
  )
  const { silenced_by, alerts_withheld } = await readVotes(account, id)
  t.same(silenced_by, [
    { kind: 'maintenance', id: window!.id, name: 'Move', until: '2030-02-01T00:00:00.000Z' },
    { kind: 'parent_down', id: parent, name: 'Router', until: null },
    { kind: 'parent_grace', id: null, name: null, until: '2030-01-01T00:00:00.000Z' },
  ])
  t.equal(alerts_withheld, true)
})

t.test(
  'GET /monitors/{id}/votes 404 for ids of another tenant, unknown and malformed ids; read keys are enough',
  async t => {
    const account = await api.account()
    const mine = await insertMonitor(api.db, account.projectId)
    const theirs = await insertMonitor(api.db, (await api.account()).projectId)
    for (const id of [theirs, '0190a0a0-0000-7000-8000-000000000000', 'nope']) {
      t.match(
        await account.call(`GET /monitors/${id}/votes`),
        { status: 404, body: { error: { code: 'not_found' } } },
        id,
      )
    }
    const read = await account.callWith('read')
    t.equal((await read(`GET /monitors/${mine}/votes`)).status, 200)
  },
)
