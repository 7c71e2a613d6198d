import { canWrite, useFrame } from '../core/frame-context.ts'
import type { OperationResponse } from '../core/operations.ts'
import type { Result } from '../core/screen.ts'

/**
 * Says that no alerts are sent: there is no channel, or all of them are paused. Nothing while channels are not known, or when
 * the list is longer than its page and so may contain one that works.
 */
export function NoChannel({ channels }: { channels: Result<OperationResponse<'listAlertChannels'>> }) {
  const { me } = useFrame()
  const list = channels.data
  if (list === null || list.meta.total > list.data.length || list.data.some(({ is_paused }) => !is_paused)) return null
  const isEmpty = list.data.length === 0
  return (
    <p class="banner" role="status">
      {isEmpty ? 'No alerts are sent: there is no alert channel. ' : 'No alerts are sent: every channel is paused. '}
      {canWrite(me) && isEmpty && <a href="/settings/channels/new">Add a channel</a>}
      {!isEmpty && <a href="/settings/channels">Open the channels</a>}
    </p>
  )
}
