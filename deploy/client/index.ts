import { rejectPage, toErrorBody } from './errors.ts'
import { createClient } from './gen/client/index.ts'
import { Picket } from './gen/sdk.gen.ts'

export { type FollowedEvent, type FollowOptions, followEvents } from './events.ts'
export type * from './gen/index.ts'
export { Picket }

export type PicketOptions = {
  /** the origin of the Picket server, without `/api/v1`: `https://picket.example.com` */
  origin: string
  /** `svc_…`; not needed for public operations */
  apiKey?: string | undefined
  /** used instead of the global `fetch` */
  fetch?: typeof fetch
}

/**
 * Creates a typed client of Picket's API: one method per operation, named as in `/openapi.json`. A call resolves to `{ data }`
 * or to `{ error }` with the error response, and throws when the server does not respond. An error of another program, such as
 * a proxy, has the same fields. `exportProject` returns JSON unless its query names a format.
 */
export function createPicket({ origin, apiKey, ...options }: PicketOptions): Picket {
  const client = createClient({ baseUrl: origin.replace(/\/+$/, ''), auth: apiKey, ...options })
  client.interceptors.request.use((request, { url }) => (url === '/api/v1/export' ? askForJson(request) : request))
  client.interceptors.response.use(rejectPage)
  client.interceptors.error.use((error, response, request) => {
    if (response === undefined) throw error
    return toErrorBody(error, response, request.url)
  })
  return new Picket({ client })
}

/** The server's default is YAML, which the type of the operation does not describe. */
function askForJson(request: Request): Request {
  const url = new URL(request.url)
  if (url.searchParams.has('format')) return request
  url.searchParams.set('format', 'json')
  return new Request(url, request)
}
