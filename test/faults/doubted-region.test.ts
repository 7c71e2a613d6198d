import t from 'tap'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { IDENTIFIED } from '../support/client-process.ts'
import { startManyHosts } from '../support/many-hosts.ts'
import { type Picket, startPicket } from '../support/picket.ts'
import { waitFor } from '../support/wait.ts'

// takes about 120 s

const picket: Picket = await startPicket(t, { regions: ['us-east', 'eu-west'], probeEnv: IDENTIFIED })
const { api } = picket
const findPid = (region: string) => picket.probes.find(probe => probe.region === region)!.pid
const [us, eu] = [findPid('us-east'), findPid('eu-west')]
const hosts = await startManyHosts(t)
const db = createPostgres(picket.databaseUrl, 2)
t.teardown(() => db.destroy())

/** A chain with this number of re-checks takes 9 s. */
const RETRIES = 3
const ALL = Array.from({ length: 36 }, (_, i) => i + 1)
/** for these monitors no probe of another region may be asked */
const WITHOUT_WITNESS = ALL.slice(0, 16)
const [BROKEN, BROKEN_LATER] = [35, 36]
const OF_BOTH_REGIONS = [61, 62]
/** A host that is up in every region. */
const HEALTHY = [...ALL.slice(0, 34), ...OF_BOTH_REGIONS]
const WITNESSED = ALL.slice(16, 34)

const body = (host: number) => ({
  name: `host ${host}`,
  type: 'http',
  url: hosts.url(host),
  regions: OF_BOTH_REGIONS.includes(host) ? ['us-east', 'eu-west'] : ['us-east'],
  interval_seconds: 30,
  timeout_ms: 20_000,
  retry_count: RETRIES,
  witness: !WITHOUT_WITNESS.includes(host),
})
const ids = new Map<number, string>()
const { monitors } = (await api.post('/monitors/bulk', { monitors: [...ALL, ...OF_BOTH_REGIONS].map(body) })).body
for (const [i, host] of [...ALL, ...OF_BOTH_REGIONS].entries()) ids.set(host, monitors[i].id)
const listIds = (some: readonly number[]) => some.map(host => ids.get(host)!)
const findHost = (monitorId: string) => [...ids].find(([, id]) => id === monitorId)?.[0]

type Vote = { doubt?: { settled_by: string; witness: { region: string; status_code: number } | null } }
type Row = { id: string; explanation: { votes: Vote[]; decided_by: { attempt: number } }; summary: string }

/** The transitions to down or degraded of some hosts since a part of the test began. */
const downs = (some: readonly number[], sinceMs: number) =>
  query<Row>(
    db,
    `SELECT monitor_id AS id, explanation, summary FROM transitions
     WHERE to_status <> 'up' AND at > ? AND monitor_id = ANY (CAST(? AS uuid[])) ORDER BY at`,
    [new Date(sinceMs), listIds(some)],
  )
/** Numbers only, so that a failure is readable. */
const hostsDown = async (some: readonly number[], sinceMs: number) =>
  (await downs(some, sinceMs)).map(({ id }) => findHost(id))
const lostBy = (pid: number, host: number, sinceMs: number) =>
  hosts.seen.filter(one => one.pid === pid && one.host === host && one.isLost && one.atMs >= sinceMs).length
const arrivedAt = (host: number, sinceMs: number) =>
  hosts.seen.some(one => one.pid === us && one.host === host && !one.isLost && one.atMs >= sinceMs)

t.test('a host that fails alone is down with its last re-check, without a doubt', async t => {
  const everyone = listIds([...ALL, ...OF_BOTH_REGIONS])
  const up = () => query(db, `SELECT FROM monitors WHERE status = 'up' AND id = ANY (CAST(? AS uuid[]))`, [everyone])
  await waitFor(async () => (await up()).length === everyone.length, { label: 'all up' })
  const sinceMs = Date.now()
  hosts.lose(us, [BROKEN])
  hosts.lose(eu, [BROKEN])
  const down = await waitFor(async () => (await downs([BROKEN], sinceMs))[0], { label: 'down' })
  t.equal(down.explanation.decided_by.attempt, RETRIES + 1)
  t.equal(down.explanation.votes[0]?.doubt, undefined)
  t.equal(hosts.seen.filter(({ pid, host }) => pid === eu && host === BROKEN).length, 0, 'no other region was asked')
})

t.test('a probe that loses all hosts for some time causes no outage, even without a witness', async t => {
  const sinceMs = Date.now()
  hosts.lose(us, [...ALL, ...OF_BOTH_REGIONS])
  const wouldBeDown = () => WITHOUT_WITNESS.filter(host => lostBy(us, host, sinceMs) > RETRIES)
  await waitFor(() => wouldBeDown().length >= 2, { label: 'failing hosts' })
  hosts.lose(us, [BROKEN])
  const healedMs = Date.now()
  await waitFor(() => HEALTHY.every(host => arrivedAt(host, healedMs)), { label: 'a check of each host' })
  t.same(await hostsDown([...HEALTHY, BROKEN_LATER], sinceMs), [])
})

t.test(
  'a witness decides in a region in doubt: a confirmed failure is down, and a contradicted one is not',
  async t => {
    const sinceMs = Date.now()
    // the region reaches nothing; one host answers another region with an error
    hosts.breakFor(eu, [BROKEN_LATER])
    hosts.lose(us, [...ALL, ...OF_BOTH_REGIONS])
    const confirmed = await waitFor(async () => (await downs([BROKEN_LATER], sinceMs))[0], { label: 'an outage' })
    const [vote] = confirmed.explanation.votes
    t.match(vote?.doubt, { settled_by: 'witness', witness: { region: 'eu-west', status_code: 503 } })
    t.match(confirmed.summary, /us-east failed for many hosts at the same time; a check from eu-west got status 503/)

    // a chain, and a slot after it
    const isOver = (host: number) => lostBy(us, host, sinceMs) >= RETRIES + 2
    await waitFor(() => HEALTHY.every(isOver), { label: 'later checks' })
    await waitFor(async () => (await downs(WITHOUT_WITNESS, sinceMs)).length >= WITHOUT_WITNESS.length, {
      label: 'decisions without a witness',
    })
    const alone = (await downs(WITHOUT_WITNESS, sinceMs)).map(({ explanation }) => explanation.votes[0]?.doubt)
    t.equal(alone.filter(doubt => doubt?.settled_by === 'limit' && doubt.witness === null).length, alone.length)
    t.same(await hostsDown(WITNESSED, sinceMs), [], 'a witness sees them well')
    t.same(await hostsDown(OF_BOTH_REGIONS, sinceMs), [], 'the other region sees them well')

    const { data } = (await api.get(`/monitors/${ids.get(BROKEN_LATER)}/checks?region=eu-west`)).body
    t.same(data.length, 0, 'the check by the witness is not among the checks of the monitor')
  },
)
