/** Messages with sample data, by the renderers that make the messages that are sent. Pure. */
import { buildDiscordLayout } from '../../../../alerting/channels/kinds/discord.ts'
import { buildSlackLayout } from '../../../../alerting/channels/kinds/slack-layout.ts'
import { buildTeamsLayout } from '../../../../alerting/channels/kinds/teams.ts'
import { type ChangeLine, toChangeLines, toDigestNotice } from '../../../../alerting/channels/notices/digest-notice.ts'
import { toIncidentNotice } from '../../../../alerting/channels/notices/incident-notice.ts'
import { toMonitorNotice } from '../../../../alerting/channels/notices/monitor-notice.ts'
import { limitNotice, type NoticeContent } from '../../../../alerting/channels/notices/notice-content.ts'
import { toVendorContent } from '../../../../alerting/channels/notices/vendor-content.ts'
import type { RenderContext } from '../../../../alerting/channels/types.ts'
import { DIGEST_EVENT } from '../../../../alerting/events/digest.ts'
import type { Envelope } from '../../../../alerting/events/envelope.ts'
import { buildSampleDigest, buildSampleEnvelope, type PreviewName } from './sample-events.ts'

/** What a channel of any kind makes its message of. `envelope`: what a webhook receives; null for a digest, which it never does. */
export type SampleMessage = {
  envelope: Envelope | null
  notice: NoticeContent
  changes: ChangeLine[]
}

/** The message about an event with sample data. `publicUrl`: the origin of links. */
export function buildSampleMessage(name: PreviewName, publicUrl: string, nowMs: number): SampleMessage {
  if (name === DIGEST_EVENT) {
    const digest = buildSampleDigest(publicUrl, nowMs)
    return { envelope: null, notice: toDigestNotice(digest), changes: toChangeLines(digest, 50).lines }
  }
  const isReminder = name === 'reminder'
  const envelope = buildSampleEnvelope(isReminder ? 'monitor.down' : name, publicUrl, nowMs)
  const reminder = isReminder ? { number: 2, downFor: '1 hour 4 minutes' } : null
  return { envelope, notice: limitNotice(toSampleNotice(envelope, { publicUrl, reminder })), changes: [] }
}

function toSampleNotice(envelope: Envelope, context: RenderContext): NoticeContent {
  if (envelope.event.startsWith('monitor.')) return toMonitorNotice(envelope as never, context)
  if (envelope.event.startsWith('incident.')) return toIncidentNotice(envelope as never, context)
  // the topic of a vendor is not shown in any message
  return { ...toVendorContent(envelope as never), topic: 'vendor:example' }
}

/** The JSON that a kind of chat receives. */
export const LAYOUTS = {
  chat_a: buildSlackLayout,
  chat_b: buildDiscordLayout,
  chat_c: buildTeamsLayout,
} as const
