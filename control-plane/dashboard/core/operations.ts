import type { Picket } from '../../../deploy/client/index.ts'

/** A call of the typed client. */
type Method = (options: never) => PromiseLike<{ data?: unknown; error?: unknown; response: Response }>

/** The operations of the API by name, such as `readMonitor`. */
export type OperationName = {
  [Name in keyof Picket]: Picket[Name] extends Method ? Name : never
}[keyof Picket]

/** The path parameters, query, body and described headers of an operation. */
export type OperationArguments<Name extends OperationName> = Omit<
  NonNullable<Parameters<Picket[Name]>[0]>,
  'client' | 'fetch' | 'meta' | 'security' | 'signal' | 'throwOnError' | 'url' | `on${string}`
>

/** The body of the response: a record in `data`, or a list in `data` with `meta`. */
export type OperationResponse<Name extends OperationName> = NonNullable<Awaited<ReturnType<Picket[Name]>>['data']>

/** A call of the API, such as a read that a screen needs. */
export type DataQuery<Name extends OperationName = OperationName> = { name: Name; arguments: OperationArguments<Name> }

/** Reads that need an admin. Browsers of other people do not send them: the screens show what they can without. */
export const ADMIN_READS: readonly OperationName[] = ['listMembers', 'listAuditLog', 'listApiKeys']

/** A call by the name of its operation: `call('createMonitor', { body })`. */
export const call = <Name extends OperationName>(name: Name, args: OperationArguments<Name>): DataQuery<Name> => ({
  name,
  arguments: args,
})

/** A read of a screen: `read('readMonitor', { path: { id } })`. */
export const read = call

/** Why an operation failed. `status` 0: the server was not reached. */
export type OperationError = {
  status: number
  code: string
  /** a sentence without a full stop, as the API words it */
  message: string
  details?: { path: string; message: string }[]
}

/** `etag`: the version of a record, for `If-Match`; without it, the record has none. */
export type Outcome<T> = { data: T; etag?: string } | { error: OperationError }

/** Carries out an operation. Never throws: a connection that fails is an error with status 0. */
export type Execute = <Name extends OperationName>(
  name: Name,
  args: OperationArguments<Name>,
) => Promise<Outcome<OperationResponse<Name>>>

/** Carries out operations with a client. `onUnreachable` is called when there is no response. */
export const createExecute =
  (client: Picket, onUnreachable: (error: unknown) => void = () => {}): Execute =>
  async (name, args) => {
    try {
      const method = client[name] as unknown as Method
      const { data, error, response } = await method.call(client, args as never)
      const etag = response.headers.get('etag')
      if (!response.ok) return { error: toOperationError(error, response.status) }
      return { data: data as never, ...(etag !== null && { etag }) }
    } catch (error) {
      onUnreachable(error)
      return { error: { status: 0, code: 'unreachable', message: 'the server cannot be reached' } }
    }
  }

/** The error in a body of the API. */
export function toOperationError(body: unknown, status: number): OperationError {
  const { error } = (body ?? {}) as { error?: Partial<OperationError> }
  if (typeof error?.message !== 'string')
    return { status, code: 'invalid_response', message: `the server answered with status ${status}` }
  const { code = '', message, details } = error
  return { status, code, message, ...(details && { details }) }
}
