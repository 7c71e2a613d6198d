/**
 * `GET` of one monitor and of a page of a list, with enough connections to keep the process busy, in turns with a bare
 * Fastify route that sends the same SQL through a pool of the same size and returns the same JSON. Also measures the time of
 * a bulk create of 50 monitors.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fastify } from 'fastify'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { listMonitors } from '../../control-plane/monitoring/monitors/listing/list-store.ts'
import { ALL_MONITORS } from '../../control-plane/monitoring/monitors/listing/monitor-filter.ts'
import { findMonitor, getLatestRevision } from '../../control-plane/monitoring/monitors/store.ts'
import { type Picket, startPicket } from '../support/picket.ts'
import type { Teardown } from '../support/teardown.ts'
import { cpuUs, createMonitors, type Engines, type Figure, figure, percentile } from './rig.ts'

const MONITORS = 1_000
const CONNECTIONS = 16
const ROUND_MS = 3_000
const ROUNDS = 5
const BULKS = 50

export async function benchApi(t: Teardown, _engines: Engines): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: [] })
  const bulks = await timeBulks(picket)
  const [id] = await createMonitors(picket.api, MONITORS)
  const headers = `Authorization: Bearer ${picket.apiKey}\r\n`
  const figures: Figure[] = []
  for (const [what, path, ask] of [
    ['one monitor', `/monitors/${id}`, id!],
    ['a page of 25 monitors', '/monitors', ''],
  ] as const) {
    const own = { url: `${picket.origin}/api/v1${path}`, headers, pid: picket.controlPlane.pid }
    const { body } = await picket.api.get(path)
    const bare = { ...(await startBare(t, picket, ask, JSON.stringify(body))), headers: '' }
    figures.push(...buildFigures(what, await compare(own, bare)))
  }
  const [p50, p95] = [percentile(bulks, 0.5), percentile(bulks, 0.95)]
  return [
    ...figures,
    figure(
      `bulk create of 50 monitors (p50 / p95 of ${BULKS})`,
      `${p50.toFixed(0)} / ${p95.toFixed(0)} ms`,
      'p95 ≤ 100 ms',
      p95 <= 100,
    ),
  ]
}

async function timeBulks({ api }: Picket): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < BULKS; i++) {
    const started = performance.now()
    await createMonitors(api, 50)
    times.push(performance.now() - started)
  }
  return times
}

type Server = { url: string; headers: string; pid: number }
type Served = { perSecond: number; cpuUs: number }
type Pair = { own: Served; bare: Served }

async function compare(own: Server, bare: Server): Promise<Pair[]> {
  await serve(own)
  await serve(bare)
  const pairs: Pair[] = []
  for (let i = 0; i < ROUNDS; i++) pairs.push({ own: await serve(own), bare: await serve(bare) })
  return pairs
}

function buildFigures(what: string, pairs: Pair[]): Figure[] {
  const middle = (of: (pair: Pair) => number) => percentile(pairs.map(of), 0.5)
  const share = middle(({ own, bare }) => own.perSecond / bare.perSecond)
  const rate = (key: keyof Pair) => Math.round(middle(pair => pair[key].perSecond)).toLocaleString('en')
  const cpu = (key: keyof Pair) => middle(pair => pair[key].cpuUs).toFixed(0)
  return [
    figure(
      `GET of ${what}, answers a second, ${CONNECTIONS} connections`,
      `${rate('own')}; a bare Fastify route with the same SQL ${rate('bare')}, median of the pairs ${share.toFixed(2)} times`,
      '≥ 0.6 times',
      share >= 0.6,
    ),
    figure('  CPU time each', `${cpu('own')} µs; the bare route ${cpu('bare')} µs`),
  ]
}

/** Measures the answers of a process over persistent connections. */
async function serve({ url, headers, pid }: Server): Promise<Served> {
  const { host, port, pathname } = new URL(url)
  const request = `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`
  let answered = 0
  const sockets = Array.from({ length: CONNECTIONS }, () => {
    const socket = connect(Number(port), '127.0.0.1').setNoDelay(true)
    onAnswer(socket, () => {
      answered++
      socket.write(request)
    })
    socket.write(request)
    return socket
  })
  await pause(200)
  const [started, before, spentUs] = [performance.now(), answered, cpuUs(pid)]
  await pause(ROUND_MS)
  const count = answered - before
  const served = {
    perSecond: count / ((performance.now() - started) / 1_000),
    cpuUs: (cpuUs(pid) - spentUs) / count,
  }
  for (const socket of sockets) socket.destroy()
  return served
}

/** Calls `done` at the end of each answer, and throws if an answer is not successful. */
function onAnswer(socket: Socket, done: () => void): void {
  let left = 0
  socket.on('data', chunk => {
    if (left === 0) {
      const end = chunk.indexOf('\r\n\r\n')
      const head = chunk.toString('latin1', 0, end)
      if (!head.startsWith('HTTP/1.1 200')) throw new Error(head)
      left = end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1])
    }
    left -= chunk.length
    if (left === 0) done()
  })
}

/** Starts a process with only one route, which sends the SQL of the real route and returns its JSON. `id` empty: the list. */
async function startBare(t: Teardown, picket: Picket, id: string, json: string): Promise<Omit<Server, 'headers'>> {
  const server = fork(import.meta.filename, ['serve', picket.databaseUrl, id])
  t.teardown(() => server.kill())
  server.send(json)
  const [port] = await once(server, 'message')
  return { url: `http://127.0.0.1:${port}/`, pid: server.pid! }
}

async function serveBare(databaseUrl: string, id: string): Promise<void> {
  const db = createPostgres(databaseUrl)
  const [project] = await query<{ id: string }>(db, 'SELECT id FROM projects ORDER BY id LIMIT 1')
  const [json] = await once(process, 'message')
  const body = JSON.parse(json as string)
  const app = fastify()
  app.get('/', async () => {
    if (id !== '') await findMonitor(db, project!.id, id)
    else
      await Promise.all([listMonitors(db, project!.id, ALL_MONITORS, { limit: 25, offset: 0 }), getLatestRevision(db)])
    return body
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  process.send?.(Number(new URL(address).port))
}

if (process.argv[2] === 'serve') await serveBare(process.argv[3]!, process.argv[4]!)
