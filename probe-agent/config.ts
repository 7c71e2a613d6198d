import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import {
  ConfigError,
  type Env,
  readEnum,
  readFileVariable,
  readInteger,
  readList,
  readOptionalText,
  readText,
} from '../shared/process/env.ts'
import type { FleetTls } from './fleet/fleet-client.ts'

export type HostAndPort = { host: string; port: number }

export type ProbeConfig = {
  /** host:port of the control plane's gRPC server */
  fleetUrl: string
  /** null: plain text */
  fleetTls: FleetTls | null
  /** null: the probe is already enrolled, and its secret is in DATA_DIR */
  token: string | null
  name: string
  version: string
  dataDir: string
  egressAllow: string[]
  /** address:port of parts of this installation that checks must not reach */
  egressDeny: string[]
  /** addresses that a probe with a working network can reach; default: the control plane */
  selfTestTargets: HostAndPort[]
  maxConcurrentChecks: number
  /** a browser's executable, or `off`; null: the installed one, if any */
  chromiumPath: string | null
  /** take screenshots even when Chromium's sandbox does not work */
  screenshotNoSandbox: boolean
  /** limit for the browser and all its processes */
  screenshotMemoryMb: number
  /** from the start of the browser to the picture */
  screenshotTimeoutMs: number
  /** how often a page is compared with its baseline */
  compareIntervalMs: number
  spoolMaxBytes: number
  replayPerSecond: number
  lateAfterMs: number
  /** where metrics and readiness are served; null: not served */
  metricsAddress: HostAndPort | null
  logLevel: string
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** Reads the environment. Throws a ConfigError whose message names the variable and the accepted values. */
export function readConfig(env: Env): ProbeConfig {
  return {
    fleetUrl: address(env, 'FLEET_URL'),
    fleetTls: fleetTls(env),
    token: probeToken(env),
    name: readText(env, 'PROBE_NAME', hostname()),
    version: readVersion(),
    dataDir: readText(env, 'DATA_DIR', '.data/probe'),
    egressAllow: readList(env, 'EGRESS_ALLOW'),
    egressDeny: readList(env, 'EGRESS_DENY'),
    selfTestTargets: selfTestTargets(env),
    maxConcurrentChecks: readInteger(env, 'MAX_CONCURRENT_CHECKS', 1000, 1, 100_000),
    chromiumPath: readOptionalText(env, 'CHROMIUM_PATH'),
    screenshotNoSandbox: readEnum(env, 'SCREENSHOT_NO_SANDBOX', ['0', '1'], '0') === '1',
    screenshotMemoryMb: readInteger(env, 'SCREENSHOT_MEMORY_MB', 768, 64, 100_000),
    screenshotTimeoutMs: readInteger(env, 'SCREENSHOT_TIMEOUT_SECONDS', 15, 5, 120) * 1000,
    compareIntervalMs: readInteger(env, 'SCREENSHOT_COMPARE_SECONDS', 900, 1, 86_400) * 1000,
    spoolMaxBytes: readInteger(env, 'SPOOL_MAX_MB', 1024, 1, 1_000_000) * 1024 * 1024,
    replayPerSecond: readInteger(env, 'SPOOL_REPLAY_PER_SECOND', 2000, 1, 1_000_000),
    lateAfterMs: readInteger(env, 'LATE_AFTER_MS', 30_000, 100, 3_600_000),
    metricsAddress: metricsAddress(env),
    logLevel: readEnum(env, 'LOG_LEVEL', LOG_LEVELS, 'info'),
  }
}

/** Defined only in the single executable (tools/probe-executable), which has no package.json. */
declare const PROBE_VERSION: string | undefined

export function readVersion(): string {
  if (typeof PROBE_VERSION === 'string') return PROBE_VERSION
  const packageJson = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(packageJson) as { version: string }).version
}

function address(env: Env, name: string): string {
  const value = readText(env, name)
  hostAndPort(name, value)
  return value
}

function hostAndPort(name: string, value: string): HostAndPort {
  const [, host, port] = /^(\[[0-9a-fA-F:]+\]|[^\s:/]+):(\d{1,5})$/.exec(value) ?? []
  if (!host || !port || Number(port) > 65_535) {
    throw new ConfigError(`${name} is "${value}"; it must be host:port, for example picket.example.com:9090`)
  }
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** Defaults to the control plane, which every connected probe can reach. */
function selfTestTargets(env: Env): HostAndPort[] {
  const given = readList(env, 'SELF_TEST_TARGETS')
  if (given.length === 0) return [hostAndPort('FLEET_URL', readText(env, 'FLEET_URL'))]
  return given.map(value => hostAndPort('SELF_TEST_TARGETS', value))
}

function metricsAddress(env: Env): HostAndPort | null {
  const value = readOptionalText(env, 'METRICS_ADDRESS')
  return value === null ? null : hostAndPort('METRICS_ADDRESS', value)
}

/** FLEET_TLS defaults to `on` when any certificate or key is set. */
function fleetTls(env: Env): FleetTls | null {
  const [ca = null, cert = null, key = null] = ['FLEET_TLS_CA', 'FLEET_TLS_CERT', 'FLEET_TLS_KEY'].map(name =>
    readFileVariable(env, name),
  )
  const isOn = readEnum(env, 'FLEET_TLS', ['off', 'on'], ca || cert || key ? 'on' : 'off') === 'on'
  if ((cert === null) !== (key === null)) throw new ConfigError('FLEET_TLS_CERT and FLEET_TLS_KEY must be set together')
  return isOn ? { ca, cert, key } : null
}

function probeToken(env: Env): string | null {
  const value = readOptionalText(env, 'PROBE_TOKEN')
  if (value !== null && !/^prb_\S+$/.test(value))
    throw new ConfigError('PROBE_TOKEN must be an enrolment token, which begins with prb_')
  return value
}
