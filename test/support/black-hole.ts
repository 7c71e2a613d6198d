import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import type { Teardown } from './teardown.ts'
import { waitFor } from './wait.ts'

/** A port of 127.0.0.1 on which connections are neither accepted nor refused, as behind a firewall that drops packets. */
export async function startBlackHole(t: Teardown): Promise<number> {
  const child = fork(import.meta.filename, ['listen'], { execArgv: ['--import=tsx'] })
  const [port] = (await once(child, 'message')) as [number]
  child.kill('SIGSTOP')
  const fillers: Socket[] = []
  t.teardown(() => {
    for (const filler of fillers) filler.destroy()
    child.kill('SIGKILL')
  })
  // A stopped process accepts nothing. When its queue is full, the kernel drops new connections.
  for (;;) {
    const filler = connect(port, '127.0.0.1').on('error', () => {})
    fillers.push(filler)
    await waitFor(() => !filler.connecting || isDropping(port), {
      label: 'a connection, or a dropped one',
      everyMs: 100,
    })
    if (filler.connecting) return port
  }
}

const SYN_SENT = '02'

/** Whether the kernel has repeated the request for a connection to this port, because it got no answer. */
function isDropping(port: number): boolean {
  const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n')
  return rows
    .map(row => row.trim().split(/\s+/))
    .some(([, , to, state, , , repeated]) => to === remote && state === SYN_SENT && Number(`0x${repeated}`) > 0)
}

if (process.argv[2] === 'listen') {
  const server = createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () =>
    process.send!((server.address() as { port: number }).port),
  )
}
