import type { PageMessage, SubscriberKind } from '../channels/subscriber-types.ts'
import type { ChannelKind, Digest, Message, RenderContext } from '../channels/types.ts'
import { DIGEST, type DigestData } from '../events/digest.ts'
import { humanDuration } from '../events/duration.ts'
import { toEnvelope } from '../events/envelope.ts'
import { isPageEvent, type PageChange, type PageEventName } from '../events/page-event.ts'
import type { Head } from './lane-store.ts'

type ToldToPage = { eventName: PageEventName }
/** What an alert channel is sent. */
export type ChannelHead = Exclude<Head, ToldToPage>
type PageHead = Extract<Head, ToldToPage>

/** True for what a subscriber of a status page is sent. */
export const isForPage = (head: Head): head is PageHead => isPageEvent(head.eventName)

/** What a delivery becomes for a config of its subscriber, who hears of no more than they chose. */
export function pageRendererOf(
  head: PageHead,
  kind: SubscriberKind<Record<string, unknown>>,
  publicUrl: string,
  now: Date,
): (config: Record<string, unknown>) => Message {
  const { id: deliveryId, subscriberId, componentIds, eventName: name, eventData: data } = head
  const chosen = 'changes' in data ? { ...data, changes: data.changes.filter(isChosen(componentIds)) } : data
  const message = { deliveryId, at: now.toISOString(), name, data: chosen } as PageMessage
  return config => kind.render(message, subscriberId ?? '', config, { publicUrl, reminder: null })
}

const isChosen =
  (componentIds: string[] | null) =>
  ({ components }: PageChange) =>
    componentIds === null || components.length === 0 || components.some(({ id }) => componentIds.includes(id))

/** What a delivery becomes for a config of its channel: the event in its envelope, or the digest. */
export function rendererOf(
  head: ChannelHead,
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
function reminderOf({ reminder, eventData, createdAt }: ChannelHead): RenderContext['reminder'] {
  if (reminder === null || !('incident' in eventData) || !eventData.incident) return null
  if (!('started_at' in eventData.incident)) return null
  const sinceMs = new Date(eventData.incident.started_at).getTime()
  return { number: reminder, downFor: humanDuration(createdAt.getTime() - sinceMs) }
}

/** More of one monitor are counted, not named. */
const MOST_NAMED = 3

function toDigest(deliveryId: string, { project_name, changes }: DigestData, publicUrl: string): Digest {
  const times = changes.map(change => change.at).sort()
  const byMonitor = new Map<string, Told[]>()
  for (const change of changes) {
    const told = byMonitor.get(change.monitor_id) ?? []
    if (!isRepeated(change, told.at(-1))) byMonitor.set(change.monitor_id, [...told, change])
  }
  return {
    deliveryId,
    projectName: project_name,
    from: times[0] ?? '',
    to: times.at(-1) ?? '',
    changes: [...byMonitor.values()].map(toChange),
    dashboardUrl: `${publicUrl}/`,
  }
}

type Told = DigestData['changes'][number]

/** A monitor that goes down and its incident are one outage, and so are their ends. */
const isRepeated = (change: Told, before: Told | undefined) =>
  change.reminder === null && change.status === before?.status

/** What a digest tells of one monitor: all of it, in its order. */
function toChange(told: Told[]): Digest['changes'][number] {
  const { name, status, at, url } = told.at(-1)!
  const words = told.length > MOST_NAMED ? `${status} after ${told.length} changes` : told.map(wordsOf).join(', then ')
  return { name, status, words, at, url }
}

const wordsOf = ({ status, reminder }: Told) => (reminder === null ? status : `still ${status} (reminder ${reminder})`)
