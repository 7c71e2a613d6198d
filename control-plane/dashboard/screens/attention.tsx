import type { ComponentChildren } from 'preact'
import { formatCount } from '../core/format.ts'
import type { OperationResponse } from '../core/operations.ts'
import type { Result } from '../core/screen.ts'

type Parts = {
  channels: Result<OperationResponse<'listAlertChannels'>>
  undelivered: Result<OperationResponse<'listAlertLog'>>
  issues: Result<OperationResponse<'listMonitors'>>
}

/** What a person has to do, because alerts would not arrive or monitors are not checked. Empty when there is nothing. */
export function Attention({ channels, undelivered, issues }: Parts) {
  const items: ComponentChildren[] = []
  const paused = channels.data?.data.filter(channel => channel.is_paused) ?? []
  for (const channel of paused)
    items.push(
      <>
        The channel{' '}
        <a href={`/settings/channels/${channel.id}`} dir="auto">
          {channel.name}
        </a>{' '}
        is paused: <bdi>{channel.paused_reason}</bdi>
      </>,
    )
  const lost = undelivered.data?.meta.total ?? 0
  if (lost > 0)
    items.push(
      <>
        {formatCount(lost, 'alert')} could not be delivered. <a href="/log?status=failed,dead">Show them</a>
      </>,
    )
  for (const monitor of issues.data?.data ?? [])
    items.push(
      <>
        <a href={`/monitors/${monitor.id}`} dir="auto">
          {monitor.name}
        </a>
        : <bdi>{monitor.configuration_issues[0]}</bdi>
      </>,
    )
  if (items.length === 0) return null
  return (
    <ul class="banner attention" aria-label="Needs attention">
      {items.map((item, i) => (
        <li key={i}>{item}</li>
      ))}
    </ul>
  )
}
