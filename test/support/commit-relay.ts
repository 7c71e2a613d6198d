import { type AddressInfo, createServer, type Socket } from 'node:net'
import { connectToServer } from './connect-to-server.ts'
import type { Teardown } from './teardown.ts'

type CommitRelay = {
  /** the given URL, through the relay */
  url: string
  /** The next transaction that contains `text` loses its COMMIT on the way to the server, or the response to it. */
  lose(what: 'commit' | 'answer', text: string): void
}

/** Breaks the connection to PostgreSQL at the COMMIT, when only the server knows whether it committed. */
export async function startCommitRelay(t: Teardown, target: string): Promise<CommitRelay> {
  const sockets = new Set<Socket>()
  let planned: { what: 'commit' | 'answer'; text: string } | null = null
  const server = createServer(client => {
    const postgres = connectToServer(target)
    let isTheOne = false
    let isLosing = false
    client.on('data', data => {
      isTheOne ||= planned !== null && data.includes(planned.text)
      if (isTheOne && data.includes('COMMIT')) {
        isLosing = true
        const isLost = planned?.what === 'commit'
        planned = null
        if (isLost) return void client.destroy()
      }
      postgres.write(data)
    })
    postgres.on('data', data => (isLosing ? client.destroy() : client.write(data)))
    for (const socket of [client, postgres]) {
      sockets.add(socket)
      const end = () => {
        for (const one of [client, postgres]) one.destroy()
        sockets.delete(socket)
      }
      socket.on('error', () => {}).on('close', end)
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const url = new URL(target)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    lose(what, text) {
      planned = { what, text }
    },
  }
}
