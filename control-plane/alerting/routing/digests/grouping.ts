/** The time in which changes count together. */
export const STORM_WINDOW_MS = 60_000

/** How long a digest waits for more changes. */
const DIGEST_DELAY_MS = 10_000

/** The least time between two digests of a channel. */
const DIGEST_INTERVAL_MS = 60_000

export const DEFAULT_DIGEST_SETTINGS = { isDigestEnabled: true, digestThreshold: 10 }

/** `subject`: its lane. `monitorId`: the monitor that it counts for; null: it is not counted. */
type GroupableChange = { channelId: string; subject: string; monitorId: string | null }

/** A channel that supports digests. `threshold`: up to this number of changing monitors in a minute, events are sent singly. */
export type GroupableChannel = { channelId: string; projectId: string; threshold: number }

/** The changes for one channel. `subjects` and `monitorIds` contain each value once. */
export type ChannelShare<C extends GroupableChange = GroupableChange> = GroupableChannel & {
  changes: C[]
  subjects: string[]
  monitorIds: string[]
}

/** The changes for each of these channels. Changes for other channels are ignored. */
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

/** True when more monitors than the threshold change. `others`: how many other monitors the channel was notified of in the last minute. */
export const isStorm = (share: ChannelShare, others: number): boolean =>
  share.monitorIds.length + others > share.threshold

/**
 * The changes that go into the channel's digest. A change goes where an earlier change of its subject still waits, so that
 * none overtakes another. `waitElsewhere`: in a storm the subjects with deliveries that wait singly, else those in a digest.
 */
export function selectDigestChanges<C extends GroupableChange>(
  share: ChannelShare<C>,
  isStormy: boolean,
  waitElsewhere: ReadonlySet<string>,
): C[] {
  return share.changes.filter(change => isStormy !== waitElsewhere.has(change.subject))
}

/** When a digest that is opened now is sent. `lastClosedAt`: when the channel's last one was closed; null: never. */
export function computeDigestDueAt(now: Date, lastClosedAt: Date | null): Date {
  // the previous one may be in the future, when the clock was set back since
  const next = lastClosedAt === null ? 0 : Math.min(lastClosedAt.getTime(), now.getTime()) + DIGEST_INTERVAL_MS
  return new Date(Math.max(now.getTime() + DIGEST_DELAY_MS, next))
}
