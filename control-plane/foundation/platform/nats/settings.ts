import { parseNatsServers } from '../../../../shared/nats/servers.ts'
import {
  ConfigError,
  type Env,
  readEnum,
  readInteger,
  readOptionalText,
  readText,
} from '../../../../shared/process/env.ts'
import { isLoopback, parseNatsHosts } from '../network/loopback.ts'
import type { StreamSettings } from './client.ts'
import { type NatsOperator, parseOperatorSeed } from './operator.ts'

export type NatsSettings = {
  /** one or more servers, as parseNatsServers accepts them */
  natsUrl: string
  /** the same for probes; defaults to NATS_URL */
  probeNatsUrl: string
  /** null: NATS is not in operator mode and runs on this machine (for development) */
  natsOperator: NatsOperator | null
  /** replicas and sizes of NATS' streams */
  streams: StreamSettings
}

export function readNatsSettings(env: Env): NatsSettings {
  const natsUrl = readNatsUrl(env)
  const probeNatsUrl = readNatsUrl(env, 'PROBE_NATS_URL', natsUrl)
  const natsOperator = readRequiredOperator(env, [natsUrl, probeNatsUrl])
  return { natsUrl, probeNatsUrl, natsOperator, streams: readStreamSettings(env) }
}

/** The error does not repeat the value, which may contain a password. */
export function readNatsUrl(env: Env, name = 'NATS_URL', fallback?: string): string {
  const value = readText(env, name, fallback)
  try {
    parseNatsServers(value)
    return value
  } catch (error) {
    throw new ConfigError(`${name}: ${(error as Error).message}`)
  }
}

/** Without operator mode every client of NATS has all permissions, so NATS must then be on this machine. */
function readRequiredOperator(env: Env, natsUrls: string[]): NatsOperator | null {
  const operator = readNatsOperator(env)
  const far = natsUrls.flatMap(parseNatsHosts).find(host => !isLoopback(host))
  if (operator !== null || far === undefined) return operator
  throw new ConfigError(
    `NATS is at ${far}, and NATS_OPERATOR_SEED is not set: any client that reaches it could read and forge results; create a seed with: npm run admin -- nats seed`,
  )
}

/** NATS_OPERATOR_SEED; null when it is not set. The error does not repeat its value. */
export function readNatsOperator(env: Env): NatsOperator | null {
  const seed = readOptionalText(env, 'NATS_OPERATOR_SEED')
  const operator = seed === null ? null : parseOperatorSeed(seed)
  if (seed === null || operator !== null) return operator
  throw new ConfigError('NATS_OPERATOR_SEED must be a seed of an operator; create one with: npm run admin -- nats seed')
}

function readStreamSettings(env: Env): StreamSettings {
  const replicas = Number(readEnum(env, 'NATS_REPLICAS', ['1', '3', '5'], '1'))
  const bytes = (name: string) => readInteger(env, name, 0, 1_048_576, Number.MAX_SAFE_INTEGER) || null
  return { replicas, maxBytes: { RESULTS: bytes('RESULTS_MAX_BYTES'), LATE: bytes('LATE_MAX_BYTES') } }
}
