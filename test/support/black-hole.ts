import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import type { Teardown } from './teardown.ts'
import { waitFor } from './wait.ts'

/** A server that prints its port; JavaScript, because TypeScript takes longer to start. */
const LISTEN = `const server = require('node:net').createServer()
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port))`

/** A port of 127.0.0.1 on which connections are neither accepted nor refused, as behind a firewall that drops packets. */
export async function startBlackHole(t: Teardown): Promise<number> {
  const child = spawn(process.execPath, ['-e', LISTEN], { stdio: ['ignore', 'pipe', 'inherit'] })
  const port = Number(await once(child.stdout, 'data'))
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
