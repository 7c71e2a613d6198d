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
  const ruleCount = countOwn(rules?.data, id, 'alert rule')
  const subscriptionCount = countOwn(subscriptions?.data, id, 'subscription')
  const overrideCount = countOwn(dependencies?.data, id, 'override', dependency => dependency.overrides)
  const recordCount = deliveries?.data ? formatCount(deliveries.data.meta.total, 'record') : 'records'
  return `Its ${ruleCount}, ${subscriptionCount}, ${overrideCount} of dependencies and ${recordCount} of the log are deleted too. This cannot be undone.`
}

type Own = { alert_channel_id: string }
type ReadList<T> = { data: readonly T[]; meta: { total: number } } | null | undefined

/** Counts what belongs to the channel. `listOwn`: the parts of a record that can belong to it. */
function countOwn<T extends Own>(list: ReadList<T>, id: string, noun: string): string
function countOwn<T>(list: ReadList<T>, id: string, noun: string, listOwn: (record: T) => readonly Own[]): string
function countOwn<T>(
  list: ReadList<T>,
  id: string,
  noun: string,
  listOwn = (record: T) => [record as Own] as readonly Own[],
): string {
  if (!list) return `${noun}s`
  const count = formatCount(list.data.flatMap(listOwn).filter(one => one.alert_channel_id === id).length, noun)
  return list.meta.total > list.data.length ? `at least ${count}` : count
}
