import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NatsOperator } from '../../control-plane/platform/nats-operator.ts'
import { startNats as startEngine } from '../../deploy/local/engines/nats.ts'
import type { Teardown } from './teardown.ts'

export type TestNats = {
  url: string
  operator: NatsOperator | null
  readonly pid: number
  stop(): Promise<void>
  /** starts it again on the same port with the same store, after `stop` or `kill9` or while it runs */
  restart(): Promise<void>
  kill9(): Promise<void>
}

/**
 * A NATS server with JetStream of one's own (40 ms), gone at the end of the test; in operator mode with the operator
 * that is given, else open to everybody.
 */
export async function startNats(t: Teardown, operator: NatsOperator | null = null): Promise<TestNats> {
  const dir = mkdtempSync(join(tmpdir(), 'picket-nats-'))
  const options = { dataDir: dir, logFile: join(dir, 'nats.log'), operator }
  let server = await startEngine({ ...options, port: 0 })
  const { url, port } = server
  t.teardown(async () => {
    await server.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  return {
    url,
    operator,
    get pid() {
      return server.pid
    },
    stop: () => server.stop(),
    async restart() {
      await server.stop()
      server = await startEngine({ ...options, port })
    },
    async kill9() {
      process.kill(server.pid, 'SIGKILL')
      await server.exited
    },
  }
}
