/** The part of a tap test that the support files need: the registration of a teardown. */
export type Teardown = { teardown(undo: () => unknown): void }

/**
 * Runs `work` with a teardown registry. Teardowns run in reverse order, each even when another fails. Throws
 * the error of `work`, otherwise that of the first failing teardown.
 */
export async function withTeardown<T>(work: (t: Teardown) => Promise<T>): Promise<T> {
  const undo: (() => unknown)[] = []
  const [outcome] = await Promise.allSettled([work({ teardown: one => void undo.unshift(one) })])
  const undone: PromiseSettledResult<unknown>[] = []
  for (const one of undo) undone.push(...(await Promise.allSettled([Promise.resolve().then(one)])))
  if (outcome.status === 'rejected') throw outcome.reason
  for (const one of undone) if (one.status === 'rejected') throw one.reason
  return outcome.value
}
