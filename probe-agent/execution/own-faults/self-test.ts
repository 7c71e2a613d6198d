import { type CheckError, FailureSource } from '../../../shared/checks/result.ts'
import { connectTcp, createDeadline, createEgress, EgressFailure } from '../../../shared/egress/index.ts'
import { nowUs } from '../../../shared/egress/monotonic.ts'
import type { Egress } from '../../../shared/egress/types.ts'
import { isNetworkOnline } from './connectivity.ts'

/** The probe's test of its own connectivity (decisions 4.3). Call `probe` from the loop every few seconds. */
export type SelfTest = {
  /** What the last test and the recent checks say. True before the first test. */
  isOnline(): boolean
  /** Tests now. Resolves when the answer stands, never rejects. */
  run(signal: AbortSignal): Promise<void>
  /** A check was answered by its target, or nothing came back. */
  recordCheck(target: string, isAnswered: boolean): void
  /** A check that began at `startedUs` failed: the failure to report, `probe_offline` when it was our own network's. */
  attributeFailure(error: CheckError, startedUs: number): Promise<CheckError>
}

export type SelfTestOptions = {
  /** one that answers, even with a refusal, is enough */
  targets: { host: string; port: number }[]
  /** a name that any working resolver knows or denies; asked only after a resolver's failure */
  resolverName?: string
  /** the operator's own addresses are often private, so by default everything is allowed */
  egress?: Egress
}

const TEST_TIMEOUT_MS = 2000
/** A test that began so long ago at most need not be repeated for the next failure. */
const FRESH_US = 250_000
const RECENT_US = 15_000_000

/** Answers of a machine that is there, though it does not want to talk. */
const SIGNS_OF_LIFE = new Set(['connection_refused', 'connection_reset'])

export function createSelfTest(options: SelfTestOptions): SelfTest {
  const { targets, resolverName = 'a.root-servers.net' } = options
  const egress = options.egress ?? createEgress({ allow: ['0.0.0.0/0', '::/0'] })
  const recent = createRecent()
  let isOnline = true
  let lastOfflineUs = -1
  let lastUnresolvedUs = -1

  const network = createCoalesced(async () => {
    const beganUs = nowUs()
    const isReachable = await anyAnswers(targets, egress)
    const sinceUs = targets.length > 0 ? beganUs : beganUs - RECENT_US
    isOnline = isNetworkOnline({ tested: targets.length, reachable: isReachable ? 1 : 0, ...recent.count(sinceUs) })
    if (!isOnline) lastOfflineUs = nowUs()
    return isOnline
  })
  const resolver = createCoalesced(async () => {
    const answers = await resolverAnswers(resolverName, egress)
    if (!answers) lastUnresolvedUs = nowUs()
    return answers
  })

  return {
    isOnline: () => isOnline,
    recordCheck: recent.note,
    async run(signal) {
      if (!signal.aborted) await network()
    },
    async attributeFailure(error, startedUs) {
      if (error.source === FailureSource.INTERNAL) return error
      if (!(await network()) || lastOfflineUs >= startedUs) return offline('the probe itself has no connection')
      if (error.source !== FailureSource.RESOLVER) return error
      if ((await resolver()) && lastUnresolvedUs < startedUs) return error
      return offline('the resolver of the probe does not answer')
    },
  }
}

function offline(message: string): CheckError {
  return { source: FailureSource.INTERNAL, code: 'probe_offline', message }
}

/** Many failures at once ask once: who comes while a test runs, or right after it began, gets its answer. */
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

/** The newest word of each target, as long as it is recent. */
function createRecent() {
  const words = new Map<string, { atUs: number; isAnswered: boolean }>()
  return {
    note(target: string, isAnswered: boolean) {
      words.set(target, { atUs: nowUs(), isAnswered })
    },
    count(sinceUs: number): { answered: number; unanswered: number } {
      const oldestUs = nowUs() - RECENT_US
      let answered = 0
      let unanswered = 0
      for (const [target, word] of words) {
        if (word.atUs < oldestUs) words.delete(target)
        else if (word.atUs >= sinceUs) word.isAnswered ? answered++ : unanswered++
      }
      return { answered, unanswered }
    },
  }
}

/** Whether one of the targets answers; the first answer is enough. */
async function anyAnswers(targets: SelfTestOptions['targets'], egress: Egress): Promise<boolean> {
  const deadline = createDeadline(TEST_TIMEOUT_MS)
  try {
    await Promise.any(
      targets.map(async target => {
        const { error } = await connectTcp(target, deadline.signal, egress)
        if (error !== null && !SIGNS_OF_LIFE.has(error.code)) throw new Error(error.code)
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
