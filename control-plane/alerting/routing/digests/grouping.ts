/** Changes count together for so long. */
export const STORM_WINDOW_MS = 60_000

/** A digest waits so long for company. */
const DIGEST_DELAY_MS = 10_000

/** Between one digest of a channel and the next. */
const DIGEST_INTERVAL_MS = 60_000

export const DEFAULT_DIGEST_SETTINGS = { isDigestEnabled: true, digestThreshold: 10 }

/** `subject`: what it keeps its order with. `monitorId`: whose outage it is about; null: nobody counts it. */
export type GroupableChange = { channelId: string; subject: string; monitorId: string | null }

/** A channel that may get digests. `threshold`: of how many changing monitors in a minute it is told one by one. */
export type GroupableChannel = { channelId: string; projectId: string; threshold: number }

/** The channel's share of what is to be told. `subjects` and `monitorIds`: what it is about, each once. */
export type ChannelShare<C extends GroupableChange = GroupableChange> = GroupableChannel & {
  changes: C[]
  subjects: string[]
  monitorIds: string[]
}

/** What is to be told to each of these channels; of the others nothing is said. */
export function groupByChannel<C extends GroupableChange>(
  changes: C[],
  channels: GroupableChannel[],
): ChannelShare<C>[] {
  const byChannel = new Map<string, C[]>(channels.map(channel => [channel.channelId, []]))
  for (const change of changes) byChannel.get(change.channelId)?.push(change)
  return channels.map(channel => {
    const mine = byChannel.get(channel.channelId)!
    return {
      ...channel,
      changes: mine,
      subjects: [...new Set(mine.map(({ subject }) => subject))],
      monitorIds: [...new Set(mine.flatMap(({ monitorId }) => monitorId ?? []))],
    }
  })
}

/** True when so many monitors change that a digest tells of them. `others`: those told of in the last minute. */
export const isStorm = (share: ChannelShare, others: number): boolean =>
  share.monitorIds.length + others > share.threshold

/**
 * The changes that go into the channel's digest. A subject stays where an earlier change of it still waits, so that none
 * overtakes another. `waitElsewhere`: in a storm the subjects that wait to be told of singly, else those in a digest.
 */
export function selectDigestChanges<C extends GroupableChange>(
  share: ChannelShare<C>,
  isStormy: boolean,
  waitElsewhere: ReadonlySet<string>,
): C[] {
  return share.changes.filter(change => isStormy !== waitElsewhere.has(change.subject))
}

/** When a digest that is opened now is to be sent. `lastClosedAt`: when the channel's last one was, null: never. */
export function computeDigestDueAt(now: Date, lastClosedAt: Date | null): Date {
  // the one before may be from the future of a clock that was set back since
  const next = lastClosedAt === null ? 0 : Math.min(lastClosedAt.getTime(), now.getTime()) + DIGEST_INTERVAL_MS
  return new Date(Math.max(now.getTime() + DIGEST_DELAY_MS, next))
}
