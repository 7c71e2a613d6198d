import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { Teardown } from './teardown.ts'

/** A port of 127.0.0.1 on which connections are neither accepted nor refused, as behind a firewall that drops. */
export async function startBlackHole(t: Teardown): Promise<number> {
  const child = fork(import.meta.filename, ['listen'], { execArgv: ['--import=tsx'] })
  const [port] = (await once(child, 'message')) as [number]
  child.kill('SIGSTOP')
  const fillers: Socket[] = []
  t.teardown(() => {
    for (const filler of fillers) filler.destroy()
    child.kill('SIGKILL')
  })
  // A stopped process accepts no connections; when its queue is full, the kernel drops new ones.
  for (;;) {
    const filler = connect(port, '127.0.0.1').on('error', () => {})
    fillers.push(filler)
    await Promise.race([once(filler, 'connect'), new Promise(resolve => setTimeout(resolve, 150))])
    // on a busy machine both may have happened, and only the timer was seen
    await new Promise(resolve => setImmediate(resolve))
    if (filler.connecting) return port
  }
}

if (process.argv[2] === 'listen') {
  const server = createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () =>
    process.send!((server.address() as { port: number }).port),
  )
}
