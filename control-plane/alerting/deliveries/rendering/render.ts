import type { PageMessage, SubscriberChannelKind } from '../../channels/subscribers/subscriber-types.ts'
import type { ChannelKind, ChannelMessage, Digest, RenderContext } from '../../channels/types.ts'
import { DIGEST_EVENT, type DigestData } from '../../events/digest.ts'
import { formatDuration } from '../../events/duration.ts'
import { buildEnvelope } from '../../events/envelope.ts'
import { isPageEvent, type PageChange, type PageEventName } from '../../events/page-event.ts'
import type { QueuedDelivery } from '../queue/lane-store.ts'

type PageEventPart = { eventName: PageEventName }
/** A delivery to an alert channel. */
export type ChannelDelivery = Exclude<QueuedDelivery, PageEventPart>
type PageDelivery = Extract<QueuedDelivery, PageEventPart>

/** True for a delivery to a subscriber of a status page. */
export const isPageDelivery = (head: QueuedDelivery): head is PageDelivery => isPageEvent(head.eventName)

/** Renders a delivery for the config of its subscriber, with the changes of the selected components only. */
export function createPageRenderer(
  head: PageDelivery,
  kind: SubscriberChannelKind<Record<string, unknown>>,
  publicUrl: string,
  now: Date,
): (config: Record<string, unknown>) => ChannelMessage {
  const { id: deliveryId, subscriberId, componentIds, eventName: name, eventData: data } = head
  const chosen = 'changes' in data ? { ...data, changes: data.changes.filter(isChosen(componentIds)) } : data
  const message = { deliveryId, at: now.toISOString(), name, data: chosen } as PageMessage
  return config => kind.render(message, subscriberId ?? '', config, { publicUrl, reminder: null })
}

/** True for a notice without a change of the components that its subscriber follows now: the choice was changed while it waited. */
export const isUnwanted = (head: QueuedDelivery): boolean =>
  isPageDelivery(head) && 'changes' in head.eventData && !head.eventData.changes.some(isChosen(head.componentIds))

const isChosen =
  (componentIds: string[] | null) =>
  ({ components }: PageChange) =>
    componentIds === null || components.length === 0 || components.some(({ id }) => componentIds.includes(id))

/** Renders a delivery for the config of its channel: the event in its envelope, or the digest. */
export function createChannelRenderer(
  head: ChannelDelivery,
  kind: ChannelKind,
  publicUrl: string,
  now: Date,
): (config: Record<string, unknown>) => ChannelMessage {
  const context = { publicUrl, reminder: buildReminder(head) }
  if (head.eventName === DIGEST_EVENT) {
    const { renderDigest } = kind
    if (!renderDigest) throw new Error(`channels of type ${head.channelType} do not support digests`)
    const digest = toDigest(head.id, head.eventData, publicUrl)
    return config => renderDigest(digest, config, context)
  }
  const envelope = buildEnvelope({ name: head.eventName, data: head.eventData }, head.id, now)
  return config => kind.render(envelope, config, context)
}

/** The duration of the outage counts from the start of its incident. */
function buildReminder({ reminder, eventData, createdAt }: ChannelDelivery): RenderContext['reminder'] {
  if (reminder === null || !('incident' in eventData) || !eventData.incident) return null
  if (!('started_at' in eventData.incident)) return null
  const sinceMs = new Date(eventData.incident.started_at).getTime()
  return { number: reminder, downFor: formatDuration(createdAt.getTime() - sinceMs) }
}

/** More changes of one monitor are counted instead of listed. */
const MAX_NAMED_CHANGES = 3

function toDigest(deliveryId: string, { project_name, changes }: DigestData, publicUrl: string): Digest {
  const times = changes.map(change => change.at).sort()
  const byMonitor = new Map<string, DigestEntry[]>()
  for (const change of changes) {
    const listed = byMonitor.get(change.monitor_id) ?? []
    if (!isRepeated(change, listed.at(-1))) byMonitor.set(change.monitor_id, [...listed, change])
  }
  return {
    deliveryId,
    projectName: project_name,
    from: times[0] ?? '',
    to: times.at(-1) ?? '',
    changes: [...byMonitor.values()].map(summarizeChanges),
    dashboardUrl: `${publicUrl}/`,
  }
}

type DigestEntry = DigestData['changes'][number]

/** A monitor that goes down and its incident are one outage, and so are the recovery and the resolution. */
const isRepeated = (change: DigestEntry, before: DigestEntry | undefined) =>
  change.reminder === null && change.status === before?.status

/** The line of one monitor in a digest: its changes in order. */
function summarizeChanges(entries: DigestEntry[]): Digest['changes'][number] {
  const { name, status, at, url } = entries.at(-1)!
  const words =
    entries.length > MAX_NAMED_CHANGES
      ? `${status} after ${entries.length} changes`
      : entries.map(formatChange).join(', then ')
  return { name, status, words, at, url }
}

const formatChange = ({ status, reminder }: DigestEntry) =>
  reminder === null ? status : `still ${status} (reminder ${reminder})`
