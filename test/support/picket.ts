import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createAccount } from '../../control-plane/accounts/registration/actions.ts'
import { readDefaultPlan, readPublicUrl } from '../../control-plane/config.ts'
import { generateOperatorSeed, parseOperatorSeed } from '../../control-plane/foundation/platform/nats/operator.ts'
import { type Db, withPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createProbeToken } from '../../control-plane/monitoring/fleet/probes/enrolment-actions.ts'
import { reserveFreePort } from '../../tools/engines/free-port.ts'
import { type Api, createApi } from './api.ts'
import { createClickhouseDatabase } from './clickhouse.ts'
import { createDatabase } from './database.ts'
import { startNats, type TestNats } from './nats.ts'
import { type Program, startProgram } from './processes.ts'
import type { Teardown } from './teardown.ts'

const LOOPBACK = '127.0.0.0/8,::1/128'
const ADMIN = fileURLToPath(new URL('../../dist/admin.js', import.meta.url))

type PicketOptions = {
  /** default: one probe in us-east */
  regions?: string[]
  probesPerRegion?: number
  /** overrides for the control plane (DEFAULT_PLAN is business, so that no limit is reached by chance) */
  env?: Record<string, string>
  probeEnv?: Record<string, string>
}

type Probe = Program & { region: string; token: string; dataDir: string }

export type Picket = {
  origin: string
  /** the origin of the operator's endpoints */
  operator: string
  api: Api
  apiKey: string
  organizationId: string
  controlPlane: Program
  probes: Probe[]
  nats: TestNats
  databaseUrl: string
  clickhouseUrl: string
  /** runs the operator's command line; resolves to its output */
  admin(...args: string[]): Promise<string>
  /** starts another probe; resolves when it is connected */
  addProbe(region: string, env?: Record<string, string>): Promise<Probe>
  /** starts another control plane on its own ports */
  addControlPlane(env?: Record<string, string>): Promise<Program>
  /** after `kill9` or `stop`: starts it on the same ports; resolves when it is ready */
  restartControlPlane(): Promise<void>
}

/** One for a test file, because a process with another key than its database does not start. */
const SECRET_KEY = randomBytes(32).toString('base64')

/** The settings of a control plane in addition to its engines: a key, this machine open to checks, no limits. */
export const testEnv = () => ({
  SECRET_KEY,
  EGRESS_ALLOW: LOOPBACK,
  VISITOR_EGRESS_ALLOW: LOOPBACK,
  LOG_LEVEL: 'info',
  OPERATOR_PORT: '0',
  DEFAULT_PLAN: 'business',
  RATE_LIMIT_PER_MINUTE: '1000000',
  ALERT_CHANNELS_LIMIT: '1000000',
  ALERT_RULES_LIMIT: '1000000',
  CHANNELS_PER_HOST: '1000000',
  WEBHOOK_BURST: '1000000',
})

/** The settings of a probe in addition to the address of the fleet and its identity. */
export const PROBE_ENV = { EGRESS_ALLOW: LOOPBACK, LOG_LEVEL: 'info', CHROMIUM_PATH: 'off' }

/** Runs the operator's command line; resolves to its output. */
export async function runAdmin(env: Record<string, string>, args: string[]): Promise<string> {
  const options = { env: { PATH: process.env.PATH, ...env } }
  return (await promisify(execFile)(process.execPath, [ADMIN, ...args], options)).stdout.trim()
}

/**
 * Starts a complete Picket for a flow test: NATS, PostgreSQL and ClickHouse databases, and the control plane and probes
 * from `dist` (`npm run build`; `npm test` runs it) as processes. Resolves when every probe is connected. Everything ends with
 * the test.
 */
export async function startPicket(t: Teardown, options: PicketOptions = {}): Promise<Picket> {
  const natsOperatorSeed = generateOperatorSeed()
  const [nats, database, clickhouse] = await Promise.all([
    startNats(t, parseOperatorSeed(natsOperatorSeed)),
    createDatabase(t),
    createClickhouseDatabase(t),
  ])
  const common = {
    DATABASE_URL: database.url,
    NATS_URL: nats.url,
    NATS_OPERATOR_SEED: natsOperatorSeed,
    CLICKHOUSE_URL: clickhouse.url,
    ...testEnv(),
    ...options.env,
  }
  const admin = (...args: string[]) => runAdmin(common, args)
  const runControlPlane = async (env: Record<string, string>) => {
    const program = startProgram(t, { program: 'dist/control-plane.js', env: { ...common, ...env } })
    return { program, ready: await program.untilEvent('ready') }
  }

  // as the operator's command line does, without the time to start it
  const onDatabase = <T>(work: (db: Db) => Promise<T>) => withPostgres(common.DATABASE_URL, work)
  const registration = { name: null, plan: readDefaultPlan(common), publicUrl: readPublicUrl(common) }
  const account = await onDatabase(db =>
    db.transaction(tx => createAccount(tx, { email: 'owner@example.com', provesEmail: false, ...registration })),
  )
  // kept across restarts
  const ports = {
    PORT: String(await reserveFreePort()),
    OPERATOR_PORT: String(await reserveFreePort()),
    GRPC_PORT: String(await reserveFreePort()),
  }
  const { program: controlPlane, ready } = await runControlPlane(ports)
  const origin = `http://127.0.0.1:${ready.http_port}`

  const tokens = new Map<string, Promise<string>>()
  const getToken = (region: string) => {
    const token = tokens.get(region) ?? onDatabase(db => createProbeToken(db, region, { isReusable: true }))
    tokens.set(region, token)
    return token
  }
  const probes: Probe[] = []
  const addProbe = async (region: string, env: Record<string, string> = {}) => {
    const token = await getToken(region)
    const dataDir = mkdtempSync(join(tmpdir(), 'picket-probe-'))
    t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
    const program = startProgram(t, {
      program: 'dist/probe-agent.js',
      env: {
        FLEET_URL: `127.0.0.1:${ready.grpc_port}`,
        PROBE_TOKEN: token,
        PROBE_NAME: `${region}-${probes.length + 1}`,
        DATA_DIR: dataDir,
        ...PROBE_ENV,
        EGRESS_ALLOW: common.EGRESS_ALLOW,
        LOG_LEVEL: common.LOG_LEVEL,
        ...options.probeEnv,
        ...env,
      },
    })
    const probe = Object.assign(program, { region, token, dataDir })
    probes.push(probe)
    await program.untilEvent('connected')
    return probe
  }
  const { regions = ['us-east'], probesPerRegion = 1 } = options
  await Promise.all(regions.flatMap(region => Array.from({ length: probesPerRegion }, () => addProbe(region))))

  return {
    origin,
    operator: `http://127.0.0.1:${ready.operator_port}`,
    api: createApi(origin, account.api_key),
    apiKey: account.api_key,
    organizationId: account.organization_id,
    controlPlane,
    probes,
    nats,
    databaseUrl: database.url,
    clickhouseUrl: clickhouse.url,
    admin,
    addProbe,
    addControlPlane: async (env = {}) => (await runControlPlane({ PORT: '0', GRPC_PORT: '0', ...env })).program,
    async restartControlPlane() {
      controlPlane.start(ports)
      await controlPlane.untilEvent('ready')
    },
  }
}
