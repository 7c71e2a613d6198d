import { processEnd } from '../../tools/test-runner/process/current-test.ts'
import type { Teardown } from './teardown.ts'

/**
 * Returns a function that starts something on its first call, for all test files of the process, which end it together. When
 * the start fails, the next call tries again.
 */
export function oncePerProcess<T>(start: (t: Teardown) => Promise<T>, end: Teardown = processEnd): () => Promise<T> {
  let started: Promise<T> | null = null
  return () => {
    started ??= start(end).catch(error => {
      started = null
      throw error
    })
    return started
  }
}
