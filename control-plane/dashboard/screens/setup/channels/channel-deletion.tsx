import { formatCount } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse } from '../../../core/operations.ts'
import type { Result } from '../../../core/screen.ts'
import { DeleteForm } from '../../../parts/forms/delete-form.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import type { ChannelRecord } from './channel-form.ts'

/** What is deleted with a channel, as far as it was read. Rules and subscriptions: of all channels. */
type ChannelReferences = {
  rules: Result<OperationResponse<'listAlertRules'>>
  subscriptions: Result<OperationResponse<'listAlertProjectChannels'>>
  deliveries: Result<OperationResponse<'listAlertLog'>>
}

/** Deletes a channel, after what goes with it was shown. */
export function DeleteChannel({ channel, references }: { channel: ChannelRecord; references: ChannelReferences }) {
  const { navigate } = useFrame()
  return (
    <Section id="delete" title="Delete">
      <DeleteForm
        what="channel"
        name={channel.name}
        consequences={describeChannelDeletion(channel.id, references)}
        call={call('deleteAlertChannel', { path: { id: channel.id } })}
        onDone={() => navigate('/settings/channels')}
      />
    </Section>
  )
}

/** `Its 2 alert rules, 1 subscription and 60 records of the log are deleted too.` Lists that have more pages say "at least". */
function describeChannelDeletion(id: string, { rules, subscriptions, deliveries }: ChannelReferences): string {
  const ruleCount = countOwn(rules.data, id, 'alert rule')
  const subscriptionCount = countOwn(subscriptions.data, id, 'subscription')
  const recordCount = deliveries.data ? formatCount(deliveries.data.meta.total, 'record') : 'records'
  return `Its ${ruleCount}, ${subscriptionCount} and ${recordCount} of the log are deleted too. This cannot be undone.`
}

type OwnList = { data: readonly { alert_channel_id: string }[]; meta: { total: number } } | null

function countOwn(list: OwnList, id: string, noun: string): string {
  if (list === null) return `${noun}s`
  const count = formatCount(list.data.filter(one => one.alert_channel_id === id).length, noun)
  return list.meta.total > list.data.length ? `at least ${count}` : count
}
