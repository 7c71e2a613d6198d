import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'

const LOWEST = 11_000
const TRIES = 100

/**
 * A port of the loopback address on which nothing listens at this moment. It is below those that the kernel gives to
 * outgoing connections, so none of these takes it before it is used, or while its server is restarted.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(LOWEST, lowestOfConnections())
    if (await isFree(port)) return port
  }
  throw new Error(`no port of ${TRIES} from ${LOWEST} on is free`)
}

function lowestOfConnections(): number {
  try {
    const [lowest] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/).map(Number)
    return lowest! > LOWEST ? lowest! : 32_768
  } catch {
    return 32_768
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
