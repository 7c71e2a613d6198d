import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connectNats, type Nats } from '../../control-plane/platform/nats.ts'
import { operatorOf } from '../../control-plane/platform/nats-operator.ts'
import { createPostgres, type Db } from '../../control-plane/platform/postgres.ts'
import { freePort } from '../../deploy/local/engines/free-port.ts'
import { type Api, createApi } from '../support/api.ts'
import { householdEnv, PROBE_ENV, runAdmin } from '../support/picket.ts'
import type { LogLine } from '../support/processes.ts'
import { startTcpRelay, type TcpRelay } from '../support/tcp-relay.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { type Disk, mountDisk } from './disk.ts'
import { type ChaosEngines, startEngines } from './engines.ts'
import { type KeptProgram, keepProgram } from './kept-program.ts'
import { PROBES_TO_NATS, type Scale } from './plan.ts'
import type { Reading } from './replay.ts'
import { startTargets, type Targets } from './targets.ts'

/** A whole Picket, every part of which can be broken by its name. */
export type System = {
  dir: string
  api: Api
  engines: ChaosEngines
  programs: Map<string, KeptProgram>
  links: Map<string, TcpRelay>
  disks: Map<string, Disk>
  targets: Targets
  /** past every link */
  db: Db
  nats: Nats
  databaseUrl: string
  clickhouseUrl: string
  origins: string[]
  /** who began to read which partition from where, in the order in which each process did */
  readings: Reading[]
}

const PROBE_DISK_MB = 8
const CLOCK_JUMP = fileURLToPath(new URL('clock-jump.mjs', import.meta.url))
const READY_TIMEOUT_MS = 60_000

export async function startSystem(t: Teardown, dir: string, scale: Scale): Promise<System> {
  mkdirSync(join(dir, 'logs'), { recursive: true })
  const [engines, targets] = await Promise.all([startEngines(t, dir, scale), startTargets(t)])
  const { PostgreSQL, NATS, ClickHouse } = engines.byName
  const [databaseUrl, clickhouseUrl] = [PostgreSQL!.url, new URL('/picket', ClickHouse!.url).href]
  const operator = operatorOf(engines.natsOperatorSeed)
  const common = { NATS_OPERATOR_SEED: engines.natsOperatorSeed, ...householdEnv(), PICKET_CHAOS: dir }
  const direct = { ...common, DATABASE_URL: databaseUrl, NATS_URL: NATS!.url, CLICKHOUSE_URL: clickhouseUrl }
  const account = JSON.parse(await runAdmin(direct, ['bootstrap', '--email', 'owner@example.com']))
  const programs = new Map<string, KeptProgram>()
  const links = new Map<string, TcpRelay>()
  const disks = new Map<string, Disk>()
  const readings: Reading[] = []

  const linkTo = async (name: string, ...urls: [string, ...string[]]) => {
    const relay = await startTcpRelay(t, ...urls)
    links.set(name, relay)
    return relay.url
  }
  const logOf = (name: string) => {
    const file = createWriteStream(join(dir, 'logs', `${name}.log`))
    t.teardown(() => new Promise(resolve => file.end(resolve)))
    return (line: LogLine) => {
      file.write(`${line.text ?? JSON.stringify(line)}\n`)
      if (line.event === 'reading') readings.push({ process: name, order: readings.length, ...line } as never)
    }
  }

  const probesToNats = await linkTo(PROBES_TO_NATS, NATS!.url)
  const ports = new Map<string, { http: number; grpc: number }>()
  for (const [name, roles] of Object.entries(scale.controlPlanes)) {
    const port = { http: await freePort(), grpc: await freePort() }
    ports.set(name, port)
    const env = {
      ...common,
      ROLES: roles,
      PORT: String(port.http),
      GRPC_PORT: String(port.grpc),
      DATABASE_URL: await linkTo(`${name} to PostgreSQL`, databaseUrl),
      NATS_URL: await linkTo(`${name} to NATS`, NATS!.url),
      CLICKHOUSE_URL: await linkTo(`${name} to ClickHouse`, clickhouseUrl),
      PROBE_NATS_URL: probesToNats,
    }
    const options = { program: 'dist/control-plane.js', env, onLine: logOf(name) }
    programs.set(name, keepProgram(t, options, 'ready'))
  }
  const having = (role: string) => [...ports].filter(([name]) => scale.controlPlanes[name]!.split(',').includes(role))
  const origins = [...ports.values()].map(({ http }) => `http://127.0.0.1:${http}`)
  await untilReady(origins)

  const fleets = having('fleet').map(([, { grpc }]) => `http://127.0.0.1:${grpc}`) as [string]
  for (const region of scale.regions) {
    const token = await runAdmin(direct, ['probe-token', 'create', '--region', region, '--reusable'])
    for (const name of [`${region}-1`, `${region}-2`]) {
      const dataDir = join(dir, 'probes', name)
      const disk = scale.hasDisks ? mountDisk(t, dataDir, PROBE_DISK_MB) : null
      if (disk) disks.set(name, disk)
      const fleet = new URL(await linkTo(`${name} to fleet`, ...fleets))
      const env = {
        ...PROBE_ENV,
        FLEET_URL: fleet.host,
        PROBE_TOKEN: token,
        PROBE_NAME: name,
        DATA_DIR: dataDir,
        SELF_TEST_TARGETS: `127.0.0.1:${targets.port}`,
        NODE_OPTIONS: `--import=${CLOCK_JUMP}`,
        CLOCK_JUMP_MS: '3600000',
        PICKET_CHAOS: dir,
      }
      programs.set(name, keepProgram(t, { program: 'dist/probe-agent.js', env, onLine: logOf(name) }, 'connected'))
    }
  }
  if (engines.natsDisk) disks.set('NATS', engines.natsDisk)

  const apis = having('api').map(([, { http }]) => `http://127.0.0.1:${http}`) as [string]
  const balancer = await startTcpRelay(t, ...apis)
  const db = createPostgres(databaseUrl, 4)
  t.teardown(() => db.destroy())
  const nats = await connectNats(NATS!.url, 'ledger', operator)
  t.teardown(() => nats.close())
  const api = createApi(new URL(balancer.url).origin, account.api_key)
  return { dir, api, engines, programs, links, disks, targets, db, nats, databaseUrl, clickhouseUrl, origins, readings }
}

/** Every control plane says that all it needs answers. */
export async function untilReady(origins: string[], timeoutMs = READY_TIMEOUT_MS): Promise<void> {
  const isReady = async (origin: string) => (await fetch(`${origin}/readyz`)).status === 200
  await Promise.all(
    origins.map(origin => waitFor(() => isReady(origin), { timeoutMs, everyMs: 200, label: `${origin} ready` })),
  )
}
