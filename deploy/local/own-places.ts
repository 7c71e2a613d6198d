import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Ports } from './components.ts'
import type { DataStores } from './data-stores.ts'
import type { MailSink } from './mail/sink.ts'
import type { Settings } from './settings.ts'

const DEFAULT_PORTS: Record<string, number> = {
  'postgres:': 5432,
  'postgresql:': 5432,
  'nats:': 4222,
  'http:': 80,
  'https:': 443,
}

/**
 * EGRESS_DENY of this installation: its engines, its mail page and mail server, gRPC, the operator's port and the API. Monitors, webhooks and all
 * else that people have sent from here does not reach them, whatever EGRESS_ALLOW says.
 */
export async function ownPlaces(
  { host, port, operatorHost }: Settings,
  { databaseUrl, natsUrl, clickhouseUrl }: DataStores,
  mail: MailSink | null,
  ports: Ports,
): Promise<string> {
  const urls = [databaseUrl, ...natsUrl.split(','), clickhouseUrl, ...(mail ? [mail.smtpUrl, mail.pageUrl] : [])]
  const places = await Promise.all([
    ...urls.map(placesOf),
    placesAt(host, ports.grpc),
    placesAt(operatorHost, ports.operator),
  ])
  const api = await placesAt(host, port)
  return [...places.flat(), ...api.map(place => `api=${place}`)].join(',')
}

/**
 * Of a server of the operator's own that is given by a name: every address that the name has now. In PostgreSQL's URLs parameters
 * may say where it is.
 */
async function placesOf(text: string): Promise<string[]> {
  const url = new URL(text.includes('://') ? text : `nats://${text}`)
  const host = url.searchParams.get('host') || url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.searchParams.get('port') || url.port) || (DEFAULT_PORTS[url.protocol] ?? 0)
  const isSocket = host === '' || host.startsWith('/')
  return isSocket ? [] : placesAt(host, port)
}

async function placesAt(host: string, port: number): Promise<string[]> {
  if (isIP(host)) return [placeOf(host, port)]
  const found = await lookup(host, { all: true }).catch(() => [])
  return found.map(({ address }) => placeOf(address, port))
}

const placeOf = (host: string, port: number) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)
