import { ConfigError } from '../../../shared/process/env.ts'
import type { Log } from '../../../shared/process/log.ts'
import type { Config } from '../../config.ts'
import { MIGRATION_MESSAGES, migratePostgres } from '../../foundation/migrations/postgres/index.ts'
import { connectNats, ensureStreams, type Nats } from '../../foundation/platform/nats/client.ts'
import { parseNatsHosts } from '../../foundation/platform/network/loopback.ts'

/** Brings the schema of PostgreSQL up to date, and logs each migration. `stopping` ends the wait for a lock. */
export const migrateDatabase = ({ databaseUrl }: Config, log: Log, stopping?: AbortSignal): Promise<void> =>
  connectOrFail('PostgreSQL', 'DATABASE_URL', databaseUrl, () =>
    migratePostgres(
      databaseUrl,
      progress => {
        const level = progress.event === 'migration_locked' ? 'warn' : 'info'
        log[level](progress, MIGRATION_MESSAGES[progress.event])
      },
      stopping,
    ),
  )

export function connectToNats({ natsUrl, natsOperator }: Config): Promise<Nats> {
  return connectOrFail('NATS', 'NATS_URL', natsUrl, () => connectNats(natsUrl, 'control-plane', natsOperator))
}

/** Creates the streams of NATS, and logs which of them do not get the configured replicas. */
export const prepareStreams = ({ natsUrl, streams }: Config, { manager }: Nats, log: Log): Promise<void> =>
  connectOrFail('JetStream', 'NATS_URL', natsUrl, () =>
    ensureStreams(manager, streams, (stream, error) =>
      log.error(
        { event: 'replicas_refused', stream, replicas: streams.replicas, err: error },
        'NATS did not increase the replicas of a stream to NATS_REPLICAS; the stream keeps those it has',
      ),
    ),
  )

async function connectOrFail<T>(engine: string, variable: string, url: string, work: () => Promise<T>): Promise<T> {
  return work().catch(error => {
    throw buildUnreachableError(engine, variable, url, error)
  })
}

/** One sentence, without the secrets of the URL. */
function buildUnreachableError(engine: string, variable: string, url: string, error: unknown): ConfigError {
  const { code, message } = error as { code?: string; message: string }
  return new ConfigError(
    `${engine} at ${formatAddress(variable, url)} (${variable}) cannot be used: ${message || code}`,
  )
}

function formatAddress(variable: string, url: string): string {
  if (URL.canParse(url)) return new URL(url).host
  return variable === 'NATS_URL' ? parseNatsHosts(url).join(', ') : 'the configured address'
}
