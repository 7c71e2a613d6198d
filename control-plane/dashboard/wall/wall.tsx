import { useMemo } from 'preact/hooks'
import { formatCount, formatDuration, formatNumber, formatTime } from '../core/format.ts'
import type { WallData } from './wall-data.ts'
import { layoutTiles, layoutWall } from './wall-layout.ts'

/** The place for the bars and the size of the window, in pixels. */
export type WallBounds = { width: number; height: number; windowWidth: number; windowHeight: number }

/** Of a television, until the browser has measured. */
export const DEFAULT_SIZE: WallBounds = { width: 1_840, height: 800, windowWidth: 1_920, windowHeight: 1_080 }

/** A screen that reads every 15 seconds has missed three reads then. */
const OLD_MS = 45_000

type WallProps = {
  data: WallData
  nowMs: number
  timeZone: string
  /** how old the data are */
  ageMs: number
  size: WallBounds
}

/** All monitors of a link on one screen. Pure: the server renders it, and the browser takes over the same elements. */
export function Wall({ data, nowMs, timeZone, ageMs, size }: WallProps) {
  const { name, groups, troubles, unreadSince } = data
  const { columns, shown } = layoutTiles(troubles.length, size.windowWidth, size.windowHeight)
  const hidden = troubles.length - shown + data.omitted
  const zone = timeZone === 'UTC' ? ' UTC' : ''
  const isOld = ageMs >= OLD_MS
  const look = isOld || unreadSince ? 'wall old' : troubles.length === 0 ? 'wall quiet' : 'wall'
  return (
    <main class={look}>
      <header>
        <h1 dir="auto">{name}</h1>
        <p class="clock">
          <time dateTime={new Date(nowMs).toISOString()}>{formatTime(nowMs, timeZone, 'time')}</time>
          {zone}
        </p>
        <p class="sentence">{describe(data)}</p>
        <p class="age">
          {isOld ? `No contact for ${formatDuration(ageMs)}: this is old` : `Read ${formatDuration(ageMs)} ago`}
          {unreadSince &&
            ` · Results have not been read since ${formatTime(unreadSince, timeZone)}${zone}: this is old`}
        </p>
      </header>
      {troubles.length > 0 && (
        <section aria-label="Not up">
          <ul class={`tiles columns-${columns}`}>
            {troubles.slice(0, shown).map((failure, i) => (
              <Tile key={`${i} ${failure.name}`} failure={failure} nowMs={nowMs} />
            ))}
          </ul>
          {hidden > 0 && <p class="more">and {formatNumber(hidden)} more</p>}
        </section>
      )}
      <Bars groups={groups} size={size} label={describe(data)} />
    </main>
  )
}

/** A monitor that fails. */
const Tile = ({
  failure: { name, status, cause, since, tag },
  nowMs,
}: {
  failure: WallData['troubles'][number]
  nowMs: number
}) => (
  <li class={status}>
    <h2 dir="auto">{name}</h2>
    <p dir="auto">{cause ?? status}</p>
    <p class="since">
      {status === 'down' ? 'Down' : 'Degraded'}
      {since !== null && ` for ${formatDuration(nowMs - Date.parse(since))}`}
      {tag !== null && (
        <>
          {' '}
          · <bdi>{tag}</bdi>
        </>
      )}
    </p>
  </li>
)

const CHARACTER_WIDTH = 9

function Bars({ groups, size, label }: { groups: WallData['groups']; size: WallBounds; label: string }) {
  const { width, height } = size
  // the clock renders each second
  const laid = useMemo(() => layoutWall(groups, width, height), [groups, width, height])
  return (
    <div class="bars">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="xMidYMin meet" role="img" aria-label={label}>
        {laid.map(group => (
          <g key={group.tag ?? ''}>
            <text x={group.x} y={group.y + 16}>
              {shorten(group.tag ?? 'no tag', Math.floor(group.width / CHARACTER_WIDTH))}
            </text>
            {group.paths.map(({ status, path }) => (
              <path key={status} class={`of-${status}`} d={path} />
            ))}
          </g>
        ))}
      </svg>
    </div>
  )
}

const shorten = (text: string, length: number) => (text.length <= length ? text : `${text.slice(0, length - 1)}…`)

/** `2 down, 1 unknown of 40 monitors`. Monitors that are up or paused are quiet: `All 40 monitors are quiet`. */
function describe({ total, groups }: WallData): string {
  if (total === 0) return 'There is no monitor'
  const all = groups.map(({ statuses }) => statuses).join('')
  const count = (letter: string) => all.split(letter).length - 1
  const parts = [
    [count('d'), 'down'],
    [count('w'), 'degraded'],
    [count('n'), 'unknown'],
  ].filter(([number]) => number !== 0)
  if (parts.length === 0) return total === 1 ? 'The monitor is quiet' : `All ${formatNumber(total)} monitors are quiet`
  return `${parts.map(([number, word]) => `${number} ${word}`).join(', ')} of ${formatCount(total, 'monitor')}`
}
