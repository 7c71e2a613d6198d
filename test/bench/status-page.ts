/**
 * A public status page with 50 components and 90 days. Measures the time of the first answer, its size, and the pages a second
 * that one process serves from memory, in turns with a bare Fastify route that sends the same bytes.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fastify } from 'fastify'
import { createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { createPostgres, type Db } from '../../control-plane/foundation/platform/postgres/client.ts'
import { type Picket, startPicket } from '../support/picket.ts'
import type { Teardown } from '../support/teardown.ts'
import { cpuUs, createMonitors, type Engines, type Figure, figure, percentile } from './rig.ts'

const COMPONENTS = 50
const PAGES = 20
const CONNECTIONS = 32
const ROUND_MS = 3_000
const ROUNDS = 5

export async function benchStatusPage(t: Teardown, _engines: Engines): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: [] })
  const slugs = await createPages(t, picket)
  const firsts: number[] = []
  for (const slug of slugs) firsts.push(await firstAnswerMs(`${picket.origin}/status/${slug}`))
  const first = percentile(firsts.slice(1), 0.5)

  const page = `${picket.origin}/status/${slugs[0]}`
  const { bytes, contentType } = await fetchCompressed(page)
  const bare = await startBareRoute(t, bytes, contentType)
  const pairs: { own: Served; bare: Served }[] = []
  for (let i = 0; i < ROUNDS; i++) {
    pairs.push({ own: await serve(page, picket.controlPlane.pid), bare: await serve(bare.url, bare.pid) })
  }
  const middle = (of: (pair: (typeof pairs)[number]) => number) => percentile(pairs.map(of), 0.5)
  const share = middle(({ own, bare }) => own.perSecond / bare.perSecond)
  const rate = (key: 'own' | 'bare') => Math.round(middle(pair => pair[key].perSecond)).toLocaleString('en')
  const cpu = (key: 'own' | 'bare') => middle(pair => pair[key].cpuUs).toFixed(0)
  const kB = bytes.length / 1_000
  return [
    figure(
      `first answer of a status page with ${COMPONENTS} components and 90 days (p50 / max of ${firsts.length - 1})`,
      `${first.toFixed(0)} / ${Math.max(...firsts.slice(1)).toFixed(0)} ms`,
      '≤ 50 ms',
      first <= 50,
    ),
    figure('  its size, compressed, with everything', `${kB.toFixed(1)} kB`, '≤ 40 kB', kB <= 40),
    figure(
      `status pages a second from memory, ${CONNECTIONS} connections`,
      `${rate('own')}; a bare Fastify route with the same bytes ${rate('bare')}, median of the pairs ${share.toFixed(2)} times`,
      '≥ 0.6 times',
      share >= 0.6,
    ),
    figure('  CPU time each', `${cpu('own')} µs; the bare route ${cpu('bare')} µs`),
  ]
}

/** Creates pages of the same 50 monitors, each with ten past outages and hourly figures of 90 days. Returns their slugs. */
async function createPages(t: Teardown, { api, databaseUrl, clickhouseUrl }: Picket): Promise<string[]> {
  const monitors = await createMonitors(api, COMPONENTS)
  const db = createPostgres(databaseUrl, 2)
  t.teardown(() => db.destroy())
  await insertOutages(db)
  const clickhouse = createClickhouse(clickhouseUrl)
  t.teardown(() => clickhouse.close())
  await clickhouse.command({
    query: `INSERT INTO latency_hourly (monitor_id, hour, region, count, p50)
      SELECT id, toStartOfHour(now()) - INTERVAL number HOUR, '', 120, 100 + number % 50
      FROM numbers(90 * 24) AS past CROSS JOIN (SELECT arrayJoin({ids:Array(UUID)}) AS id) AS monitor`,
    query_params: { ids: monitors },
  })
  const slugs = Array.from({ length: PAGES }, (_, i) => `acme-${i}`)
  for (const slug of slugs) await createPage(api, slug, monitors)
  // autovacuum does the same within a minute
  await db.raw('ANALYZE')
  return slugs
}

async function createPage(api: Picket['api'], slug: string, monitors: string[]): Promise<void> {
  const { body } = await api.post('/status-pages', { name: 'Acme', slug })
  const path = `/status-pages/${body.data.id}`
  await api.put(path, { is_published: true })
  const groups: string[] = []
  for (const name of ['Europe', 'America', 'Asia']) {
    groups.push((await api.post(`${path}/groups`, { name })).body.data.id)
  }
  for (const [i, monitor_id] of monitors.entries()) {
    const group_id = groups[i % 4] ?? null
    await api.post(`${path}/components`, { name: `Service number ${i}`, monitor_id, group_id })
  }
}

/** Inserts ten outages of each monitor in 90 days, one every nine days, each with an incident. */
async function insertOutages(db: Db): Promise<void> {
  await db.raw(`UPDATE monitors SET status = 'up', status_changed_at = now() - interval '1 day'`)
  await db.raw(`
    INSERT INTO transitions (id, project_id, monitor_id, to_status, at, quorum, summary, explanation, created_at)
    SELECT gen_random_uuid(), project_id, id, change.status, now() - make_interval(days => 9 * n + 1) + change.later,
      'full', '', '{}', now()
    FROM monitors, generate_series(0, 9) n,
      (VALUES ('down', interval '0'), ('up', interval '17 minutes')) AS change (status, later)`)
  await db.raw(`
    WITH made AS (
      INSERT INTO incidents (id, project_id, title, severity, status, source, cause_monitor_id, started_at, resolved_at,
        created_at, updated_at)
      SELECT gen_random_uuid(), project_id, name || ' is down', 'major', 'resolved', 'automatic', id,
        now() - make_interval(days => 9 * n + 1), now() - make_interval(days => 9 * n + 1, mins => -17), now(), now()
      FROM monitors, generate_series(0, 9) n
      RETURNING id, cause_monitor_id)
    INSERT INTO incident_monitors (incident_id, monitor_id) SELECT id, cause_monitor_id FROM made`)
}

async function firstAnswerMs(url: string): Promise<number> {
  const started = performance.now()
  const answer = await fetch(url)
  await answer.arrayBuffer()
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`)
  return performance.now() - started
}

type Packed = { bytes: Buffer; contentType: string; lengthWithHead: number }

/** Fetches an answer without decompressing it. */
function fetchCompressed(url: string): Promise<Packed> {
  return new Promise((resolve, reject) => {
    const socket = open(url)
    const chunks: Buffer[] = []
    socket.on('error', reject)
    socket.on('data', chunk => {
      chunks.push(chunk)
      const all = Buffer.concat(chunks)
      const end = all.indexOf('\r\n\r\n') + 4
      const head = all.subarray(0, end).toString()
      const header = (name: string) => new RegExp(`^${name}: (.*)\\r$`, 'im').exec(head)?.[1] ?? ''
      if (end < 4 || all.length < end + Number(header('content-length'))) return
      socket.destroy()
      resolve({ bytes: all.subarray(end), contentType: header('content-type'), lengthWithHead: all.length })
    })
    socket.write(buildRequest(url))
  })
}

const buildRequest = (url: string) => {
  const { host, pathname } = new URL(url)
  return `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nAccept-Encoding: gzip, br\r\n\r\n`
}

const open = (url: string): Socket => connect(Number(new URL(url).port), '127.0.0.1').setNoDelay(true)

type Served = { perSecond: number; cpuUs: number }

/** Measures the answers of a process over persistent connections. All have the length of the first, so bytes are counted. */
async function serve(url: string, pid: number): Promise<Served> {
  const request = buildRequest(url)
  const { lengthWithHead } = await fetchCompressed(url)
  let answered = 0
  const sockets = Array.from({ length: CONNECTIONS }, () => {
    const socket = open(url)
    let left = lengthWithHead
    socket.on('data', chunk => {
      left -= chunk.length
      if (left > 0) return
      left = lengthWithHead
      answered++
      socket.write(request)
    })
    socket.write(request)
    return socket
  })
  const [started, spentUs] = [performance.now(), cpuUs(pid)]
  await pause(ROUND_MS)
  const perSecond = answered / ((performance.now() - started) / 1_000)
  const served = { perSecond, cpuUs: (cpuUs(pid) - spentUs) / answered }
  for (const socket of sockets) socket.destroy()
  return served
}

/** Starts a process with only one route, and returns its URL. */
async function startBareRoute(t: Teardown, bytes: Buffer, contentType: string): Promise<{ url: string; pid: number }> {
  const dir = mkdtempSync(join(tmpdir(), 'picket-bench-page-'))
  const file = join(dir, 'body')
  writeFileSync(file, bytes)
  const server = fork(import.meta.filename, ['serve', file, contentType])
  t.teardown(() => {
    server.kill()
    rmSync(dir, { recursive: true })
  })
  const [port] = await once(server, 'message')
  return { url: `http://127.0.0.1:${port}/`, pid: server.pid! }
}

if (process.argv[2] === 'serve') {
  const [, , , file, contentType] = process.argv
  const body = readFileSync(file!)
  const app = fastify()
  app.get('/', async (_request, reply) =>
    reply.headers({ 'content-type': contentType!, 'content-encoding': 'br' }).send(body),
  )
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  process.send?.(Number(new URL(address).port))
}
