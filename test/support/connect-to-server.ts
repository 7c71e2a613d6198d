import { connect, type Socket } from 'node:net'

/** Connects to the server of a URL. A host that is a folder has the socket of a PostgreSQL. */
export function connectToServer(url: string): Socket {
  const { hostname, port } = new URL(url)
  if (!hostname.startsWith('%2F')) return connect(Number(port), hostname)
  return connect(`${decodeURIComponent(hostname)}/.s.PGSQL.${port}`)
}
