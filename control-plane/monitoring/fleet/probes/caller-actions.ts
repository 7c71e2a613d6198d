import { createLruCache } from '../../../../shared/lru-cache.ts'
import { createFairLimiter, type LimiterRefusal } from '../../../../shared/process/fair-limiter.ts'
import { sha256 } from '../../../foundation/platform/crypto/encryption.ts'
import { nowMs } from '../../../foundation/platform/time/clock.ts'
import { createMissCounter } from '../../../foundation/web/limits/miss-counter.ts'
import type { FleetMetrics } from '../metrics.ts'
import type { ProbeIdentity, ProbeRefusal } from './enrolment-actions.ts'
import type { ProbeCredentials } from './probe-credentials.ts'

/** `busy`: the credentials were not looked up; the caller may try again soon. */
type CallerIdentity = ProbeIdentity | ProbeRefusal | { busy: string }

/** Authenticates a caller of the gRPC port. `network`: see `toClientNetwork`. Throws when the database does not respond. */
export type AuthenticateCaller = (network: string, credentials: ProbeCredentials) => Promise<CallerIdentity>

/** Credentials that need not wait: about 2 MB. */
export const MAX_KNOWN_CREDENTIALS = 20_000
/** Refused credentials of one network. A refused probe tries again after 30 s or more. */
const MAX_MISSES_PER_MINUTE = 300
/** Look-ups of unknown credentials at the same time. */
const MAX_LOOKUPS = 2
const MAX_WAITING_PER_NETWORK = 250
const WAIT_TIMEOUT_MS = 5_000

type CallerOptions = {
  /** looks credentials up */
  authenticate: (credentials: ProbeCredentials) => Promise<ProbeIdentity | ProbeRefusal>
  /** hashes of valid credentials, the newest first */
  known: readonly Buffer[]
  metrics: Pick<FleetMetrics, 'callsRefused'>
}

/**
 * Anyone who reaches the gRPC port can send credentials, so callers with unknown credentials wait for their turn: networks
 * take turns, and one with too many refused credentials waits for the next minute. Probes with known credentials (those
 * given, and those that connected since) do not wait for them.
 */
export function createCallerAuthentication({ authenticate, known, metrics }: CallerOptions): AuthenticateCaller {
  const familiar = createLruCache<true>(MAX_KNOWN_CREDENTIALS)
  // the newest last, so that they are kept longest
  for (const hash of known.toReversed()) familiar.set(toKey(hash), true)
  const misses = createMissCounter(MAX_MISSES_PER_MINUTE)
  const turns = createFairLimiter({
    maxConcurrent: MAX_LOOKUPS,
    maxConcurrentPerKey: MAX_LOOKUPS,
    maxWaitingPerKey: MAX_WAITING_PER_NETWORK,
    waitTimeoutMs: WAIT_TIMEOUT_MS,
    refuse: why => new QueueRefusal(why),
  })

  async function lookUp(credentials: ProbeCredentials): Promise<ProbeIdentity | ProbeRefusal> {
    const found = await authenticate(credentials)
    const { secret, token } = toKeys(credentials)
    if ('refusal' in found) {
      familiar.delete(secret)
      familiar.delete(token)
    } else if (found.probeId !== null) familiar.set(secret, true)
    // a token for one probe admits no other; the new secret is known when its probe connects again
    else if (found.isReusable) familiar.set(token, true)
    return found
  }

  async function lookUpInTurn(network: string, credentials: ProbeCredentials): Promise<CallerIdentity> {
    // counted before the look-up, because many can wait at the same time
    const takeBack = misses.count(network, nowMs())
    let isMiss = false
    try {
      const found = await turns.run(network, () => lookUp(credentials))
      isMiss = 'refusal' in found
      return found
    } catch (error) {
      if (!(error instanceof QueueRefusal)) throw error
      metrics.callsRefused.inc({ why: error.why })
      return { busy: 'too many unknown probes are waiting; try again' }
    } finally {
      if (!isMiss) takeBack()
    }
  }

  return async (network, credentials) => {
    const { secret, token } = toKeys(credentials)
    if (familiar.get(secret) || familiar.get(token)) return lookUp(credentials)
    if (misses.waitSeconds(network, nowMs()) === 0) return lookUpInTurn(network, credentials)
    metrics.callsRefused.inc({ why: 'misses' })
    return { busy: `more than ${MAX_MISSES_PER_MINUTE} unknown credentials a minute came from ${network}` }
  }
}

class QueueRefusal extends Error {
  readonly why: LimiterRefusal
  constructor(why: LimiterRefusal) {
    super(why)
    this.why = why
  }
}

const toKey = (hash: Buffer) => hash.toString('base64')
const hashToKey = (text: string | null) => (text === null ? '' : toKey(sha256(text)))
const toKeys = ({ secret, token }: ProbeCredentials) => ({ secret: hashToKey(secret), token: hashToKey(token) })
