import { formatTime } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { type CheckGroup, listErrors, type TimelineEntry } from './axis.ts'

type Check = TimelineEntry<'check'>
const [STEP, SIZE] = [11, 7]
/** How many checks of a region are drawn. The others are counted. */
const MAX_DOTS = 40

/** Checks that follow each other: one row of dots a region. A square has failed, a circle has not. */
export function CheckDots({ group }: { group: CheckGroup }) {
  const errors = group.regions.map(({ checks }) => listErrors(checks)[0] ?? '')
  return (
    <ul class="check-dots">
      {group.regions.map(({ region, checks }, i) => (
        <RegionDots
          key={region}
          region={region}
          checks={checks}
          error={errors.indexOf(errors[i]!) === i ? errors[i]! : ''}
        />
      ))}
    </ul>
  )
}

/** `error`: empty also when a row above has the same one */
function RegionDots({ region, checks, error }: { region: string; checks: Check[]; error: string }) {
  const failed = checks.filter(({ check }) => check.status !== 'up')
  const left = checks.length - MAX_DOTS
  return (
    <li>
      <span class="region">{region}</span>
      <Dots checks={checks.slice(0, MAX_DOTS)} />
      <span class={failed.length > 0 ? 'down' : 'soft'}>
        {formatChecks(checks.length, failed.length)}
        {left > 0 && `, ${left} not drawn`}
      </span>
      {error !== '' && (
        <span class="soft" dir="auto">
          {error}
        </span>
      )}
    </li>
  )
}

function formatChecks(count: number, failed: number): string {
  if (failed === 0) return count === 1 ? 'ok' : `${count} ok`
  return count === 1 ? 'failed' : `${failed} of ${count} failed`
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
