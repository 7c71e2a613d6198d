import { createClient } from './gen/client/index.ts'
import { Picket } from './gen/sdk.gen.ts'

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
 * or to `{ error }` with the error response, and throws when the server does not respond.
 */
export function createPicket({ origin, apiKey, ...options }: PicketOptions): Picket {
  const client = createClient({ baseUrl: origin.replace(/\/+$/, ''), auth: apiKey, ...options })
  client.interceptors.error.use((error, response) => {
    if (response === undefined) throw error
    return error
  })
  return new Picket({ client })
}
