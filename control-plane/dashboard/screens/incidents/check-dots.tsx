import { formatCount, formatTime } from '../../core/format.ts'
import { useFrame } from '../../core/frame-context.ts'
import { type CheckGroup, type ItemOf, listErrors } from './axis.ts'

type Check = ItemOf<'check'>
const [STEP, SIZE] = [11, 7]
/** How many checks of a region are drawn. The others are counted. */
const MAX_DOTS = 40

/** Checks that follow each other: one row of dots a region. A square has failed, a circle has not. */
export const CheckDots = ({ group }: { group: CheckGroup }) => (
  <ul class="check-dots">
    {group.regions.map(({ region, checks }) => (
      <RegionDots key={region} region={region} checks={checks} />
    ))}
  </ul>
)

function RegionDots({ region, checks }: { region: string; checks: Check[] }) {
  const failed = checks.filter(({ check }) => check.status !== 'up')
  const left = checks.length - MAX_DOTS
  const [error] = listErrors(failed)
  return (
    <li>
      <span class="region">{region}</span>
      <Dots checks={checks.slice(0, MAX_DOTS)} />
      <span class={failed.length > 0 ? 'down' : 'soft'}>
        {failed.length === 0 ? formatCount(checks.length, 'check') : `${failed.length} of ${checks.length} failed`}
        {left > 0 && `, ${left} not drawn`}
      </span>
      {error !== undefined && <span class="soft">{error}</span>}
    </li>
  )
}

function Dots({ checks }: { checks: Check[] }) {
  const { timeZone } = useFrame()
  const width = checks.length * STEP
  return (
    <svg width={width} height={SIZE + 2} viewBox={`0 0 ${width} ${SIZE + 2}`} aria-hidden="true">
      {checks.map(({ at, check }, i) => (
        <g key={i} class={check.status}>
          <title>{`${formatTime(at, timeZone, 'time')} ${check.error?.message ?? check.status_code}`}</title>
          {check.status === 'up' ? (
            <circle cx={i * STEP + SIZE / 2} cy={SIZE / 2 + 1} r={SIZE / 2 - 0.5} />
          ) : (
            <rect x={i * STEP} y={1} width={SIZE} height={SIZE} />
          )}
        </g>
      ))}
    </svg>
  )
}
