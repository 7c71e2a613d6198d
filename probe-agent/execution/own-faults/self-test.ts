import { type CheckError, FailureSource } from '../../../shared/checks/result.ts'
import { connectTcp, createDeadline, createEgress, EgressFailure } from '../../../shared/egress/index.ts'
import { nowUs } from '../../../shared/egress/monotonic.ts'
import type { Egress } from '../../../shared/egress/types.ts'
import { isNetworkOnline } from './connectivity.ts'

/** Tests the probe's own connectivity (docs/design/probes.md#own-faults). Call `run` every few seconds. */
export type SelfTest = {
  /**
   * The result of the newest test of the network, and of the resolver, which is tested once and after a failure of it. True before
   * the first test.
   */
  isOnline(): boolean
  /**
   * Runs a test. Resolves when it has finished; never rejects. `isIdle`: the probe has no monitors, so that there is nothing to
   * attribute; while it is online, it is then tested every 30 s. A resolver that failed is tested again until it answers.
   */
  run(isIdle?: boolean): Promise<void>
  /** Records whether a check was answered by its target. */
  recordCheck(target: string, isAnswered: boolean): void
  /** The failure to report for a check that began at `startedUs`: `probe_offline` when the probe's network is the cause. */
  attributeFailure(error: CheckError, startedUs: number): Promise<CheckError>
}

type SelfTestOptions = {
  /** one answer is enough, even a refused connection */
  targets: { host: string; port: number }[]
  /** defaults to a guard that allows everything, because the operator's addresses are often private */
  egress?: Egress
}

/**
 * A working resolver with a connection answers names of this zone, with NXDOMAIN. Each test has a new name, which no cache has: a resolver
 * without a connection still answers from its cache.
 */
const RESOLVER_TEST_ZONE = 'root-servers.net'
const TEST_TIMEOUT_MS = 2000
/** The result of a test that began within this time is used for the next failure. */
const FRESH_US = 250_000
const RECENT_US = 15_000_000
/** A little less than 30 s, because it is called every 5 s. */
const IDLE_INTERVAL_US = 29_000_000

/** Errors that prove that the host is reachable. */
const REACHABLE_CODES = new Set(['connection_refused', 'connection_reset'])

export function createSelfTest(options: SelfTestOptions): SelfTest {
  const { targets } = options
  const egress = options.egress ?? createEgress({ allow: ['0.0.0.0/0', '::/0'] })
  const recent = createRecent()
  let isOnline = true
  let isResolving = true
  let hasResolved: boolean | null = null
  let testedUs = Number.NEGATIVE_INFINITY
  let lastOfflineUs = -1
  let lastUnresolvedUs = -1

  const network = createCoalesced(async () => {
    const beganUs = nowUs()
    testedUs = beganUs
    const isReachable = await anyAnswers(targets, egress)
    const sinceUs = targets.length > 0 ? beganUs : beganUs - RECENT_US
    isOnline = isNetworkOnline({ tested: targets.length, reachable: isReachable ? 1 : 0, ...recent.count(sinceUs) })
    if (!isOnline) lastOfflineUs = nowUs()
    return isOnline
  })
  const resolver = createCoalesced(async () => {
    isResolving = await resolverAnswers(`picket-${Math.floor(nowUs())}.${RESOLVER_TEST_ZONE}`, egress)
    hasResolved = hasResolved || isResolving
    if (!isResolving) lastUnresolvedUs = nowUs()
    return isResolving
  })

  return {
    // a network in which these names are never answered says nothing about the resolver
    isOnline: () => isOnline && (isResolving || !hasResolved),
    recordCheck: recent.note,
    async run(isIdle = false) {
      if (isIdle && isOnline && (isResolving || !hasResolved) && nowUs() - testedUs < IDLE_INTERVAL_US) return
      const needsResolver = hasResolved === null || !isResolving
      await Promise.all([network(), needsResolver && resolver()])
    },
    async attributeFailure(error, startedUs) {
      if (error.source === FailureSource.INTERNAL) return error
      if (!(await network()) || lastOfflineUs >= startedUs) return offline('the probe has no network connection')
      if (error.source !== FailureSource.RESOLVER) return error
      if ((await resolver()) && lastUnresolvedUs < startedUs) return error
      return offline('the resolver of the probe does not respond')
    },
  }
}

function offline(message: string): CheckError {
  return { source: FailureSource.INTERNAL, code: 'probe_offline', message }
}

/** Shares one test between failures that arrive while it runs or shortly after it began. */
function createCoalesced(test: () => Promise<boolean>): () => Promise<boolean> {
  let last: Promise<boolean> | null = null
  let beganUs = 0
  let isRunning = false
  return () => {
    const now = nowUs()
    if (last && (isRunning || now - beganUs < FRESH_US)) return last
    beganUs = now
    isRunning = true
    last = test().finally(() => {
      isRunning = false
    })
    return last
  }
}

/** The newest outcome of each target within the last 15 s. */
function createRecent() {
  const outcomes = new Map<string, { atUs: number; isAnswered: boolean }>()
  return {
    note(target: string, isAnswered: boolean) {
      outcomes.set(target, { atUs: nowUs(), isAnswered })
    },
    count(sinceUs: number): { answered: number; unanswered: number } {
      const oldestUs = nowUs() - RECENT_US
      let answered = 0
      let unanswered = 0
      for (const [target, outcome] of outcomes) {
        if (outcome.atUs < oldestUs) outcomes.delete(target)
        else if (outcome.atUs >= sinceUs) outcome.isAnswered ? answered++ : unanswered++
      }
      return { answered, unanswered }
    },
  }
}

/** Whether at least one of the targets answers. */
async function anyAnswers(targets: SelfTestOptions['targets'], egress: Egress): Promise<boolean> {
  const deadline = createDeadline(TEST_TIMEOUT_MS)
  try {
    await Promise.any(
      targets.map(async target => {
        const { error } = await connectTcp(target, deadline.signal, egress)
        if (error !== null && !REACHABLE_CODES.has(error.code)) throw new Error(error.code)
      }),
    )
    return true
  } catch {
    return false
  } finally {
    deadline.clear()
  }
}

async function resolverAnswers(name: string, egress: Egress): Promise<boolean> {
  const deadline = createDeadline(TEST_TIMEOUT_MS)
  const timeout = new Promise<never>((_, reject) => deadline.signal.addEventListener('abort', reject))
  try {
    await Promise.race([egress.resolve(name, null), timeout])
    return true
  } catch (error) {
    return error instanceof EgressFailure && error.source === FailureSource.TARGET
  } finally {
    deadline.clear()
  }
}
