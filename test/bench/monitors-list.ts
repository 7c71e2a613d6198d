/**
 * `GET /monitors` of a project with ten thousand monitors. Another process sends 200 requests a second without waiting for
 * answers. Measured in turns with a bare Fastify route whose answer has the same size.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from '@clickhouse/client'
import { fastify } from 'fastify'
import { type Picket, startPicket } from '../support/picket.ts'
import type { Teardown } from '../support/teardown.ts'
import { type Engines, type Figure, figure, percentile, REGIONS, treeCpuUs } from './rig.ts'
import { seedMonitors } from './seed.ts'

const MONITORS = 10_000
const PER_SECOND = 200
const SECONDS = 10
const ROUNDS = 3
const PAGES = MONITORS / 25

type Asked = { url: string; key?: string; pages: number }

export async function benchMonitorsList(t: Teardown, engines: Engines): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: [] })
  const ids = await seedMonitors(picket.databaseUrl, MONITORS, { tags: ['shop', 'eu'] })
  await writeHistory(picket.clickhouseUrl, ids)
  const client = fork(import.meta.filename, ['ask'])
  const bare = fork(import.meta.filename, ['bare', await readAnswer(picket)])
  t.teardown(() => [client, bare].map(child => child.kill()))
  const [port] = await once(bare, 'message')

  const parts = {
    'control plane': picket.controlPlane.pid,
    PostgreSQL: engines.postgres,
    ClickHouse: engines.clickhouse,
  }
  const list = { url: `${picket.origin}/api/v1/monitors`, key: picket.apiKey }
  const alone = { url: `http://127.0.0.1:${port}/monitors`, pages: 1 }
  await ask(client, { ...list, pages: 1 })
  const rounds: { first: number[]; any: number[]; bare: number[]; cpuUs: number[] }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const before = Object.values(parts).map(treeCpuUs)
    const first = await ask(client, { ...list, pages: 1 })
    const cpuUs = Object.values(parts).map((pid, i) => (treeCpuUs(pid) - before[i]!) / first.length)
    rounds.push({ first, any: await ask(client, { ...list, pages: PAGES }), bare: await ask(client, alone), cpuUs })
  }
  const median = (of: (round: (typeof rounds)[number]) => number) => percentile(rounds.map(of), 0.5)
  const p99 = median(round => percentile(round.first, 0.99))
  const times = (of: 'first' | 'any' | 'bare') =>
    [0.5, 0.99].map(share => median(round => percentile(round[of], share)).toFixed(1)).join(' / ')
  const ratio = median(round => percentile(round.first, 0.5) / percentile(round.bare, 0.5))
  return [
    figure(
      `GET /monitors of a project with ${MONITORS.toLocaleString('en')}, ${PER_SECOND} a second (p50 / p99, median of ${ROUNDS} rounds)`,
      `${times('first')} ms`,
      'p99 ≤ 30 ms',
      p99 <= 30,
    ),
    figure(`  any of its ${PAGES} pages`, `${times('any')} ms`),
    figure(
      '  a bare Fastify route whose answer has the same size',
      `${times('bare')} ms; the list takes ${ratio.toFixed(1)} times it at p50`,
    ),
    figure(
      '  CPU time a list',
      Object.keys(parts)
        .map((name, i) => `${name} ${Math.round(median(({ cpuUs }) => cpuUs[i]!))} µs`)
        .join(', '),
    ),
  ]
}

/** Inserts the checks of the last hour of every monitor, from which `last_checked_at` is read. */
async function writeHistory(url: string, ids: string[]): Promise<void> {
  const clickhouse = createClient({ url })
  const list = (texts: string[]) => `[${texts.map(text => `'${text}'`)}]`
  for (let from = 0; from < ids.length; from += 1_000) {
    await clickhouse.command({
      query: `INSERT INTO results (monitor_id, region, scheduled_at, attempt, probe_id, epoch, config_version, started_at,
          status, total_us, status_code)
        SELECT toUUID(id), region, now64(3) - slot * 30, 1, 'bench', 1, 1, now64(3) - slot * 30, 'up', 40000, 200
        FROM (SELECT number AS slot FROM numbers(120))
          ARRAY JOIN ${list(REGIONS)} AS region ARRAY JOIN ${list(ids.slice(from, from + 1_000))} AS id`,
    })
  }
  await clickhouse.close()
}

async function readAnswer({ api }: Picket): Promise<string> {
  const { status, body } = await api.get('/monitors')
  const checked = body.data?.filter((monitor: { last_checked_at: string | null }) => monitor.last_checked_at !== null)
  if (status !== 200 || checked.length !== 25)
    throw new Error(`GET /monitors failed: ${JSON.stringify(body).slice(0, 400)}`)
  return JSON.stringify(body)
}

/** The time of each answer since its request was due, in ms. */
async function ask(client: ChildProcess, asked: Asked): Promise<number[]> {
  client.send(asked)
  const [answer] = await once(client, 'message')
  if (answer.failed) throw new Error(`a request had no answer: ${answer.failed}`)
  return answer.times
}

async function sendRequests({ url, key, pages }: Asked): Promise<{ times: number[] } | { failed: string }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const headers: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {}
  const asked: Promise<number>[] = []
  const beganMs = performance.now()
  while (asked.length < PER_SECOND * SECONDS) {
    const dueMs = beganMs + (asked.length * 1_000) / PER_SECOND
    while (performance.now() < dueMs) await pause(Math.max(1, dueMs - performance.now()))
    const page = pages > 1 ? `?page=${1 + Math.floor(Math.random() * pages)}` : ''
    asked.push(answerMs(`${url}${page}`, { agent, headers }, dueMs))
  }
  const outcome = await Promise.all(asked).then(
    times => ({ times }),
    (error: Error) => ({ failed: error.message }),
  )
  agent.destroy()
  return outcome
}

function answerMs(
  url: string,
  options: { agent: Agent; headers: Record<string, string> },
  dueMs: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, options, answer => {
      answer.resume().on('end', () => {
        if (answer.statusCode === 200) resolve(performance.now() - dueMs)
        else reject(new Error(`status ${answer.statusCode}`))
      })
    }).on('error', reject)
  })
}

async function serveBare(text: string): Promise<void> {
  const app = fastify()
  app.get('/monitors', async (_request, reply) => reply.type('application/json; charset=utf-8').send(text))
  await app.listen({ host: '127.0.0.1', port: 0 })
  process.send!((app.server.address() as AddressInfo).port)
}

if (process.argv[2] === 'ask') process.on('message', async (asked: Asked) => process.send!(await sendRequests(asked)))
else if (process.argv[2] === 'bare') await serveBare(process.argv[3]!)
