import { parentPort } from 'node:worker_threads'
import { evaluate } from '../shared/assertions/evaluate.ts'
import type { Assertion } from '../shared/check.ts'
import { answerQuestions } from '../shared/thread.ts'
import type { Question } from './judging.ts'

const KNOWN_AT_MOST = 1_000

/** An assertion that comes again is the same object again, so that it is compiled once. */
const known = new Map<string, Assertion>()

function sameAsBefore(assertion: Assertion): Assertion {
  const { type, operator, value } = assertion
  const key = JSON.stringify([type, operator, value])
  const before = known.get(key)
  if (before) return before
  if (known.size >= KNOWN_AT_MOST) known.clear()
  known.set(key, assertion)
  return assertion
}

answerQuestions(parentPort, ({ assertions, observation, nowMs }: Question) => {
  // A Buffer arrives as the plain bytes that it is made of.
  const body = observation.body && Buffer.from(observation.body)
  return evaluate(assertions.map(sameAsBefore), { ...observation, body }, nowMs)
})
