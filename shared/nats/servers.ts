/** Options of a NATS client. With `tls` it refuses a server that does not offer TLS. */
type NatsServers = { servers: string[]; tls?: Record<string, never> }

const ACCEPTED = 'nats://host:4222, or tls://host:4222 for every server of the list, separated by commas'

/**
 * The servers of NATS_URL or PROBE_NATS_URL: `nats://a:4222,nats://b:4222`. By itself the client drops the scheme and uses
 * TLS only if the server offers it. Throws for a list that is not accepted, without its text, which may contain a password.
 */
export function parseNatsServers(list: string): NatsServers {
  const servers = list.split(',').map(server => server.trim())
  const reasons = servers.map(findReason)
  const wrong = reasons.findIndex(reason => reason !== null)
  if (wrong >= 0)
    throw new Error(`server ${wrong + 1} of ${servers.length} ${reasons[wrong]}; accepted are ${ACCEPTED}`)
  const secure = servers.filter(server => /^tls:/i.test(server)).length
  if (secure === 0) return { servers }
  if (secure === servers.length) return { servers, tls: {} }
  throw new Error(`some servers have tls:// and others have not; accepted are ${ACCEPTED}`)
}

/** Why a server is not accepted; null: it is. The scheme nats:// may be omitted. */
function findReason(server: string): string | null {
  if (server === '') return 'is empty'
  const rest = server.replace(/^(nats|tls):\/\//i, '')
  if (rest.includes('://')) return 'does not begin with nats:// or tls://'
  const address = `http://${rest}`
  if (!URL.canParse(address)) return 'is not host:port'
  const { pathname, search, hash } = new URL(address)
  return pathname === '/' && search === '' && hash === '' ? null : 'contains more than host:port'
}

/** The same error, or a clearer one. */
export function clarifyNatsError(error: unknown): unknown {
  const isPlain = error instanceof Error && error.message.includes("does not support 'tls'")
  if (!isPlain) return error
  return new Error('the server does not offer TLS, which tls:// requires; configure TLS on it, or use nats://')
}
