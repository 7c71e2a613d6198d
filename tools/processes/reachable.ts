import { connect, createServer } from 'node:net'
import { Client } from 'pg'
import { parseNatsServers } from '../../shared/nats/servers.ts'
import { reserveFreePort, reservePort } from '../engines/free-port.ts'
import { StartError } from '../start/settings.ts'

const CONNECT_TIMEOUT_MS = 20_000
const NATS_PORT = 4222
const MAX_GREETING_LENGTH = 16_384

/** Throws when a port is in use or not permitted. */
export function assertPortFree(port: number, host: string, variable = 'PORT'): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      const sentences: Record<string, string> = {
        EADDRINUSE: `Port ${port} is in use by another program. Choose another port: ${variable}=${port + 1} npm start.`,
        EACCES: `Port ${port} can only be opened by root. Choose a port above 1023 with ${variable}.`,
      }
      reject(
        new StartError(sentences[error.code ?? ''] ?? `Port ${port} on ${host} cannot be opened: ${error.message}.`),
      )
    })
    server.listen(port, host, () => server.close(() => resolve()))
  })
}

/** Reserves the preferred port, or any free port, for this process until it exits. */
export async function reservePortOr(preferred: number, host: string): Promise<number> {
  return (await reservePort(preferred, host)) ? preferred : reserveFreePort()
}

/** Throws with the reason when DATABASE_URL cannot be used. */
export async function assertDatabase(url: string): Promise<void> {
  const place = getHostAndPort('DATABASE_URL', url)
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    const { code = '', message } = error as Error & { code?: string }
    const sentences: Record<string, string> = {
      '28P01': `PostgreSQL at ${place} refuses the user or password of DATABASE_URL.`,
      '28000': `PostgreSQL at ${place} refuses the user or password of DATABASE_URL.`,
      '3D000': `PostgreSQL at ${place} does not have the database of DATABASE_URL. Create it first.`,
    }
    throw new StartError(sentences[code] ?? `No PostgreSQL answers at ${place} of DATABASE_URL (${code || message}).`)
  } finally {
    await client.end().catch(() => {})
  }
}

/** Throws when nothing listens at a URL. */
export async function assertListening(name: string, url: string, defaultPort: number): Promise<void> {
  const place = getHostAndPort(name, url)
  const { hostname, port } = new URL(url)
  await new Promise<void>((resolve, reject) => {
    const fail = (reason: string) => reject(new StartError(`Nothing answers at ${place} of ${name} (${reason}).`))
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || defaultPort })
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error('timeout')))
    socket.once('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message))
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
  })
}

/** The URL of each server in NATS_URL. Throws with the reason when the list is not accepted. */
export function listNatsUrls(list: string): string[] {
  try {
    return parseNatsServers(list).servers.map(server => (server.includes('://') ? server : `nats://${server}`))
  } catch (error) {
    throw new StartError(`NATS_URL: ${(error as Error).message}.`)
  }
}

/** Throws when nothing listens at any server of NATS_URL. */
export async function assertNatsListening(list: string): Promise<void> {
  const tries = listNatsUrls(list).map(url => assertListening('NATS_URL', url, NATS_PORT))
  await Promise.any(tries).catch(() => Promise.all(tries))
}

/** The version that the first server announces to each client; empty when it announces none in time. */
export function readNatsVersion(list: string): Promise<string> {
  const { hostname, port } = new URL(listNatsUrls(list)[0] ?? '')
  return new Promise(resolve => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || NATS_PORT })
    const end = (version: string) => {
      socket.destroy()
      resolve(version)
    }
    let greeting = ''
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => end(''))
    socket.once('error', () => end(''))
    socket.once('close', () => end(''))
    socket.on('data', chunk => {
      greeting += chunk
      const [, version] = /"version":"([^"]{1,40})"/.exec(greeting) ?? []
      if (version || greeting.length > MAX_GREETING_LENGTH) end(version ?? '')
    })
  })
}

/** Host and port of a URL, without its credentials. */
export function getHostAndPort(name: string, url: string): string {
  try {
    return new URL(url).host
  } catch {
    throw new StartError(`${name} is not a URL.`)
  }
}
