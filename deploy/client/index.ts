import { createClient } from './gen/client/index.ts'
import { Picket } from './gen/sdk.gen.ts'

export type * from './gen/index.ts'
export { Picket }

export type PicketOptions = {
  /** where Picket runs, without `/api/v1`: `https://picket.example.com` */
  origin: string
  /** `svc_…`; left out for what needs no key */
  apiKey?: string | undefined
  /** in place of the global one */
  fetch?: typeof fetch
}

/**
 * A typed client of Picket's API: one method an operation, named as in `/openapi.json`. A call resolves to `{ data }` or
 * to `{ error }` with the body of the refusal, and throws when no answer came.
 */
export function createPicket({ origin, apiKey, ...options }: PicketOptions): Picket {
  const client = createClient({ baseUrl: origin.replace(/\/+$/, ''), auth: apiKey, ...options })
  client.interceptors.error.use((error, response) => {
    if (response === undefined) throw error
    return error
  })
  return new Picket({ client })
}
