import { parentPort } from 'node:worker_threads'
import { evaluate } from '../../shared/assertions/evaluate.ts'
import type { Assertion } from '../../shared/checks/check.ts'
import { answerQuestions } from '../../shared/process/thread.ts'
import type { AssertionJob } from './assertion-worker.ts'

const MAX_KNOWN_ASSERTIONS = 1_000

/** Equal assertions are mapped to the same object, so that each is compiled once. */
const known = new Map<string, Assertion>()

function reuseAssertion(assertion: Assertion): Assertion {
  const { type, operator, value } = assertion
  const key = JSON.stringify([type, operator, value])
  const before = known.get(key)
  if (before) return before
  if (known.size >= MAX_KNOWN_ASSERTIONS) known.clear()
  known.set(key, assertion)
  return assertion
}

answerQuestions(parentPort, ({ assertions, observation, nowMs }: AssertionJob) => {
  // A Buffer arrives as a plain Uint8Array.
  const body = observation.body && Buffer.from(observation.body)
  return evaluate(assertions.map(reuseAssertion), { ...observation, body }, nowMs)
})
