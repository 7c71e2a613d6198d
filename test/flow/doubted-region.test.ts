import t from 'tap'
import { createPostgres, query } from '../../control-plane/platform/postgres.ts'
import { startManyHosts } from '../support/many-hosts.ts'
import { type Picket, startPicket } from '../support/picket.ts'
import { waitFor } from '../support/wait.ts'

// takes about 220 s

const picket: Picket = await startPicket(t, { regions: ['us-east', 'eu-west'] })
const { api } = picket
const pidOf = (region: string) => picket.probes.find(probe => probe.region === region)!.pid
const [us, eu] = [pidOf('us-east'), pidOf('eu-west')]
const hosts = await startManyHosts(t, () => [us, eu])
const db = createPostgres(picket.databaseUrl, 2)
t.teardown(() => db.destroy())

/** A chain of so many attempts takes 9 s. */
const RETRIES = 3
const ALL = Array.from({ length: 60 }, (_, i) => i + 1)
/** of these no probe of another region may be asked */
const WITHOUT_WITNESS = ALL.slice(0, 30)
const [BROKEN, BROKEN_LATER] = [59, 60]
const OF_BOTH_REGIONS = [61, 62, 63, 64, 65, 66]

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
for (const some of [ALL.slice(0, 40), ALL.slice(40), OF_BOTH_REGIONS]) {
  const { monitors } = (await api.post('/monitors/bulk', { monitors: some.map(body) })).body
  for (const [i, host] of some.entries()) ids.set(host, monitors[i].id)
}

type Vote = { doubt?: { settled_by: string; witness: { region: string; status: string } | null } }
type Row = { id: string; to: string; explanation: { votes: Vote[]; decided_by: { attempt: number } }; summary: string }

/** When the part of the test under way began; a machine that is too slow for its own targets has outages before. */
let since = new Date(0)

/** The transitions to down or degraded of some hosts since then. */
const downs = (some: readonly number[]) =>
  query<Row>(
    db,
    `SELECT monitor_id AS id, to_status AS "to", explanation, summary FROM transitions
     WHERE to_status <> 'up' AND at > ? AND monitor_id = ANY (CAST(? AS uuid[])) ORDER BY at`,
    [since, some.map(host => ids.get(host)!)],
  )
const areUp = async (some: readonly number[]) => {
  const rows = await query(db, `SELECT FROM monitors WHERE status = 'up' AND id = ANY (CAST(? AS uuid[]))`, [
    some.map(host => ids.get(host)!),
  ])
  return rows.length === some.length
}
const lostBy = (pid: number, host: number, sinceMs: number) =>
  hosts.seen.filter(one => one.pid === pid && one.host === host && one.isLost && one.atMs >= sinceMs).length
const arrivedAt = (host: number, sinceMs: number) =>
  hosts.seen.some(one => one.pid === us && one.host === host && !one.isLost && one.atMs >= sinceMs)

t.test('a host that breaks alone is down with its last re-check, without a doubt', async t => {
  await waitFor(() => areUp([...ALL, ...OF_BOTH_REGIONS]), { label: 'all up' })
  since = new Date()
  hosts.lose(us, [BROKEN])
  hosts.lose(eu, [BROKEN])
  const [down] = await waitFor(async () => ((await downs([BROKEN])).length > 0 ? downs([BROKEN]) : null), {
    label: 'down',
  })
  t.equal(down?.explanation.decided_by.attempt, RETRIES + 1)
  t.equal(down?.explanation.votes[0]?.doubt, undefined)
  t.equal(hosts.seen.filter(({ pid, host }) => pid === eu && host === BROKEN).length, 0, 'no other region was asked')
  hosts.lose(us, [])
  hosts.lose(eu, [])
  await waitFor(() => areUp(ALL), { label: 'up again' })
})

t.test('a probe that loses all hosts for a while makes no outage, also without a witness', async t => {
  const sinceMs = Date.now()
  since = new Date(sinceMs)
  hosts.lose(us, [...ALL, ...OF_BOTH_REGIONS])
  const wouldBeDown = () => WITHOUT_WITNESS.filter(host => lostBy(us, host, sinceMs) > RETRIES)
  await waitFor(() => wouldBeDown().length >= 4, { label: 'failing hosts' })
  hosts.lose(us, [])
  const healedMs = Date.now()
  const all = [...ALL, ...OF_BOTH_REGIONS]
  await waitFor(() => all.every(host => arrivedAt(host, healedMs)), { label: 'a check of each host' })
  t.same(await downs(all), [])
})

t.test('in a region in doubt, what a witness confirms is down and what it sees well is not', async t => {
  const sinceMs = Date.now()
  since = new Date(sinceMs)
  // the region sees nothing at all; of one host another region does not either
  hosts.lose(eu, [BROKEN_LATER])
  hosts.lose(us, [...ALL, ...OF_BOTH_REGIONS])
  const confirmed = await waitFor(async () => (await downs([BROKEN_LATER]))[0], { label: 'the confirmed outage' })
  t.match(confirmed.explanation.votes, [
    { doubt: { settled_by: 'witness', witness: { region: 'eu-west', status: 'down' } } },
  ])
  t.match(confirmed.summary, /us-east failed for many hosts at once; a check from eu-west failed too/)

  const witnessed = ALL.filter(host => !WITHOUT_WITNESS.includes(host) && ![BROKEN, BROKEN_LATER].includes(host))
  const alone = await waitFor(
    async () => {
      const some = await downs(WITHOUT_WITNESS)
      return some.length >= 5 ? some : null
    },
    { label: 'decisions without a witness' },
  )
  for (const { explanation } of alone) t.match(explanation.votes, [{ doubt: { settled_by: 'limit', witness: null } }])
  // a chain, and two slots after it
  await waitFor(() => [...witnessed, ...OF_BOTH_REGIONS].every(host => lostBy(us, host, sinceMs) >= RETRIES + 3), {
    label: 'later checks',
  })
  t.same(await downs(witnessed), [], 'a witness sees them well')
  t.same(await downs(OF_BOTH_REGIONS), [], 'the other region sees them well')

  const { data } = (await api.get(`/monitors/${ids.get(BROKEN_LATER)}/checks?region=eu-west`)).body
  t.same(data, [], 'what the witness saw is no check of the monitor')
  hosts.lose(us, [BROKEN_LATER])
  await waitFor(() => areUp(WITHOUT_WITNESS), { label: 'up again' })
  t.same(await downs(witnessed), [])
})
