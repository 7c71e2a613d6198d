import { needsBody } from '../../shared/assertions/evaluate.ts'
import type { CheckFunction, CheckSpec, Observation } from '../../shared/checks/check.ts'
import { parseTarget } from '../../shared/checks/target.ts'
import { runTcpExchange, type TcpExchange } from '../../shared/egress/index.ts'
import { wallMs } from '../../shared/egress/monotonic.ts'
import { findKeywordError } from './keyword-error.ts'

/** What a server says is read up to here. */
const MAX_ANSWER_BYTES = 64 * 1024
/** What must not come has not come when the target is silent for so long after its first word. */
const QUIET_MS = 1_000

/**
 * Opens a connection to host and port and closes it. With a `body`, that is sent first, as it is; with a `keyword`, or
 * assertions on the body, what comes back is read until the keyword is there, the target ends, or the deadline comes.
 */
export const checkTcp: CheckFunction = async (spec, signal, egress) => {
  const seeks = spec.keyword !== undefined
  const waitsForIt = seeks && spec.keywordType !== 'not_contains'
  const isEnough = async (heard: Buffer) => {
    if (!seeks) return false
    const isPassed = (await findKeywordError(spec, heardOnly(heard), wallMs())) === null
    return isPassed === waitsForIt
  }
  const listen =
    seeks || needsBody(spec.assertions)
      ? { maxBytes: MAX_ANSWER_BYTES, isEnough, quietMs: waitsForIt ? null : QUIET_MS }
      : null
  const say = spec.body ? Buffer.from(spec.body) : null
  const seen = toObservation(await runTcpExchange(getAddress(spec), { send: say, receive: listen }, signal, egress))
  if (seeks) seen.error ??= await findKeywordError(spec, seen, wallMs())
  return seen
}

const toObservation = ({ received: heard, ...connected }: TcpExchange): Observation => ({
  ...connected,
  statusCode: null,
  headers: null,
  body: heard,
  certificate: null,
})

const NO_TIMINGS = { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: 0, transferUs: 0 }
const heardOnly = (heard: Buffer) =>
  toObservation({ error: null, timings: NO_TIMINGS, totalUs: 0, resolvedIp: null, received: heard })

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
