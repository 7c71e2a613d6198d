import type { ChannelKind, Digest, Message, RenderContext } from '../channels/types.ts'
import { DIGEST, type DigestData } from '../events/digest.ts'
import { humanDuration } from '../events/duration.ts'
import { toEnvelope } from '../events/envelope.ts'
import type { Head } from './lane-store.ts'

/** What a delivery becomes for a config of its channel: the event in its envelope, or the digest. */
export function rendererOf(
  head: Head,
  kind: ChannelKind,
  publicUrl: string,
  now: Date,
): (config: Record<string, unknown>) => Message {
  const context = { publicUrl, reminder: reminderOf(head) }
  if (head.eventName === DIGEST) {
    const { renderDigest } = kind
    if (!renderDigest) throw new Error(`channels of type ${head.channelType} take no digests`)
    const digest = toDigest(head.id, head.eventData, publicUrl)
    return config => renderDigest(digest, config, context)
  }
  const envelope = toEnvelope({ name: head.eventName, data: head.eventData }, head.id, now)
  return config => kind.render(envelope, config, context)
}

/** An outage lasts since its incident began. */
function reminderOf({ reminder, eventData, createdAt }: Head): RenderContext['reminder'] {
  if (reminder === null || !('incident' in eventData) || !eventData.incident) return null
  if (!('started_at' in eventData.incident)) return null
  const sinceMs = new Date(eventData.incident.started_at).getTime()
  return { number: reminder, downFor: humanDuration(createdAt.getTime() - sinceMs) }
}

function toDigest(deliveryId: string, { project_name, changes }: DigestData, publicUrl: string): Digest {
  const times = changes.map(change => change.at).sort()
  return {
    deliveryId,
    projectName: project_name,
    from: times[0] ?? '',
    to: times.at(-1) ?? '',
    changes: changes.map(({ name, status, at, url }) => ({ name, status, at, url })),
    dashboardUrl: `${publicUrl}/`,
  }
}
