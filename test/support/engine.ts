import { reserveFreePort } from '../../tools/engines/free-port.ts'
import type { Engine } from '../../tools/engines/process.ts'

/** A data store that is stopped, killed and restarted at the same address. */
export type KeptEngine = {
  url: string
  readonly pid: number
  stop(): Promise<void>
  kill9(): Promise<void>
  /** restarts it on the same port with the same files, after `stop` or `kill9` or while it runs */
  restart(): Promise<void>
}

/** `start` receives the port, the same each time, and after the first time the password of its URL. */
export async function keepEngine(start: (port: number, password?: string) => Promise<Engine>): Promise<KeptEngine> {
  const port = await reserveFreePort()
  let server = await start(port)
  const { url } = server
  return {
    url,
    get pid() {
      return server.pid
    },
    stop: () => server.stop(),
    async kill9() {
      process.kill(server.pid, 'SIGKILL')
      await server.exited
    },
    async restart() {
      await server.stop()
      server = await start(port, new URL(url).password)
    },
  }
}
