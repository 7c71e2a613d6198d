import { needsBody } from '../../shared/assertions/evaluate.ts'
import type { CheckFunction, CheckSpec, Observation } from '../../shared/checks/check.ts'
import { parseTarget } from '../../shared/checks/target.ts'
import { runTcpExchange, type TcpExchange } from '../../shared/egress/index.ts'
import { wallMs } from '../../shared/egress/monotonic.ts'
import { findKeywordError } from './keyword-error.ts'

/** Maximum number of bytes read from the server. */
const MAX_RECEIVED_BYTES = 64 * 1024
/** With `not_contains`, reading ends when nothing has arrived for this long after the first byte. */
const QUIET_MS = 1_000

/**
 * Opens a connection to host and port and closes it. A `body` is sent first, unchanged. With a `keyword` or assertions on
 * the body, the answer is read until the keyword is found, the target closes the connection, or the deadline passes.
 */
export const checkTcp: CheckFunction = async (spec, signal, egress, tenant) => {
  const hasKeyword = spec.keyword !== undefined
  const waitsForKeyword = hasKeyword && spec.keywordType !== 'not_contains'
  const search = (observation: Observation) => findKeywordError({ spec, observation, nowMs: wallMs(), tenant })
  const isEnough = async (received: Buffer) => {
    if (!hasKeyword) return false
    const isPassed = (await search(buildPartialObservation(received))) === null
    return isPassed === waitsForKeyword
  }
  const receive =
    hasKeyword || needsBody(spec.assertions)
      ? { maxBytes: MAX_RECEIVED_BYTES, isEnough, quietMs: waitsForKeyword ? null : QUIET_MS }
      : null
  const send = spec.body ? Buffer.from(spec.body) : null
  const observation = toObservation(await runTcpExchange(getAddress(spec), { send, receive }, signal, egress))
  if (hasKeyword) observation.error ??= await search(observation)
  return observation
}

const toObservation = ({ received, ...connected }: TcpExchange): Observation => ({
  ...connected,
  statusCode: null,
  headers: null,
  body: received,
  certificate: null,
})

const NO_TIMINGS = { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: 0, transferUs: 0 }
const buildPartialObservation = (received: Buffer) =>
  toObservation({ error: null, timings: NO_TIMINGS, totalUs: 0, resolvedIp: null, received })

type Address = { host: string; port: number }

const addresses = new WeakMap<CheckSpec, Address>()

function getAddress(spec: CheckSpec): Address {
  const known = addresses.get(spec)
  if (known) return known
  const target = parseTarget('tcp', spec.url)
  if ('error' in target) throw new Error(target.error)
  if (target.port === null) throw new Error('a tcp monitor without a port')
  const address = { host: target.host, port: target.port }
  addresses.set(spec, address)
  return address
}
