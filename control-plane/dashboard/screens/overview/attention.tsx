import type { ComponentChildren } from 'preact'
import type { BoardSelection } from '../../core/board/board.ts'
import { formatCount } from '../../core/format.ts'
import type { OperationResponse } from '../../core/operations.ts'
import type { Result } from '../../core/screen.ts'
import { Failure } from '../../parts/layout/states.tsx'

type Parts = {
  channels: Result<OperationResponse<'listAlertChannels'>>
  undelivered: Result<OperationResponse<'listAlertLog'>>
  regions: Result<OperationResponse<'listRegions'>>
  board: Result<BoardSelection>
}

/** What a person has to do, because alerts would not arrive or monitors are not checked. Empty when there is nothing. */
export function Attention({ channels, undelivered, regions, board }: Parts) {
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
  for (const { region, is_live: isLive } of regions.data?.data ?? []) {
    const count = board.data?.regions[region] ?? 0
    if (isLive || count === 0) continue
    items.push(
      <>
        No probe is live in {region}: {formatCount(count, 'monitor')} cannot be checked there.
      </>,
    )
  }
  const { rows, total } = board.data?.issues ?? { rows: [], total: 0 }
  for (const { id, name, issue } of rows)
    items.push(
      <>
        <a href={`/monitors/${id}`} dir="auto">
          {name}
        </a>
        : <bdi>{issue}</bdi>
      </>,
    )
  if (total > rows.length)
    items.push(<>{formatCount(total - rows.length, 'other monitor')} cannot be checked either.</>)
  return (
    <>
      <Failure result={channels} what="Paused channels" />
      <Failure result={undelivered} what="Alerts that were not delivered" />
      <Failure result={regions} what="Regions without a probe" />
      {items.length > 0 && (
        <ul class="banner attention" aria-label="Needs attention">
          {items.map((item, i) => (
            <li key={i}>{item}</li>
          ))}
        </ul>
      )}
    </>
  )
}
