/** Shared by the benches: a Picket with durable engines, thousands of monitors, and batches as probes send them. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectNats, type Nats } from '../../control-plane/foundation/platform/nats/client.ts'
import { withPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { FailureSource, NO_DETAILS, Outcome, type Result, ResultBatch, Trigger } from '../../shared/checks/result.ts'
import { computePartition, resultSubject } from '../../shared/nats/subjects.ts'
import { startClickhouse } from '../../tools/engines/clickhouse/clickhouse.ts'
import { startPostgres } from '../../tools/engines/postgres.ts'
import type { Api } from '../support/api.ts'
import type { Picket } from '../support/picket.ts'
import type { Program } from '../support/processes.ts'
import type { Teardown } from '../support/teardown.ts'
import { insertLiveProbes } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

export const REGIONS = ['us-east', 'eu-west', 'ap-southeast']

/** One line of the table. `isMet` null: there is no aim. */
export type Figure = { what: string; figure: string; aim: string; isMet: boolean | null }

/** Uptime Kuma 2.5.3 with 1,000 monitors at 20 s, whole process, measured on a machine with two cores like this one. */
const KUMA = { checkUs: 5_200, memoryMb: 261 }

export const compareWithKuma = (checkUs: number): string =>
  `Uptime Kuma ${KUMA.checkUs.toLocaleString('en')} µs, ${(KUMA.checkUs / checkUs).toFixed(0)} times as much`

/** Computed from its time a check. Its memory was measured at 50 checks a second. */
export const computeKumaUse = (checksPerSecond: number): { percent: string; memory: string } => ({
  percent: `Uptime Kuma, by its ${KUMA.checkUs.toLocaleString('en')} µs a check, ${((checksPerSecond * KUMA.checkUs) / 1e4).toFixed(0)} %`,
  memory: `Uptime Kuma ${KUMA.memoryMb} MB (1,000 monitors at 20 s)`,
})

export const figure = (what: string, text: string, aim = '', isMet: boolean | null = null): Figure => ({
  what,
  figure: text,
  aim,
  isMet,
})

export { withTeardown } from '../support/teardown.ts'

/** Process ids. */
export type Engines = { postgres: number; clickhouse: number }

/** PostgreSQL and ClickHouse with the durability settings of `npm start`. */
export async function startDurableEngines(t: Teardown): Promise<Engines> {
  const dir = mkdtempSync(join(tmpdir(), 'picket-bench-'))
  const file = (name: string) => join(dir, name)
  const [postgres, clickhouse] = await Promise.all([
    startPostgres({ dataDir: file('postgres'), logFile: file('postgres.log'), port: 0 }),
    startClickhouse({ dataDir: file('clickhouse'), logFile: file('clickhouse.log'), port: 0 }),
  ])
  process.env.TEST_DATABASE_URL = postgres.url
  process.env.TEST_CLICKHOUSE_URL = clickhouse.url
  t.teardown(async () => {
    await Promise.all([postgres.stop(), clickhouse.stop()])
    rmSync(dir, { recursive: true, force: true })
  })
  return { postgres: postgres.pid, clickhouse: clickhouse.pid }
}

/** Creates monitors through the API, 50 in each request, and returns their ids. */
export async function createMonitors(api: Api, count: number, changes: object = {}): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) {
    const monitors = Array.from({ length: Math.min(50, count - ids.length) }, (_, i) => ({
      name: `Shop ${ids.length + i}`,
      type: 'http',
      url: 'http://127.0.0.1:9/',
      interval_seconds: 30,
      regions: REGIONS,
      ...changes,
    }))
    const { status, body } = await api.post('/monitors/bulk', { monitors })
    if (status !== 201 || body.errors.length > 0)
      throw new Error(`monitors were not created: ${JSON.stringify(body).slice(0, 400)}`)
    ids.push(...body.monitors.map((monitor: { id: string }) => monitor.id))
  }
  return ids
}

const getProbeId = (region: string) => `bench-${region}`

export type SampleResult = { monitorId: string; scheduledAtMs: number; attempt?: number; up: boolean }

function buildResult({ monitorId, scheduledAtMs, attempt = 1, up }: SampleResult): Result {
  return {
    monitorId,
    configVersion: 1,
    epoch: 1,
    scheduledAtMs,
    startedAtMs: scheduledAtMs + 4,
    attempt,
    outcome: up ? Outcome.UP : Outcome.DOWN,
    trigger: Trigger.SLOT,
    runId: '',
    totalUs: 41_234,
    timings: { dnsUs: 1_000, connectUs: 10_000, tlsUs: 20_000, firstByteUs: 10_000, transferUs: 234 },
    statusCode: up ? 200 : 503,
    error: up
      ? undefined
      : { source: FailureSource.TARGET, code: 'unexpected_status', message: 'the target answered 503' },
    failedAssertions: [],
    resolvedIp: '192.0.2.10',
    ...NO_DETAILS,
  }
}

/** Encodes messages of at most `size` results, each of one partition and region, as probes do. */
export function encodeBatches(
  shots: SampleResult[],
  region: string,
  size: number,
): { subject: string; data: Uint8Array }[] {
  const byPartition = new Map<number, SampleResult[]>()
  for (const shot of shots) {
    const partition = computePartition(shot.monitorId)
    const mine = byPartition.get(partition)
    if (mine) mine.push(shot)
    else byPartition.set(partition, [shot])
  }
  return [...byPartition].flatMap(([partition, mine]) => {
    const chunks = Array.from({ length: Math.ceil(mine.length / size) }, (_, i) => mine.slice(i * size, (i + 1) * size))
    return chunks.map(chunk => ({
      subject: resultSubject(partition, region),
      data: ResultBatch.encode({ probeId: getProbeId(region), region, results: chunk.map(buildResult) }).finish(),
    }))
  })
}

/** Publishes in batches. JetStream acks each one before the next is sent. */
export async function publishAll(nats: Nats, messages: { subject: string; data: Uint8Array }[]): Promise<void> {
  for (let i = 0; i < messages.length; i += 256) {
    await Promise.all(messages.slice(i, i + 256).map(({ subject, data }) => nats.js.publish(subject, data)))
  }
}

/** Opens a connection on which results can be published like those of probes of each region. */
export async function connectBench(t: Teardown, picket: Pick<Picket, 'nats' | 'databaseUrl'>): Promise<Nats> {
  const probeIds = REGIONS.map(getProbeId)
  await withPostgres(picket.databaseUrl, db => insertLiveProbes(db, probeIds))
  const { url, operator } = picket.nats
  const nats = await connectNats(url, 'bench', operator)
  t.teardown(() => nats.close())
  return nats
}

/** Returns one value of /metrics on the operator port; 0 if it is missing. */
export async function readMetric(operator: string, line: string): Promise<number> {
  const text = await (await fetch(`${operator}/metrics`)).text()
  const found = text.split('\n').find(one => one.startsWith(`${line} `))
  return found ? Number(found.slice(line.length + 1)) : 0
}

/** The environment of a program whose memory is read by `readMemory`. */
export const READABLE_MEMORY = { NODE_OPTIONS: `--import=${new URL('heap-on-signal.mjs', import.meta.url).href}` }

/**
 * Collects the garbage of a program that was started with `READABLE_MEMORY`, and returns what it uses then, in bytes.
 * `heapUsed` and `external`: of the main thread. `compiled`: the part of `heapUsed` that is compiled code. `rss`: resident
 * memory of the process.
 */
export async function readMemory(
  program: Program,
): Promise<{ heapUsed: number; external: number; compiled: number; rss: number }> {
  const heaps = () => program.lines.filter(line => line.event === 'heap')
  const before = heaps().length
  program.signal('SIGUSR2')
  await waitFor(async () => heaps().length > before, { everyMs: 20, label: 'the memory of a program' })
  const { heapUsed, external, compiled, rss } = heaps().at(-1)!
  return { heapUsed, external, compiled, rss }
}

const CLOCK_TICK_US = 10_000

/** User and system time of a process so far, in µs. */
export function cpuUs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_US
}

/** User and system time of the children of a process that have ended, in µs. */
export function endedChildrenUs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[13]) + Number(fields[14])) * CLOCK_TICK_US
}

/** User and system time of a process and all its descendants, including those that have ended, in µs. */
export function treeCpuUs(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  const childrenUs = children.reduce((sum, child) => sum + (valueIfRunning(() => treeCpuUs(Number(child))) ?? 0), 0)
  // read last: a child that ended in between is in the time of its parent
  return childrenUs + cpuUs(pid) + endedChildrenUs(pid)
}

/** Null when the process that `read` asks for has ended. */
function valueIfRunning<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return null
    throw error
  }
}

/** The smallest value that `share` of the sorted values do not exceed. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
