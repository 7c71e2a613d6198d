import type { ComponentChildren } from 'preact'
import type { Explanation } from '../../../../verdict/core/types.ts'
import { formatCount, formatMs, formatTime } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { ExplanationPanel } from '../../../parts/explanation.tsx'
import { Moment } from '../../../parts/moment.tsx'
import { Shape, type ShownStatus } from '../../../parts/status.tsx'
import { DeliveryState, nameEvent } from '../../alerts/delivery-words.tsx'
import { WithheldReason } from '../../alerts/withheld-reason.tsx'
import { type Incident, type Members, namePerson, SEVERITY_NAMES, STATUS_NAMES } from '../incident-words.tsx'
import {
  buildAxisRows,
  findOpening,
  formatOffset,
  type Timeline,
  type TimelineEntry,
  type TimelineRow,
} from './axis.ts'
import { CheckDots } from './check-dots.tsx'

type Names = { monitors: Map<string, string>; members: Members; openingId: string | null }

/** What happened around an incident, from the first failed check to the recovery, on one vertical axis. */
export function AxisList({
  timeline,
  incident,
  members,
}: {
  timeline: Pick<Timeline, 'items'>
  incident: Incident
  members: Members
}) {
  const { timeZone } = useFrame()
  const monitors = new Map(incident.monitors.map(({ id, name }) => [id, name]))
  const openingId = findOpening(timeline, incident.started_at)?.transition_id ?? null
  const names = { members, monitors, openingId }
  const startMs = Date.parse(incident.started_at)
  let day = ''
  return (
    <ol class="axis">
      {buildAxisRows(timeline).map((row, i) => {
        const rowDay = formatTime(row.at, timeZone, 'date')
        const isNewDay = rowDay !== day
        day = rowDay
        return (
          <li key={i} class={row.kind}>
            <div class="when">
              {isNewDay && <span class="day">{rowDay}</span>}
              <Moment at={row.at} part="time" />
              <span class="soft">{formatOffset(Date.parse(row.at) - startMs)}</span>
            </div>
            <span class={`node ${findShape(row)}`}>
              <Shape status={findShape(row)} />
            </span>
            <div class="what">
              <RowContent row={row} names={names} />
            </div>
          </li>
        )
      })}
    </ol>
  )
}

function findShape(row: TimelineRow): ShownStatus {
  switch (row.kind) {
    case 'transition':
      return row.to ?? 'unknown'
    case 'incident_opened':
    case 'vendor_incident':
      return 'degraded'
    case 'delivery':
      return row.status === 'delivered' ? 'up' : row.status === 'pending' ? 'unknown' : 'down'
    case 'maintenance':
    case 'silence':
    case 'withheld_alert':
      return 'paused'
    case 'checks':
      return 'unknown'
    default:
      return 'up'
  }
}

function RowContent({ row, names }: { row: TimelineRow; names: Names }): ComponentChildren {
  const { me } = useFrame()
  switch (row.kind) {
    case 'checks':
      return <CheckDots group={row} />
    case 'transition':
      return <Transition item={row} names={names} />
    case 'incident_opened':
      return (
        <p>
          <strong>Incident opened</strong>, {SEVERITY_NAMES[row.severity].toLowerCase()},{' '}
          {row.source === 'automatic' ? 'automatically' : 'by hand'}
        </p>
      )
    case 'incident_acknowledged':
      return (
        <p>
          <strong>Acknowledged</strong> by {namePerson(row.user_id, me, names.members)}
        </p>
      )
    case 'incident_resolved':
      return (
        <p>
          <strong class="recovered">Resolved</strong>
        </p>
      )
    case 'incident_updated':
      return <Update item={row} members={names.members} />
    case 'delivery':
      return <Delivery item={row} />
    case 'withheld_alert':
      return <Withheld item={row} />
    default:
      return <Context row={row} monitors={names.monitors} />
  }
}

const STATUS_CLASSES = { down: 'down', degraded: 'degraded', up: 'recovered' }

function Transition({ item, names }: { item: TimelineEntry<'transition'>; names: Names }) {
  const { to, summary, explanation, monitor_id: monitorId } = item
  const isExplained = explanation !== null && 'votes' in explanation
  return (
    <>
      <p>
        <a href={`/monitors/${monitorId}`} dir="auto">
          {names.monitors.get(monitorId) ?? 'The monitor'}
        </a>{' '}
        <strong class={to ? STATUS_CLASSES[to] : undefined}>{to === null ? 'has no status' : `is ${to}`}</strong>
      </p>
      <p class="soft" dir="auto">
        {summary}
      </p>
      {isExplained && (
        <details open={item.transition_id === names.openingId}>
          <summary>Why, by region</summary>
          <ExplanationPanel explanation={explanation as unknown as Explanation} />
        </details>
      )}
    </>
  )
}

function Update({ item, members }: { item: TimelineEntry<'incident_updated'>; members: Members }) {
  const { me } = useFrame()
  const { status, message, is_internal: isInternal, author_id: authorId } = item
  return (
    <>
      <p>
        <strong class={status === 'resolved' ? 'recovered' : undefined}>{STATUS_NAMES[status]}</strong>{' '}
        <span class="soft" dir="auto">
          {authorId === null ? 'by the system' : `by ${namePerson(authorId, me, members)}`}
        </span>{' '}
        <span class="tag">{isInternal ? 'internal' : 'public'}</span>
      </p>
      <p class="message" dir="auto">
        {message}
      </p>
    </>
  )
}

function Delivery({ item }: { item: TimelineEntry<'delivery'> }) {
  const { delivery_id: id, event, channel_name: channel, status, attempts, at, received_at: receivedAt } = item
  const code = item.response_code === null ? null : String(item.response_code)
  const took = receivedAt === null ? null : `after ${formatMs(Date.parse(receivedAt) - Date.parse(at))}`
  return (
    <p>
      <span dir="auto">{channel}</span> <span class="soft">{nameEvent(event).toLowerCase()}</span>{' '}
      <DeliveryState status={status} />{' '}
      <span class="soft">
        {[code, took, attempts > 1 && formatCount(attempts, 'attempt')].filter(Boolean).join(', ')}
      </span>{' '}
      <a href={`/log/${id}`}>
        Receipt
        <span class="hidden">
          {' '}
          of {nameEvent(event)} to <bdi>{channel}</bdi>
        </span>
      </a>
    </p>
  )
}

const Withheld = ({ item }: { item: TimelineEntry<'withheld_alert'> }) => (
  <p>
    {nameEvent(item.event)} {item.is_waiting && <strong>not sent: </strong>}
    <WithheldReason alert={item} />
    <span class="soft"> · {describeWait(item)}</span>
  </p>
)

/** What was sent later with others, or so long ago that its delivery was deleted, has none of its own either. */
function describeWait({ is_waiting, until }: TimelineEntry<'withheld_alert'>): string {
  if (!is_waiting) return 'It has no delivery of its own.'
  return until === null ? 'It waits.' : 'It waits until then.'
}

const MAX_FIELDS = 5

const formatFields = (names: string[]): string =>
  [...names.slice(0, MAX_FIELDS), ...(names.length > MAX_FIELDS ? [`${names.length - MAX_FIELDS} more`] : [])].join(
    ', ',
  )

/** What else happened at that time and may be the cause. */
function Context({
  row,
  monitors,
}: {
  row:
    | TimelineEntry<'maintenance'>
    | TimelineEntry<'silence'>
    | TimelineEntry<'vendor_incident'>
    | TimelineEntry<'change'>
  monitors: Map<string, string>
}) {
  if (row.kind === 'maintenance') {
    return (
      <p>
        Maintenance <strong dir="auto">{row.name ?? 'of a window that was deleted'}</strong> of{' '}
        <span dir="auto">{monitors.get(row.monitor_id) ?? 'a monitor'}</span> until <Moment at={row.ends_at} />
      </p>
    )
  }
  if (row.kind === 'silence') {
    return (
      <p>
        Alerts of <span dir="auto">{monitors.get(row.monitor_id) ?? 'a monitor'}</span> silenced until{' '}
        <Moment at={row.ends_at} />
        {row.reason !== null && (
          <span class="soft">
            : <bdi>{row.reason}</bdi>
          </span>
        )}
      </p>
    )
  }
  if (row.kind === 'vendor_incident') {
    return (
      <p>
        <strong dir="auto">{row.name}</strong> reports{' '}
        <a href={row.source_url} dir="auto" rel="noreferrer">
          {row.title}
        </a>{' '}
        <span class="soft">{row.severity}</span>
      </p>
    )
  }
  const { actor, action, resource_name: name, changes } = row.entry
  const fields = action === 'updated' ? formatFields(Object.keys(changes)) : ''
  return (
    <p>
      <span dir="auto">{name ?? 'The monitor'}</span> was {action} by <span dir="auto">{actor.name}</span>
      {fields !== '' && (
        <span class="soft">
          : <bdi>{fields}</bdi>
        </span>
      )}
    </p>
  )
}
