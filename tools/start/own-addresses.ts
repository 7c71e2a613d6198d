import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { MailSink } from '../mail/sink.ts'
import type { DataStores } from '../processes/data-stores.ts'
import { listNatsUrls } from '../processes/reachable.ts'
import type { LocalPorts } from './components.ts'
import type { LocalSettings } from './settings.ts'

const DEFAULT_PORTS: Record<string, number> = {
  'postgres:': 5432,
  'postgresql:': 5432,
  'nats:': 4222,
  'tls:': 4222,
  'http:': 80,
  'https:': 443,
}

/**
 * EGRESS_DENY of this installation: data stores, mail page and mail server, gRPC, the operator's port and the API. Requests
 * of users do not reach them, whatever EGRESS_ALLOW says (docs/design/egress.md#own-addresses).
 */
export async function listOwnAddresses(
  { host, port, operatorHost }: LocalSettings,
  { databaseUrl, natsUrl, clickhouseUrl }: DataStores,
  mail: MailSink | null,
  ports: LocalPorts,
): Promise<string> {
  const urls = [databaseUrl, ...listNatsUrls(natsUrl), clickhouseUrl, ...(mail ? [mail.smtpUrl, mail.pageUrl] : [])]
  const addresses = await Promise.all([
    ...urls.map(listAddressesOfUrl),
    listAddressesAt(host, ports.grpc),
    listAddressesAt(operatorHost, ports.operator),
  ])
  const api = await listAddressesAt(host, port)
  return [...addresses.flat(), ...api.map(address => `api=${address}`)].join(',')
}

/**
 * The addresses of a server. A name has all addresses that it resolves to now. PostgreSQL URLs may contain host and port as
 * parameters.
 */
async function listAddressesOfUrl(text: string): Promise<string[]> {
  const url = new URL(text)
  const host = url.searchParams.get('host') || url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.searchParams.get('port') || url.port) || (DEFAULT_PORTS[url.protocol] ?? 0)
  const isSocket = host === '' || host.startsWith('/')
  return isSocket ? [] : listAddressesAt(host, port)
}

async function listAddressesAt(host: string, port: number): Promise<string[]> {
  if (isIP(host)) return [formatAddress(host, port)]
  const found = await lookup(host, { all: true }).catch(() => [])
  return found.map(({ address }) => formatAddress(address, port))
}

const formatAddress = (host: string, port: number) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)
