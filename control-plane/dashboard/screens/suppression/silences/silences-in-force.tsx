import { type ComponentChildren, Fragment } from 'preact'
import { formatCount } from '../../../core/format.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse } from '../../../core/operations.ts'
import type { Result } from '../../../core/screen.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { Section } from '../../../parts/layout/section.tsx'
import { Failure } from '../../../parts/layout/states.tsx'
import { Moment } from '../../../parts/moment.tsx'

/** Monitors of a silence that are named. */
const MAX_NAMES = 3

/** The silences of a project that are in force, on the overview. Nothing when there are none. */
export function SilencesInForce({ result }: { result: Result<OperationResponse<'listSilences'>> }) {
  const data = result.data?.data ?? []
  if (data.length === 0 && !result.error) return null
  const more = (result.data?.meta.total ?? 0) - data.length
  return (
    <Section id="silences" title="Silenced">
      <Failure result={result} what="The silences" />
      {data.length > 0 && (
        <ul class="silences">
          {data.map(({ id, monitor_ids: ids, monitor_names: names, until, reason }) => (
            <SilenceLine key={id} id={id} reason={reason}>
              {ids.slice(0, MAX_NAMES).map((monitor, i) => (
                <Fragment key={monitor}>
                  {i > 0 && ', '}
                  <a href={`/monitors/${monitor}`} dir="auto">
                    {names[i]}
                  </a>
                </Fragment>
              ))}
              {ids.length > MAX_NAMES && ` and ${formatCount(ids.length - MAX_NAMES, 'monitor')} more`} until{' '}
              <Moment at={until} />
            </SilenceLine>
          ))}
        </ul>
      )}
      {more > 0 && <p class="soft small">And {formatCount(more, 'silence')} more.</p>}
    </Section>
  )
}

/** A silence of the monitor that is shown. `isWithheld`: alerts wait for its end. */
export const MonitorSilence = ({
  silence: { id, name, until },
  isWithheld,
}: {
  silence: OperationResponse<'listMonitorVotes'>['data']['silenced_by'][number]
  isWithheld: boolean
}) => (
  <ul class="silences" aria-label="Silence">
    <SilenceLine id={id!} reason={name} after={isWithheld ? 'Alerts wait until then.' : null}>
      No alerts until <Moment at={until!} />
    </SilenceLine>
  </ul>
)

/** What a silence does, why, and the button that ends it. */
function SilenceLine({
  id,
  reason,
  after = null,
  children,
}: {
  id: string
  reason: string | null
  /** a sentence after the reason */
  after?: string | null
  children: ComponentChildren
}) {
  const { me, execute, isInteractive } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const ending = call('deleteSilence', { path: { id } })
  return (
    <li>
      <p dir="auto">
        {children}
        {reason !== null && (
          <>
            : <bdi>{reason}</bdi>
          </>
        )}
        {after !== null && <span class="soft"> · {after}</span>}
      </p>
      {canWrite(me) && (
        <button
          type="button"
          disabled={!isInteractive || isBusy}
          onClick={() => run(() => execute(ending.name, ending.arguments))}
        >
          End now
          <span class="hidden" dir="auto">
            {reason !== null && `: ${reason}`}
          </span>
        </button>
      )}
      {canWrite(me) && <AsCall call={ending} name={`for ending the silence${reason === null ? '' : `: ${reason}`}`} />}
      {error && (
        <p class="wrong" role="alert">
          {error.message}.
        </p>
      )}
    </li>
  )
}
