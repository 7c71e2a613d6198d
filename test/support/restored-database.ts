import { Client } from 'pg'
import type { Teardown } from './teardown.ts'

type DatabaseCopy = {
  /** Replaces the database by the copy; later writes are lost and all connections break. */
  restore(): Promise<void>
}

/** Copies a database, like a backup. Its connections break for a moment. */
export async function copyDatabase(t: Teardown, url: string, label: string): Promise<DatabaseCopy> {
  const name = new URL(url).pathname.slice(1)
  const [copy, lost] = [`${name}_${label}`, `${name}_${label}_lost`]
  const inServer = (work: (server: Client) => Promise<unknown>) => withServer(url, work)
  t.teardown(() =>
    inServer(async server => {
      for (const one of [copy, lost]) await server.query(`DROP DATABASE IF EXISTS ${one} WITH (FORCE)`)
    }),
  )
  await inServer(async server => {
    await shut(server, name)
    await server.query(`CREATE DATABASE ${copy} TEMPLATE ${name} STRATEGY FILE_COPY`)
    await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
  })
  return {
    restore: () =>
      inServer(async server => {
        await shut(server, name)
        await server.query(`ALTER DATABASE ${name} RENAME TO ${lost}`)
        await server.query(`ALTER DATABASE ${copy} RENAME TO ${name}`)
      }),
  }
}

/** Ends all connections to a database and refuses new ones. */
async function shut(server: Client, name: string): Promise<void> {
  await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
  for (;;) {
    const { rowCount } = await server.query(
      'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1',
      [name],
    )
    if (rowCount === 0) return
  }
}

async function withServer(url: string, work: (server: Client) => Promise<unknown>): Promise<void> {
  const server = new Client({ connectionString: new URL('/postgres', url).href })
  await server.connect()
  try {
    await work(server)
  } finally {
    await server.end()
  }
}
