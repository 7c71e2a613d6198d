import { connect, createServer } from 'node:net'
import { Client } from 'pg'
import { reserveFreePort, reservePort } from '../engines/free-port.ts'
import { StartError } from '../start/settings.ts'

const CONNECT_TIMEOUT_MS = 20_000
const MAX_GREETING_LENGTH = 16_384

/** Refuses a port that another program has. */
export function assertPortFree(port: number, host: string, variable = 'PORT'): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      const sentences: Record<string, string> = {
        EADDRINUSE: `Port ${port} is taken by another program; choose one with ${variable}=${port + 1} npm start.`,
        EACCES: `Port ${port} may be opened by root only; choose one above 1023 with ${variable}.`,
      }
      reject(
        new StartError(sentences[error.code ?? ''] ?? `Port ${port} on ${host} cannot be opened: ${error.message}.`),
      )
    })
    server.listen(port, host, () => server.close(() => resolve()))
  })
}

/** The wished port when no other program has it or is about to open it, else any. It is this process' until it ends. */
export async function reservePortOr(wished: number, host: string): Promise<number> {
  return (await reservePort(wished, host)) ? wished : reserveFreePort()
}

/** Refuses a DATABASE_URL that leads nowhere, with the reason. */
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
      '3D000': `PostgreSQL at ${place} has no database of the name in DATABASE_URL; create it first.`,
    }
    throw new StartError(sentences[code] ?? `No PostgreSQL answers at ${place} of DATABASE_URL (${code || message}).`)
  } finally {
    await client.end().catch(() => {})
  }
}

/** Refuses a URL behind which nothing listens. */
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

/** What a server says of itself to everybody who connects; empty when it says nothing in time. */
export function readNatsVersion(url: string): Promise<string> {
  const { hostname, port } = new URL(url.split(',')[0] ?? '')
  return new Promise(resolve => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || 4222 })
    const end = (version: string) => {
      socket.destroy()
      resolve(version)
    }
    let said = ''
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => end(''))
    socket.once('error', () => end(''))
    socket.once('close', () => end(''))
    socket.on('data', chunk => {
      said += chunk
      const [, version] = /"version":"([^"]{1,40})"/.exec(said) ?? []
      if (version || said.length > MAX_GREETING_LENGTH) end(version ?? '')
    })
  })
}

/** Host and port, without what is secret. */
export function getHostAndPort(name: string, url: string): string {
  try {
    return new URL(url).host
  } catch {
    throw new StartError(`${name} is not a URL.`)
  }
}
