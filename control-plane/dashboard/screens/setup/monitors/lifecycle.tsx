import { useFrame } from '../../../core/frame-context.ts'
import { call } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { DeleteForm } from '../../../parts/forms/delete-form.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import type { MonitorRecord } from './state/monitor-form.ts'

/** Pausing, resuming and deleting a monitor. */
export function LifecycleSection({ monitor }: { monitor: MonitorRecord }) {
  const { execute, navigate, isInteractive } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const path = { id: monitor.id }
  const pausing = call(monitor.is_paused ? 'resumeMonitor' : 'pauseMonitor', { path })
  return (
    <>
      <Section id="pause" title={monitor.is_paused ? 'Paused' : 'Pause'}>
        <p>
          {monitor.is_paused
            ? 'The monitor is not checked and no alerts are sent.'
            : 'A paused monitor is not checked and no alerts are sent. Its open incident is resolved.'}
        </p>
        <div class="actions">
          <button
            type="button"
            disabled={isBusy || !isInteractive}
            onClick={() => run(() => execute(pausing.name, pausing.arguments))}
          >
            {monitor.is_paused ? 'Resume the monitor' : 'Pause the monitor'}
          </button>
        </div>
        {error && (
          <p class="wrong" role="alert">
            {error.message}.
          </p>
        )}
        <AsCall call={pausing} />
      </Section>
      <Section id="delete" title="Delete">
        <DeleteForm
          what="monitor"
          name={monitor.name}
          consequences="It is no longer checked, and it is removed from status pages. This cannot be undone."
          call={call('deleteMonitor', { path })}
          onDone={() => navigate('/monitors')}
        />
      </Section>
    </>
  )
}
