import { createKeyCounter } from '../platform/concurrency/key-counter.ts'
import { createRateLimit } from './limits/rate-limit.ts'

/** The maximum of concurrent tests of monitors of a project. */
export const MAX_CONCURRENT_TESTS = 10

/** Either a slot, to be ended, or the reason for a refusal. */
type TestSlot = { end(): void } | { message: string; retryAfterSeconds: number }

/** Takes a slot for a test of a project. */
type TestLimit = (projectId: string, nowMs: number) => TestSlot

/**
 * Limits the tests of a project, in one minute and at the same time, because a test makes requests to any target and stores
 * nothing that identifies the requester. Like the general limit it counts in one process. `tests`: the name in a refusal.
 */
export function createTestLimit(perMinute: number, tests = 'tests of monitors'): TestLimit {
  const rate = createRateLimit(perMinute)
  const running = createKeyCounter()
  return (projectId, nowMs) => {
    if (running.get(projectId) >= MAX_CONCURRENT_TESTS) {
      const message = `a project can run at most ${MAX_CONCURRENT_TESTS} tests at the same time; wait until one has finished`
      return { message, retryAfterSeconds: 5 }
    }
    const { allowed, resetSeconds } = rate(projectId, nowMs)
    if (!allowed) {
      const message = `a project can make at most ${perMinute} ${tests} in a minute`
      return { message, retryAfterSeconds: resetSeconds }
    }
    running.add(projectId, 1)
    return { end: () => running.add(projectId, -1) }
  }
}
