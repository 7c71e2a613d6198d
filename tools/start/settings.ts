import { join, resolve } from 'node:path'
import { isLoopback } from '../../control-plane/foundation/platform/network/loopback.ts'
import { LOCAL_EGRESS_ALLOW } from './egress.mjs'

/** What the local runner takes from the environment (decisions 11.4). Everything else is passed on to the programs. */
export type LocalSettings = {
  dataDir: string
  host: string
  port: number
  /** where the operator's endpoints are served; port 0: 8081, or any free one */
  operatorHost: string
  operatorPort: number
  /** where probes connect; 0: 50051, or any free one */
  grpcPort: number
  publicUrl: string
  /** ranges that are not public and that checks and webhooks may reach */
  egressAllow: string
  /** servers of the operator's own; null: embedded */
  databaseUrl: string | null
  natsUrl: string | null
  clickhouseUrl: string | null
  smtpUrl: string | null
  /** of the page that shows mail while there is no SMTP_URL; 0: 8025, or any free one */
  mailPort: number
}

/** Ends a start with one sentence for the person at the terminal. */
export class StartError extends Error {}

export const LOCAL_REGIONS = ['us-east', 'eu-west', 'ap-southeast']

/** Where the probe of a region keeps its secret and its spool. */
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
    publicUrl: (env.PUBLIC_URL || `http://localhost:${port}`).replace(/\/$/, ''),
    egressAllow: env.EGRESS_ALLOW ?? (isLoopback(host) ? LOCAL_EGRESS_ALLOW : ''),
    databaseUrl: env.DATABASE_URL || null,
    natsUrl: env.NATS_URL || null,
    clickhouseUrl: env.CLICKHOUSE_URL || null,
    smtpUrl: env.SMTP_URL || null,
    mailPort: readPort(env, 'MAIL_PORT', 0),
  }
}

function readPort(env: NodeJS.ProcessEnv, name: string, fallback: number): number {
  const port = Number(env[name] || fallback)
  if (Number.isInteger(port) && port >= Math.min(1, fallback) && port <= 65_535) return port
  throw new StartError(`${name} is "${env[name]}"; it has to be a number from 1 to 65535.`)
}
