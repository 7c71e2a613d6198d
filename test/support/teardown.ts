/** The part of a tap test that the support files need: where to put what has to be undone. */
export type Teardown = { teardown(undo: () => unknown): void }

/**
 * Runs `work` with a place to leave what has to be undone after it, last first, each even when another fails. Throws
 * what `work` throws, else what the first undoing throws.
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
