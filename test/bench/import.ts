/**
 * Imports of a database of Uptime Kuma as a job: the plan, the apply, and how long changes of other people of the same project
 * take meanwhile. A database of almost the maximum size, with the memory that it takes.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { MAX_UPLOAD_BYTES } from '../../control-plane/integrations/import-export/jobs/upload-store.ts'
import { buildKumaDatabase, buildLargeKumaDatabase, KUMA_TABLES } from '../support/kuma-database.ts'
import { type Picket, startPicket } from '../support/picket.ts'
import type { Teardown } from '../support/teardown.ts'
import { type Engines, type Figure, figure, percentile } from './rig.ts'

type Aim = { monitors: number; planS: number; applyS: number }
const AIMS: Aim[] = [
  { monitors: 1_000, planS: 2, applyS: 3 },
  { monitors: 10_000, planS: 20, applyS: 30 },
]
/** of a change of another person, while an import is applied */
const CHANGE_P99_MS = 150
const CHANGES_ALONE = 200

/** 240 MiB, almost all of it heartbeats, as in an installation that has run for years. */
const HEARTBEATS = 245_000
const HEARTBEAT_BYTES = 1_000
const READ_S = 30
/** The bytes of the file twice, in the thread and in the memory of SQLite, and the thread. */
const READ_MIB = 600

export async function benchImport(t: Teardown, _engines: Engines): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const aim of AIMS) {
    const { api } = await startPicket(t, { regions: [] })
    figures.push(...(await measure(api, aim)))
  }
  return [...figures, ...(await measureLargest(await startPicket(t, { regions: [] })))]
}

type Api = Awaited<ReturnType<typeof startPicket>>['api']

async function measure(api: Api, { monitors, planS, applyS }: Aim): Promise<Figure[]> {
  const name = `import of ${monitors.toLocaleString('en')} monitors from kuma.db`
  const startedMs = performance.now()
  const { body } = await api.post('/imports?from=uptime-kuma', buildLargeKumaDatabase(monitors), {
    'content-type': 'application/octet-stream',
  })
  const path = `/imports/${body.data.id}`
  await ended(api, path, 'ready')
  const plannedS = (performance.now() - startedMs) / 1_000
  const alone = startChanges(api)
  await alone.untilCount(CHANGES_ALONE)
  const aloneMs = await alone.stop()
  const changes = startChanges(api)
  const applyMs = performance.now()
  await api.post(`${path}/apply`)
  await ended(api, path, 'applied')
  const appliedS = (performance.now() - applyMs) / 1_000
  const meanwhileMs = await changes.stop()
  const p99Ms = percentile(meanwhileMs, 0.99)
  return [
    figure(`${name}: upload and plan`, `${plannedS.toFixed(1)} s`, `≤ ${planS} s`, plannedS <= planS),
    figure(`  apply`, `${appliedS.toFixed(1)} s`, `≤ ${applyS} s`, appliedS <= applyS),
    figure(
      `  changes of other people of the project meanwhile (p50 / p99 / max of ${meanwhileMs.length})`,
      `${describe(meanwhileMs)}; alone ${describe(aloneMs)}`,
      `p99 ≤ ${CHANGE_P99_MS} ms`,
      p99Ms <= CHANGE_P99_MS,
    ),
  ]
}

const describe = (ms: number[]) => `${[0.5, 0.99, 1].map(share => Math.round(percentile(ms, share))).join(' / ')} ms`

/** A database of almost the maximum size: the time of its plan, and the most memory of the control plane meanwhile. */
async function measureLargest({ api, controlPlane: { pid } }: Picket): Promise<Figure[]> {
  const bytes = buildKumaDatabase(
    2,
    KUMA_TABLES,
    `WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT ${HEARTBEATS})
     INSERT INTO heartbeat (monitor_id, status, msg) SELECT 2, 1, hex(randomblob(${HEARTBEAT_BYTES / 2})) FROM n`,
  )
  const mib = Math.round(bytes.length / 1_048_576)
  if (bytes.length > MAX_UPLOAD_BYTES) throw new Error(`the database has ${mib} MiB`)
  const beforeMib = readMemoryMib(pid, 'VmRSS')
  // resets VmHWM, the most memory so far
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const startedMs = performance.now()
  const { body } = await api.post('/imports?from=uptime-kuma', bytes, { 'content-type': 'application/octet-stream' })
  const uploadedS = (performance.now() - startedMs) / 1_000
  await ended(api, `/imports/${body.data.id}`, 'ready')
  const readS = (performance.now() - startedMs) / 1_000
  const addedMib = readMemoryMib(pid, 'VmHWM') - beforeMib
  return [
    figure(
      `a kuma.db of ${mib} MiB: upload / upload and plan`,
      `${uploadedS.toFixed(1)} / ${readS.toFixed(1)} s`,
      `≤ ${READ_S} s`,
      readS <= READ_S,
    ),
    figure(
      '  memory of the control plane meanwhile, in addition',
      `${addedMib} MiB`,
      `≤ ${READ_MIB} MiB`,
      addedMib <= READ_MIB,
    ),
  ]
}

const readMemoryMib = (pid: number, key: 'VmRSS' | 'VmHWM'): number =>
  Math.round(Number(new RegExp(`${key}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024)

async function ended(api: Api, path: string, wanted: string): Promise<void> {
  for (;;) {
    const { status, error } = (await api.get(path)).body.data
    if (status === wanted) return
    if (status === 'failed') throw new Error(JSON.stringify(error))
    await pause(50)
  }
}

/** Creates a monitor and changes it, again and again. Returns the time of each request. */
function startChanges(api: Api): { untilCount(count: number): Promise<void>; stop(): Promise<number[]> } {
  let isOver = false
  const ms: number[] = []
  const measureOne = async (wanted: number, send: () => ReturnType<Api['post']>) => {
    const startedMs = performance.now()
    const { status, body } = await send()
    if (status !== wanted) throw new Error(`a change: ${status} ${JSON.stringify(body)}`)
    ms.push(performance.now() - startedMs)
    await pause(20)
    return body.data
  }
  const work = (async () => {
    while (!isOver) {
      const { id } = await measureOne(201, () => api.post('/monitors', { name: 'Meanwhile', type: 'http' }))
      await measureOne(200, () => api.put(`/monitors/${id}`, { timeout_ms: 20_000 }))
    }
  })()
  return {
    async untilCount(count) {
      while (ms.length < count) await pause(20)
    },
    async stop() {
      isOver = true
      await work
      return ms
    },
  }
}
