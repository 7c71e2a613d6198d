/** The part of a tap test that registers clean-up functions. */
export type Teardown = { teardown(undo: () => unknown): void }

/**
 * Runs `work` with a registry of clean-up functions, which run after it, the last first, even when one fails. Throws the error
 * of `work`, else that of the first failed clean-up.
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
