/**
 * A thousand open event streams in ten projects on a process with the role `api`, while one monitor a second goes down: the
 * processor time of that process with and without the streams, and the memory of a stream.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { type Api, createApi } from '../support/api.ts'
import { type Picket, startPicket } from '../support/picket.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { connectBench, cpuUs, createMonitors, encodeBatches, type Figure, figure, publishAll, REGIONS } from './rig.ts'

const PROJECTS = 10
const KEYS_PER_PROJECT = 10
const STREAMS_PER_KEY = 10
const STREAMS = PROJECTS * KEYS_PER_PROJECT * STREAMS_PER_KEY
const SECONDS = 60

type Project = { api: Api; keys: string[]; monitorIds: string[] }

export async function benchEventStreams(t: Teardown): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: [] })
  const apiProcess = await picket.addControlPlane({ ROLES: 'api' })
  const { http_port: port } = await apiProcess.untilEvent('ready')
  const projects: Project[] = []
  for (let i = 0; i < PROJECTS; i++) projects.push(await createProject(picket, i))
  const nats = await connectBench(t, picket)
  const ids = projects.flatMap(({ monitorIds }) => monitorIds)
  await publishAll(nats, results(ids, true))
  for (const { api, monitorIds } of projects)
    await waitFor(async () => (await api.get('/monitors?status=up&per_page=1')).body.meta.total === monitorIds.length)

  // each project in turn
  const turns = Array.from(
    { length: 2 * SECONDS },
    (_, i) => projects[i % PROJECTS]!.monitorIds[Math.floor(i / PROJECTS)]!,
  )
  const failOneEachSecond = async (monitorIds: string[]) => {
    const [startUs, startMs] = [cpuUs(apiProcess.pid), performance.now()]
    for (const [second, id] of monitorIds.entries()) {
      await publishAll(nats, results([id], false))
      await pause(Math.max(0, startMs + (second + 1) * 1_000 - performance.now()))
    }
    return (cpuUs(apiProcess.pid) - startUs) / (performance.now() - startMs) / 10
  }
  const alonePercent = await failOneEachSecond(turns.slice(0, SECONDS))

  const beforeKb = readPssKb(apiProcess.pid)
  const streams = await openStreams(t, port, projects)
  const withStreamsPercent = await failOneEachSecond(turns.slice(SECONDS))
  const expected = (SECONDS / PROJECTS) * STREAMS
  await waitFor(() => countEvents(streams) >= expected, {
    label: () => `${expected} events, not ${countEvents(streams)}`,
  })
  const streamKb = (readPssKb(apiProcess.pid) - beforeKb) / STREAMS
  const count = STREAMS.toLocaleString('en')
  return [
    figure(
      `${count} event streams in ${PROJECTS} projects, one transition a second: part of a core of the API process`,
      `${withStreamsPercent.toFixed(1)} % (without streams ${alonePercent.toFixed(1)} %)`,
      '≤ 10 %',
      withStreamsPercent <= 10,
    ),
    figure('  memory of a stream', `${streamKb.toFixed(0)} kB`, '≤ 50 kB', streamKb <= 50),
  ]
}

async function createProject(picket: Picket, number: number): Promise<Project> {
  const { api_key } = JSON.parse(await picket.admin('bootstrap', '--email', `reader-${number}@example.com`))
  const api = createApi(picket.origin, api_key)
  const monitorIds = await createMonitors(api, (2 * SECONDS) / PROJECTS, { retry_count: 0 })
  const keys: string[] = []
  while (keys.length < KEYS_PER_PROJECT) {
    const { body } = await api.post('/api-keys', { name: `Reader ${keys.length}`, scope: 'read' })
    keys.push(body.data.key)
  }
  return { api, keys, monitorIds }
}

const results = (monitorIds: string[], up: boolean) => {
  const scheduledAtMs = Date.now()
  return REGIONS.flatMap(region =>
    encodeBatches(
      monitorIds.map(monitorId => ({ monitorId, scheduledAtMs, up })),
      region,
      100,
    ),
  )
}

type OpenStream = { events: number }

async function openStreams(t: Teardown, port: number, projects: Project[]): Promise<OpenStream[]> {
  const requests: ClientRequest[] = []
  t.teardown(() => {
    for (const one of requests) one.destroy()
  })
  const keys = projects
    .flatMap(project => project.keys)
    .flatMap(key => Array.from({ length: STREAMS_PER_KEY }, () => key))
  const streams: OpenStream[] = []
  for (const key of keys) {
    const sent = request({ port, path: '/api/v1/events', headers: { authorization: `Bearer ${key}` } }).end()
    requests.push(sent)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    if (response.statusCode !== 200) throw new Error(`GET /events answered ${response.statusCode}`)
    const stream: OpenStream = { events: 0 }
    response.setEncoding('utf8').on('data', (text: string) => {
      stream.events += text.split('event: board').length - 1
    })
    // it ends with the bench
    response.on('error', () => {})
    streams.push(stream)
  }
  return streams
}

const countEvents = (streams: OpenStream[]) => streams.reduce((sum, { events }) => sum + events, 0)

const readPssKb = (pid: number) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1])
