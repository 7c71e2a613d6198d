import { Picket } from '../../../../deploy/client/index.ts'
import type { DataQuery } from '../operations.ts'

/** What an operation sends. `path`: with the query, below the address of the installation. */
type ApiRequest = { method: string; path: string; body?: unknown }

type SentOptions = { url: string; path?: object; query?: object; body?: unknown }

/** Returns the request of a call, as the typed client builds it. Nothing is sent. */
export function toRequest({ name, arguments: args }: DataQuery): ApiRequest {
  let request: ApiRequest | undefined
  const keep =
    (_: object, method: string) =>
    ({ url, path = {}, query = {}, body }: SentOptions): void => {
      const values = new Map(Object.entries(path))
      const filled = url.replace(/\{(\w+)\}/g, (_match, key: string) => encodeURIComponent(String(values.get(key))))
      request = { method: method.toUpperCase(), path: filled + toQuery(query), ...(body !== undefined && { body }) }
    }
  const client = new Proxy({}, { get: (target, method) => keep(target, String(method)) })
  const operation = Picket.prototype[name] as (this: unknown, options: unknown) => void
  operation.call({ client }, args)
  return request!
}

function toQuery(query: object): string {
  const values = Object.entries(query).flatMap(([key, value]) =>
    [value].flat().flatMap(one => (one == null ? [] : [[key, String(one)]])),
  )
  return values.length === 0 ? '' : `?${new URLSearchParams(values)}`
}
