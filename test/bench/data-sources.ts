/**
 * The cost of a thousand data sources at 30 s for one control plane: its CPU time minus that of an idle one, including the
 * fetches. A bare loop in this process, which fetches the same documents at the same rate with the same client, shows the part
 * of the fetches.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { execute, query, withPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { fetchDocument } from '../support/fetch-document.ts'
import { startPicket } from '../support/picket.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { cpuUs, type Figure, figure, readMetric } from './rig.ts'

const SOURCES = 1_000
const VALUES = 5
const INTERVAL_S = 30
const MEASURED_S = 60
const IDLE_S = 15
const BARE_S = 20
const WARM_FETCHES = 500

const DOCUMENT = JSON.stringify({
  cells: Object.fromEntries(Array.from({ length: VALUES }, (_, i) => [`cell-${i}`, 'ok'])),
})

export async function benchDataSources(t: Teardown): Promise<Figure[]> {
  const target = fork(import.meta.filename, ['serve'])
  t.teardown(() => target.kill())
  const [port] = await once(target, 'message')
  const url = `http://127.0.0.1:${port}/`
  const picket = await startPicket(t, { regions: [] })
  const { pid } = picket.controlPlane
  await pause(5_000)
  const idle = await measureShare(() => cpuUs(pid), IDLE_S)
  await createSources(picket.databaseUrl, url)
  const fetched = async () => {
    const outcomes = ['same', 'changed'].map(outcome => `picket_data_source_fetches_total{outcome="${outcome}"}`)
    const counts = await Promise.all(outcomes.map(line => readMetric(picket.operator, line)))
    return counts.reduce((sum, count) => sum + count, 0)
  }
  await waitFor(async () => (await fetched()) >= 2 * SOURCES, { timeoutMs: 180_000, label: 'the first fetches' })

  // the first fetches of all sources are finished
  await pause(INTERVAL_S * 1_000)
  const before = await fetched()
  const busy = await measureShare(() => cpuUs(pid), MEASURED_S)
  const rate = ((await fetched()) - before) / MEASURED_S
  const bare = await bareShare(url, rate)
  const added = busy - idle
  return [
    figure(
      `${SOURCES.toLocaleString('en')} data sources at ${INTERVAL_S} s (${VALUES} monitors each, ${rate.toFixed(1)} fetches a second): CPU that they add to a control plane, fetches included`,
      `${percent(added)} of a core`,
      '≤ 10 % in addition to the fetches',
      added <= 0.1,
    ),
    figure('  the control plane idle; a bare loop of the same fetches', `${percent(idle)}; ${percent(bare)}`),
  ]
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`

/** CPU time per second, measured over `seconds`. */
async function measureShare(spentUs: () => number, seconds: number): Promise<number> {
  const [beforeUs, startedMs] = [spentUs(), performance.now()]
  await pause(seconds * 1_000)
  return (spentUs() - beforeUs) / 1_000 / (performance.now() - startedMs)
}

async function bareShare(url: string, perSecond: number): Promise<number> {
  const egress = createEgress({ allow: ['127.0.0.0/8'] })
  const source = { url, method: 'GET' as const, body: null, rootPath: null, timeoutMs: 10_000 }
  const headers = { accept: 'application/json' }
  for (let i = 0; i < WARM_FETCHES; i++) await fetchDocument(egress, source, headers)
  const spentUs = () => {
    const { user, system } = process.cpuUsage()
    return user + system
  }
  const idle = await measureShare(spentUs, IDLE_S)
  const timer = setInterval(() => void fetchDocument(egress, source, headers), 1_000 / perSecond)
  const share = await measureShare(spentUs, BARE_S)
  clearInterval(timer)
  return share - idle
}

function createSources(databaseUrl: string, url: string): Promise<void> {
  return withPostgres(databaseUrl, async db => {
    const [project] = await query<{ id: string }>(db, 'SELECT id FROM projects LIMIT 1')
    await execute(
      db,
      `WITH source AS (
         INSERT INTO data_sources (id, project_id, name, url, method, fetch_interval_s, timeout_ms, next_fetch_at,
           created_at, updated_at)
         SELECT gen_random_uuid(), :projectId, 'Cells ' || n, :url || n, 'GET', :interval, 10000, now(), now(), now()
         FROM generate_series(1, :count) n RETURNING id
       )
       INSERT INTO data_source_fields (id, data_source_id, path, name_template, rule_type, rule_config, display_order,
         created_at, updated_at)
       SELECT gen_random_uuid(), id, 'cells.*', 'Cell {{key}}', 'equals', '{"value": "ok"}', 0, now(), now() FROM source`,
      { projectId: project!.id, url, interval: INTERVAL_S, count: SOURCES },
    )
    await query(db, "SELECT pg_notify('data_sources', '')")
  })
}

if (process.argv[2] === 'serve') {
  const server = createServer((_, answer) => answer.setHeader('content-type', 'application/json').end(DOCUMENT))
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
}
