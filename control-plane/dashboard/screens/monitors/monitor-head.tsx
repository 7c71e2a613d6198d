import { formatDuration } from '../../core/format.ts'
import { useFrame } from '../../core/frame-context.ts'
import type { OperationResponse } from '../../core/operations.ts'
import type { Result } from '../../core/screen.ts'
import { Moment } from '../../parts/moment.tsx'
import { getShownStatus, Status } from '../../parts/status.tsx'
import type { Monitor } from './types.ts'

type Transitions = Result<OperationResponse<'listMonitorTransitions'>>

/** Name, address, and the present status with its reason. */
export function MonitorHead({ monitor, transitions }: { monitor: Monitor; transitions: Transitions }) {
  const { nowMs } = useFrame()
  const status = getShownStatus(monitor)
  const since = monitor.status_changed_at
  const [last] = transitions.data?.data ?? []
  return (
    <div class="screen-head">
      <div>
        <p class="trail">
          <a href="/monitors">Monitors</a>
          {monitor.tags?.map(tag => (
            <a key={tag} class="tag" href={`/monitors?tag=${encodeURIComponent(tag)}`} dir="auto">
              {tag}
            </a>
          ))}
        </p>
        <h1 dir="auto">{monitor.name}</h1>
        <p class="soft" dir="auto">
          {monitor.type} {monitor.url}
        </p>
        <p class="sentence">
          <Status status={status} />
          {since !== null && status !== 'paused' && (
            <>
              {' '}
              for {formatDuration(nowMs - Date.parse(since))}, since <Moment at={since} />
            </>
          )}
        </p>
        {last && last.to !== 'up' && status !== 'paused' && (
          <p class="because" dir="auto">
            {last.summary}
          </p>
        )}
        {monitor.configuration_issues.map(issue => (
          <p key={issue} class="banner" dir="auto">
            {issue}
          </p>
        ))}
      </div>
    </div>
  )
}
