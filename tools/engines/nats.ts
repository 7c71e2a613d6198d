import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildServerConfiguration, type NatsOperator } from '../../control-plane/foundation/platform/nats/operator.ts'
import { chooseMaxFileStore } from './nats-disk.ts'
import { type Engine, readLogTail, spawnBound, stopStale } from './process.ts'

type NatsOptions = {
  /** contains the JetStream store, the configuration and the pid file */
  dataDir: string
  logFile: string
  /** 0: any free port */
  port: number
  /** null: no authentication */
  operator: NatsOperator | null
  /** a certificate and its key in PEM; undefined: connections are in plain text */
  tls?: { cert: string; key: string }
}

const START_TIMEOUT_MS = 120_000
/**
 * With one thread for Go code, an idle server wakes up a third less often: threads do not wake each other to look for work. A
 * core is enough for thousands of results a second.
 */
const LEAN_ENV = { GOMAXPROCS: '1' }

/** Starts `nats-server` with JetStream on 127.0.0.1, after stopping one of an earlier run in the same directory. */
export async function startNats(options: NatsOptions): Promise<Engine & { port: number }> {
  const dataDir = resolve(options.dataDir)
  const pidFile = join(dataDir, 'nats.pid')
  await stopStale(pidFile, ['nats-server', `${dataDir}/`], 'SIGTERM')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  chmodSync(dataDir, 0o700)
  const portsDir = join(dataDir, 'ports')
  rmSync(portsDir, { recursive: true, force: true })
  mkdirSync(portsDir)
  const configFile = join(dataDir, 'nats.conf')
  const { operator, tls } = options
  const common = `${configuration(dataDir, options.port, pidFile, portsDir)}${tls ? encryption(tls, dataDir) : ''}`
  writeFileSync(configFile, `${common}${rights(operator, dataDir)}`)
  if (operator) adoptStreams(join(dataDir, 'jetstream/jetstream'), operator.main.publicKey)

  const server = spawnBound({
    command: 'nats-server',
    args: ['-c', configFile],
    logFile: options.logFile,
    stopSignal: 'SIGTERM',
    env: { ...LEAN_ENV, ...process.env },
  })
  let ended = false
  server.exited.then(() => {
    ended = true
  })
  const deadline = Date.now() + START_TIMEOUT_MS
  let url = listeningUrl(portsDir)
  while (!url) {
    if (ended || Date.now() > deadline) {
      await server.stop()
      throw new Error(
        server.pid
          ? `NATS did not start: ${readLogTail(options.logFile)}`
          : 'nats-server is not installed (apt-get install nats-server).',
      )
    }
    await new Promise(resolve => setTimeout(resolve, 10))
    url = listeningUrl(portsDir)
  }
  return { url, port: Number(new URL(url).port), pid: server.pid, exited: server.exited, stop: server.stop }
}

const quote = (text: string) => JSON.stringify(text)

function configuration(dataDir: string, port: number, pidFile: string, portsDir: string): string {
  const storeDir = join(dataDir, 'jetstream')
  mkdirSync(storeDir, { recursive: true })
  return `# Written at each start by tools/engines/nats.ts.
host: 127.0.0.1
port: ${port || -1}
pid_file: ${quote(pidFile)}
ports_file_dir: ${quote(portsDir)}
max_payload: 4MB
# a client on a busy machine may need longer than the two seconds that are the default
authorization { timeout: 30 }
jetstream { store_dir: ${quote(storeDir)}, max_file_store: ${chooseMaxFileStore(storeDir)} }
`
}

function encryption({ cert, key }: { cert: string; key: string }, dataDir: string): string {
  const [certFile, keyFile] = [join(dataDir, 'tls.crt'), join(dataDir, 'tls.key')]
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key, { mode: 0o600 })
  return `tls { cert_file: ${quote(certFile)}, key_file: ${quote(keyFile)} }\n`
}

const rights = (operator: NatsOperator | null, dataDir: string) =>
  operator === null ? '' : buildServerConfiguration(operator, join(dataDir, 'accounts'))

/** Moves streams that were stored without accounts to the account of this installation. */
function adoptStreams(storeDir: string, account: string): void {
  const [globalStore, accountStore] = [join(storeDir, '$G'), join(storeDir, account)]
  if (existsSync(globalStore) && !existsSync(accountStore)) renameSync(globalStore, accountStore)
}

/** Reads the address from the file that the server writes when it listens. */
function listeningUrl(portsDir: string): string | undefined {
  const file = readdirSync(portsDir).find(name => name.endsWith('.ports'))
  if (!file) return undefined
  try {
    return (JSON.parse(readFileSync(join(portsDir, file), 'utf8')) as { nats: string[] }).nats[0]
  } catch {
    return undefined
  }
}
