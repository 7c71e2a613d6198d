/** The owner of a partition. `isLive`: its lease has not ended. */
export type PartitionLease = { id: number; owner: string | null; epoch: number; isLive: boolean }

/**
 * The partitions that `me` should take now: free ones up to its share; then, one by one, those of a process that has at
 * least two more than `me`. A difference of one stays, so that partitions do not move back and forth.
 */
export function selectPartitionsToTake(holdings: PartitionLease[], me: string): number[] {
  const byOwner = new Map<string, number[]>([[me, []]])
  for (const { id, owner, isLive } of holdings) {
    if (owner === null || !isLive) continue
    byOwner.set(owner, [...(byOwner.get(owner) ?? []), id])
  }
  const mine = byOwner.get(me)!
  const share = Math.ceil(holdings.length / byOwner.size)
  const free = holdings.filter(holding => holding.owner === null || !holding.isLive).map(holding => holding.id)
  const taken = free.slice(0, Math.max(0, share - mine.length))
  if (taken.length < free.length) return taken

  for (;;) {
    const largest = [...byOwner.values()].reduce((most, held) => (held.length > most.length ? held : most))
    if (largest === mine || largest.length - mine.length - taken.length < 2) return taken
    taken.push(largest.pop()!)
  }
}
