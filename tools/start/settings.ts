import { join, resolve } from 'node:path'
import { isLoopback } from '../../control-plane/foundation/platform/network/loopback.ts'

/** The settings of the local runner. All other variables are passed to the programs. */
export type LocalSettings = {
  dataDir: string
  host: string
  port: number
  /** address of the operator's endpoints; port 0: 8081, or any free port */
  operatorHost: string
  operatorPort: number
  /** port for probes; 0: 50051, or any free port */
  grpcPort: number
  publicUrl: string
  /** ranges that checks and webhooks may reach although they are not public */
  egressAllow: string
  /** external servers; null: embedded */
  databaseUrl: string | null
  natsUrl: string | null
  clickhouseUrl: string | null
  smtpUrl: string | null
  /** port of the page that shows mail without SMTP_URL; 0: 8025, or any free port */
  mailPort: number
}

/**
 * Ranges that checks and webhooks of a local installation may reach: loopback and private ranges, as long as only this
 * machine can reach the API.
 */
const LOCAL_EGRESS_ALLOW = '127.0.0.0/8,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,::1/128,fc00::/7'

/** An error that is printed as one sentence, without a stack. */
export class StartError extends Error {}

export const LOCAL_REGIONS = ['us-east', 'eu-west', 'ap-southeast']

export const buildProbeName = (region: string) => `local-${region}`

/** The data directory of a region's probe. */
export const buildProbeDir = ({ dataDir }: LocalSettings, region: string) => join(dataDir, 'probes', region)

export function readLocalSettings(env: NodeJS.ProcessEnv): LocalSettings {
  const host = env.HOST || '127.0.0.1'
  const port = readPort(env, 'PORT', 8080)
  return {
    dataDir: resolve(env.DATA_DIR || '.data'),
    host,
    port,
    operatorHost: env.OPERATOR_HOST || '127.0.0.1',
    operatorPort: readPort(env, 'OPERATOR_PORT', 0),
    grpcPort: readPort(env, 'GRPC_PORT', 0),
    publicUrl: (env.PUBLIC_URL || buildDefaultUrl(host, port)).replace(/\/$/, ''),
    egressAllow: env.EGRESS_ALLOW ?? (isLoopback(host) ? LOCAL_EGRESS_ALLOW : ''),
    databaseUrl: env.DATABASE_URL || null,
    natsUrl: env.NATS_URL || null,
    clickhouseUrl: env.CLICKHOUSE_URL || null,
    smtpUrl: env.SMTP_URL || null,
    mailPort: readPort(env, 'MAIL_PORT', 0),
  }
}

/** `localhost` where the API listens on it, else the address of HOST. */
function buildDefaultUrl(host: string, port: number): string {
  const isLocalhost = ['127.0.0.1', 'localhost'].includes(replaceUnspecified(host))
  return `http://${isLocalhost ? `localhost:${port}` : formatReachableAddress(host, port)}`
}

/** An address at which programs of this machine reach what listens on `host`. */
export function formatReachableAddress(host: string, port: number): string {
  const reachable = replaceUnspecified(host)
  return `${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

const replaceUnspecified = (host: string) => (host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host)

function readPort(env: NodeJS.ProcessEnv, name: string, fallback: number): number {
  const port = Number(env[name] || fallback)
  if (Number.isInteger(port) && port >= Math.min(1, fallback) && port <= 65_535) return port
  throw new StartError(`${name} is "${env[name]}"; it must be a number from 1 to 65535.`)
}
