import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '@nats-io/transport-node'
import { reserveFreePort } from '../../tools/engines/free-port.ts'
import { spawnBound } from '../../tools/engines/process.ts'
import type { Teardown } from './teardown.ts'
import { waitFor } from './wait.ts'

/** Three NATS servers with JetStream that form a cluster, without authentication. Resolves to the list of their addresses. */
export async function startNatsCluster(t: Teardown): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'picket-nats-cluster-'))
  const nodes = await Promise.all(
    ['nats-1', 'nats-2', 'nats-3'].map(async name => ({
      name,
      port: await reserveFreePort(),
      route: `127.0.0.1:${await reserveFreePort()}`,
    })),
  )
  const routes = nodes.map(({ route }) => `nats://${route}`).join(', ')
  const servers = nodes.map(({ name, port, route }) => {
    const file = join(dir, `${name}.conf`)
    writeFileSync(
      file,
      `server_name: ${name}
host: 127.0.0.1
port: ${port}
jetstream { store_dir: ${JSON.stringify(join(dir, name))}, max_file_store: 32GB }
cluster { name: picket, listen: "${route}", routes: [${routes}] }
`,
    )
    const logFile = join(dir, `${name}.log`)
    return spawnBound({ command: 'nats-server', args: ['-c', file], logFile, stopSignal: 'SIGTERM' })
  })
  t.teardown(async () => {
    await Promise.all(servers.map(server => server.stop()))
    rmSync(dir, { recursive: true, force: true })
  })
  const urls = nodes.map(({ port }) => `nats://127.0.0.1:${port}`)
  await waitFor(() => Promise.all(urls.map(assertListsStreams)), { label: 'the cluster has a leader for JetStream' })
  return urls.join(',')
}

/** Throws until the server has a leader that answers. */
async function assertListsStreams(url: string): Promise<true> {
  const connection = await connect({ servers: url, reconnect: false })
  try {
    const answer = await connection.request('$JS.API.STREAM.NAMES', undefined, { timeout: 1_000 })
    const { error } = answer.json<{ error?: { description: string } }>()
    if (error) throw new Error(error.description)
    return true
  } finally {
    await connection.close()
  }
}
