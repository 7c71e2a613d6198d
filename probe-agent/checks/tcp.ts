import type { Check, CheckSpec } from '../../shared/check.ts'
import { connectTcp } from '../../shared/egress/index.ts'
import { parseTarget } from '../../shared/target.ts'

type Address = { host: string; port: number }

const addresses = new WeakMap<CheckSpec, Address>()

/** Opens a connection to host and port, and closes it. */
export const checkTcp: Check = async (spec, signal, egress) => ({
  ...(await connectTcp(addressOf(spec), signal, egress)),
  statusCode: null,
  headers: null,
  body: null,
  certificate: null,
})

function addressOf(spec: CheckSpec): Address {
  const known = addresses.get(spec)
  if (known) return known
  const target = parseTarget('tcp', spec.url)
  if ('error' in target) throw new Error(target.error)
  if (target.port === null) throw new Error('a tcp monitor without a port')
  const address = { host: target.host, port: target.port }
  addresses.set(spec, address)
  return address
}
