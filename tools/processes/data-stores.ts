import { join } from 'node:path'
import { createClient } from '@clickhouse/client'
import { parseOperatorSeed } from '../../control-plane/foundation/platform/nats/operator.ts'
import { findNatsWarning } from '../../control-plane/foundation/platform/nats/server-version.ts'
import { startClickhouse } from '../engines/clickhouse/clickhouse.ts'
import { startNats } from '../engines/nats.ts'
import { startPostgres } from '../engines/postgres.ts'
import type { Engine } from '../engines/process.ts'
import type { StartScreen } from '../start/screen.ts'
import type { LocalSettings } from '../start/settings.ts'
import type { InstallationState } from './installation-state.ts'
import {
  assertDatabase,
  assertListening,
  assertNatsListening,
  getHostAndPort,
  listNatsUrls,
  readNatsVersion,
} from './reachable.ts'
import { type SupervisedProcess, supervise } from './supervise.ts'

export type DataStores = {
  databaseUrl: string
  natsUrl: string
  clickhouseUrl: string
  /** the embedded servers, in the order of starting */
  engines: SupervisedProcess<Engine>[]
}

/** Starts PostgreSQL, NATS and ClickHouse in parallel, or uses the servers that the environment names. */
export async function startDataStores(
  settings: LocalSettings,
  state: InstallationState,
  screen: StartScreen,
): Promise<DataStores> {
  const engines: SupervisedProcess<Engine>[] = []
  const folder = (name: string) => join(settings.dataDir, name)
  const logFile = (name: string) => join(settings.dataDir, 'logs', `${name}.log`)

  const embedded = (name: string, start: (port: number, password?: string) => Promise<Engine>) =>
    screen.component(
      name,
      async () => {
        const engine = await supervise(
          name,
          () => start(0),
          text => screen.print(`! ${text}`),
          ({ url }) => start(Number(new URL(url).port), new URL(url).password),
        )
        engines.push(engine)
        return engine.current().url
      },
      url => `embedded, ${new URL(url).host}`,
    )
  const given = (name: string, variable: string, url: string, assert: () => Promise<void>, servers = () => [url]) =>
    screen.component(
      name,
      () => assert().then(() => url),
      () => [variable, ...servers().map(server => getHostAndPort(variable, server))].join(', '),
    )

  const { databaseUrl, natsUrl, clickhouseUrl } = settings
  const started = await Promise.allSettled([
    databaseUrl
      ? given('PostgreSQL', 'DATABASE_URL', databaseUrl, () => assertDatabase(databaseUrl))
      : embedded('PostgreSQL', port =>
          startPostgres({
            dataDir: folder('postgres'),
            logFile: logFile('postgres'),
            port,
            password: state.postgresPassword,
          }),
        ),
    natsUrl
      ? given(
          'NATS',
          'NATS_URL',
          natsUrl,
          () => assertNatsListening(natsUrl),
          () => listNatsUrls(natsUrl),
        )
      : embedded('NATS', port =>
          startNats({
            dataDir: folder('nats'),
            logFile: logFile('nats'),
            port,
            operator: parseOperatorSeed(state.natsOperatorSeed),
          }),
        ),
    clickhouseUrl
      ? given('ClickHouse', 'CLICKHOUSE_URL', clickhouseUrl, () =>
          assertListening('CLICKHOUSE_URL', clickhouseUrl, 8123),
        )
      : embedded('ClickHouse', (port, password) =>
          startClickhouse({ dataDir: folder('clickhouse'), logFile: logFile('clickhouse'), port, password }),
        ).then(createPicketDatabase),
  ])
  const failure = started.find(result => result.status === 'rejected')
  if (failure) {
    await Promise.all(engines.map(engine => engine.stop()))
    throw failure.reason
  }
  const [database = '', nats = '', clickhouse = ''] = started.map(result =>
    result.status === 'fulfilled' ? result.value : '',
  )
  const warning = findNatsWarning(await readNatsVersion(nats))
  if (warning) screen.print(`! ${warning}`)
  return { databaseUrl: database, natsUrl: nats, clickhouseUrl: clickhouse, engines }
}

/** The embedded engine uses the database `default` itself. */
async function createPicketDatabase(url: string): Promise<string> {
  const client = createClient({ url })
  await client.command({ query: 'CREATE DATABASE IF NOT EXISTS picket' })
  await client.close()
  return new URL('/picket', url).href
}
