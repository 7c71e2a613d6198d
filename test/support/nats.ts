import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NatsOperator } from '../../control-plane/foundation/platform/nats/operator.ts'
import { startNats as startEngine } from '../../tools/engines/nats.ts'
import type { KeyPair } from './certificates.ts'
import { type KeptEngine, keepEngine } from './engine.ts'
import type { Teardown } from './teardown.ts'

export type TestNats = KeptEngine & {
  operator: NatsOperator | null
  /** restarts it on the same port without its files, as after the loss of its disk */
  empty(): Promise<void>
}

/**
 * A new NATS server with JetStream (40 ms), removed at the end of the test; in operator mode with the operator
 * that is given, otherwise without authentication. With `tls` it requires TLS.
 */
export async function startNats(t: Teardown, operator: NatsOperator | null = null, tls?: KeyPair): Promise<TestNats> {
  const dir = mkdtempSync(join(tmpdir(), 'picket-nats-'))
  const options = { dataDir: dir, logFile: join(dir, 'nats.log'), operator, tls }
  const engine = await keepEngine(port => startEngine({ ...options, port }))
  t.teardown(async () => {
    await engine.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  const empty = async () => {
    await engine.stop()
    rmSync(dir, { recursive: true, force: true })
    mkdirSync(dir)
    await engine.restart()
  }
  return Object.assign(engine, { operator, empty })
}
