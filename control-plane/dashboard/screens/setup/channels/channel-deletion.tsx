import { formatCount } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { call, read } from '../../../core/operations.ts'
import type { Results } from '../../../core/screen.ts'
import { DeleteForm } from '../../../parts/forms/delete-form.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import type { ChannelRecord } from './channel-form.ts'

/** Reads what is deleted with a channel. Only the deliveries are those of the channel. */
export const buildReferenceReads = (id: string) => ({
  rules: read('listAlertRules', { query: { per_page: 100 } }),
  subscriptions: read('listAlertProjectChannels', { query: { per_page: 100 } }),
  dependencies: read('listDependencies', { query: { per_page: 100 } }),
  deliveries: read('listAlertLog', { query: { alert_channel_id: id, per_page: 1 } }),
})

type ChannelReferences = Partial<Results<ReturnType<typeof buildReferenceReads>>>

/** The form that deletes a channel. It lists first what is deleted with it. */
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

/** `Its 2 alert rules, 1 subscription, 1 override of dependencies and 60 records of the log are deleted too.` Lists that have more pages say "at least". */
function describeChannelDeletion(id: string, references: ChannelReferences): string {
  const { rules, subscriptions, dependencies, deliveries } = references
  const isOwn = (one: { alert_channel_id: string }) => one.alert_channel_id === id
  const ruleCount = countParts(rules?.data, 'alert rule', rule => Number(isOwn(rule)))
  const subscriptionCount = countParts(subscriptions?.data, 'subscription', one => Number(isOwn(one)))
  const overrideCount = countParts(dependencies?.data, 'override', one => one.overrides.filter(isOwn).length)
  const recordCount = deliveries?.data ? formatCount(deliveries.data.meta.total, 'record') : 'records'
  return `Its ${ruleCount}, ${subscriptionCount}, ${overrideCount} of dependencies and ${recordCount} of the log are deleted too. This cannot be undone.`
}

type RecordList<T> = { data: readonly T[]; meta: { total: number } }

/** `2 alert rules`, or `at least 2 alert rules` when the list has more pages; without a list `alert rules`. `count`: those of one record. */
function countParts<T>(list: RecordList<T> | null | undefined, noun: string, count: (record: T) => number): string {
  if (!list) return `${noun}s`
  const counted = list.data.reduce((sum, record) => sum + count(record), 0)
  return `${list.meta.total > list.data.length ? 'at least ' : ''}${formatCount(counted, noun)}`
}
