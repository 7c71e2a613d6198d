import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { connectNats, type Nats } from '../../control-plane/foundation/platform/nats/client.ts'
import { parseOperatorSeed } from '../../control-plane/foundation/platform/nats/operator.ts'
import { createPostgres, type Db } from '../../control-plane/foundation/platform/postgres/client.ts'
import { reserveFreePort } from '../../tools/engines/free-port.ts'
import { type Api, createApi } from '../support/api.ts'
import { createDatabaseClock } from '../support/database-clock.ts'
import { PROBE_ENV, runAdmin, testEnv } from '../support/picket.ts'
import type { LogLine } from '../support/processes.ts'
import { startTcpRelay, type TcpRelay } from '../support/tcp-relay.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { createWrongClock } from '../support/wrong-clock.ts'
import { type Disk, mountDisk } from './disk.ts'
import { type ChaosEngines, SMALL_STREAMS, startEngines } from './engines.ts'
import { createOtherTenant, type OtherTenant } from './other-tenant.ts'
import { type ChaosScale, listProbeNames, PROBES_TO_NATS } from './plan.ts'
import { TIMEOUT_MS } from './scales.ts'
import type { LostPeriod } from './standby.ts'
import { type SupervisedProgram, superviseProgram } from './supervised-program.ts'
import { type ChaosTargets, startChaosTargets } from './targets.ts'

/** A complete Picket. Each part that can be broken has a name. */
export type System = {
  dir: string
  api: Api
  engines: ChaosEngines
  programs: Map<string, SupervisedProgram>
  links: Map<string, TcpRelay>
  disks: Map<string, Disk>
  clocks: Map<string, Clock>
  targets: ChaosTargets
  otherTenant: OtherTenant
  /** a connection that uses no relay */
  db: Db
  nats: Nats
  clickhouseUrl: string
  /** the ports of each control plane */
  processes: ProcessPorts[]
  /** `count`: how many times a process began to read a partition */
  readings: { count: number }
  /** the periods whose commits PostgreSQL has lost */
  lostPeriods: LostPeriod[]
}

/** `setAhead`: sets the clock of a process `ms` ahead of the machine's clock. */
type Clock = { setAhead(ms: number): void | Promise<void> }

const PROBE_DISK_MB = 8

export async function startSystem(t: Teardown, dir: string, scale: ChaosScale): Promise<System> {
  mkdirSync(join(dir, 'logs'), { recursive: true })
  const [engines, targets] = await Promise.all([startEngines(t, dir, scale), startChaosTargets(t)])
  const { PostgreSQL, NATS, ClickHouse } = engines.byName
  const urls = {
    DATABASE_URL: PostgreSQL!.url,
    NATS_URL: NATS!.url,
    CLICKHOUSE_URL: new URL('/picket', ClickHouse!.url).href,
  }
  const common = { NATS_OPERATOR_SEED: engines.natsOperatorSeed, ...testEnv(), PICKET_CHAOS: dir }
  const admin = (...args: string[]) => runAdmin({ ...common, ...urls }, args)
  const account = JSON.parse(await admin('bootstrap', '--email', 'owner@example.com'))

  const db = createPostgres(urls.DATABASE_URL, 4)
  t.teardown(() => db.destroy())
  const stage = createSystemParts(t, dir, scale.previous)
  stage.clocks.set('PostgreSQL', await createDatabaseClock(db))
  const ports = await startControlPlanes(stage, scale, { ...common, ...(engines.natsDisk && SMALL_STREAMS) }, urls)
  const processes = [...ports.values()]
  await waitUntilReady(processes)
  const having = (role: string) => [...ports].filter(([name]) => scale.controlPlanes[name]!.split(',').includes(role))
  const fleets = having('fleet').map(([, { grpc }]) => `http://127.0.0.1:${grpc}`)
  for (const region of scale.regions) {
    const token = await admin('probe-token', 'create', '--region', region, '--reusable')
    await startProbes(stage, scale, { region, token, fleets, targetPort: targets.port })
  }
  if (engines.natsDisk) stage.disks.set('NATS', engines.natsDisk)

  const balancer = await startTcpRelay(
    t,
    ...assertNotEmpty(having('api').map(([, { http }]) => `http://127.0.0.1:${http}`)),
  )
  const nats = await connectNats(urls.NATS_URL, 'ledger', parseOperatorSeed(engines.natsOperatorSeed))
  t.teardown(() => nats.close())
  const { origin } = new URL(balancer.url)
  const api = createApi(origin, account.api_key)
  const secretKey = Buffer.from(common.SECRET_KEY, 'base64')
  const otherTenant = await createOtherTenant(db, scale, { origin, secretKey, url: targets.hangingUrl })
  const clickhouseUrl = urls.CLICKHOUSE_URL
  return { ...stage, dir, api, engines, targets, otherTenant, db, nats, clickhouseUrl, processes, lostPeriods: [] }
}

/** The started programs, each with a log file, and the links between them. */
type SystemParts = Pick<System, 'programs' | 'links' | 'disks' | 'clocks' | 'readings'> & {
  t: Teardown
  dir: string
  /** returns the first URL, redirected through a link of this name */
  linkTo(name: string, ...urls: string[]): Promise<string>
  run(name: string, program: string, readyEvent: string, env: Record<string, string>): void
}

function createSystemParts(t: Teardown, dir: string, previous: string | null): SystemParts {
  const programs: SystemParts['programs'] = new Map()
  const links: SystemParts['links'] = new Map()
  const clocks: SystemParts['clocks'] = new Map()
  const readings = { count: 0 }
  return {
    t,
    dir,
    programs,
    links,
    disks: new Map(),
    clocks,
    readings,
    async linkTo(name, ...urls) {
      const relay = await startTcpRelay(t, ...assertNotEmpty(urls))
      links.set(name, relay)
      return relay.url
    },
    run(name, program, readyEvent, env) {
      const file = createWriteStream(join(dir, 'logs', `${name}.log`))
      t.teardown(() => new Promise(resolve => file.end(resolve)))
      const onLine = (line: LogLine) => {
        file.write(`${line.text ?? JSON.stringify(line)}\n`)
        if (line.event === 'reading') readings.count++
      }
      const clock = createWrongClock(t)
      const source =
        previous !== null && name.endsWith('-2')
          ? { program: process.execPath, args: [join(previous, program)] }
          : { program }
      const kept = superviseProgram(t, { ...source, env: { ...env, ...clock.env }, onLine }, readyEvent)
      programs.set(name, kept)
      clocks.set(name, { setAhead: ms => clock.setAhead(ms, kept) })
    },
  }
}

type ProcessPorts = { http: number; operator: number; grpc: number }
type Ports = Map<string, ProcessPorts>

/** Each control plane has its own ports, and its own link to each engine. */
async function startControlPlanes(
  { linkTo, run }: SystemParts,
  { controlPlanes }: ChaosScale,
  common: Record<string, string>,
  urls: { DATABASE_URL: string; NATS_URL: string; CLICKHOUSE_URL: string },
): Promise<Ports> {
  const ports: Ports = new Map()
  const probesToNats = await linkTo(PROBES_TO_NATS, urls.NATS_URL)
  for (const [name, roles] of Object.entries(controlPlanes)) {
    const port = { http: await reserveFreePort(), operator: await reserveFreePort(), grpc: await reserveFreePort() }
    ports.set(name, port)
    run(name, 'dist/control-plane.js', 'ready', {
      ...common,
      ROLES: roles,
      PORT: String(port.http),
      OPERATOR_PORT: String(port.operator),
      GRPC_PORT: String(port.grpc),
      DATABASE_URL: await linkTo(`${name} to PostgreSQL`, urls.DATABASE_URL),
      NATS_URL: await linkTo(`${name} to NATS`, urls.NATS_URL),
      CLICKHOUSE_URL: await linkTo(`${name} to ClickHouse`, urls.CLICKHOUSE_URL),
      PROBE_NATS_URL: probesToNats,
    })
  }
  return ports
}

/** Starts the probes of one region. Each has its own load balancer for all processes of the role fleet. */
async function startProbes(
  { t, dir, disks, linkTo, run }: SystemParts,
  scale: ChaosScale,
  { region, token, fleets, targetPort }: { region: string; token: string; fleets: string[]; targetPort: number },
): Promise<void> {
  for (const name of listProbeNames({ regions: [region] })) {
    const dataDir = join(dir, 'probes', name)
    const disk = scale.hasDisks ? mountDisk(t, dataDir, PROBE_DISK_MB) : null
    if (disk) disks.set(name, disk)
    run(name, 'dist/probe-agent.js', 'connected', {
      ...PROBE_ENV,
      FLEET_URL: new URL(await linkTo(`${name} to fleet`, ...fleets)).host,
      PROBE_TOKEN: token,
      PROBE_NAME: name,
      DATA_DIR: dataDir,
      // a probe that is disconnected from the fleet continues to check
      SELF_TEST_TARGETS: `127.0.0.1:${targetPort}`,
      PICKET_CHAOS: dir,
    })
  }
}

function assertNotEmpty<T>(items: T[]): [T, ...T[]] {
  const [first, ...others] = items
  if (first === undefined) throw new Error('a scale must have at least one process of the roles api and fleet')
  return [first, ...others]
}

/** Waits until every control plane is ready. A version without an operator port answers `/readyz` on the HTTP port. */
export async function waitUntilReady(processes: ProcessPorts[]): Promise<void> {
  const isReadyAt = (port: number) =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      answer => answer.ok,
      () => false,
    )
  const isReady = async ({ operator, http }: ProcessPorts) => (await isReadyAt(operator)) || isReadyAt(http)
  await Promise.all(
    processes.map(ports =>
      waitFor(() => isReady(ports), { timeoutMs: TIMEOUT_MS, everyMs: 200, label: `port ${ports.http} ready` }),
    ),
  )
}
