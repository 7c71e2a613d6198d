import { createRateLimit } from '../../../foundation/web/limits/rate-limit.ts'

/** Most tests of monitors that a project may have running at once. */
export const MAX_CONCURRENT_TESTS = 10

/** Either a turn, to be ended, or why there is none. */
export type TestSlot = { end(): void } | { message: string; retryAfterSeconds: number }

/** Whether a project may test a monitor now. */
export type TestLimit = (projectId: string, nowMs: number) => TestSlot

/**
 * Tests make requests on demand, with nothing stored that would show who asked: so many a minute, and so many at once,
 * a project. Like the general limit it counts in one process. `tests`: how a refusal calls them.
 */
export function createTestLimit(perMinute: number, tests = 'tests of monitors'): TestLimit {
  const rate = createRateLimit(perMinute)
  const running = new Map<string, number>()
  const add = (projectId: string, change: 1 | -1) => {
    const next = (running.get(projectId) ?? 0) + change
    if (next === 0) running.delete(projectId)
    else running.set(projectId, next)
  }
  return (projectId, nowMs) => {
    if ((running.get(projectId) ?? 0) >= MAX_CONCURRENT_TESTS) {
      const message = `${MAX_CONCURRENT_TESTS} tests of this project are running; wait until one has ended`
      return { message, retryAfterSeconds: 5 }
    }
    const { allowed, resetSeconds } = rate(projectId, nowMs)
    if (!allowed) {
      const message = `more than ${perMinute} ${tests} a minute in this project`
      return { message, retryAfterSeconds: resetSeconds }
    }
    add(projectId, 1)
    return { end: () => add(projectId, -1) }
  }
}
