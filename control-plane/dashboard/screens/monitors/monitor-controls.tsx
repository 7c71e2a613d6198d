import { useState } from 'preact/hooks'
import { toKeyShortcut, useFrame } from '../../core/frame-context.ts'
import { call } from '../../core/operations.ts'
import { AsCall } from '../../parts/calls/as-call.tsx'
import { useLazyPart } from '../../parts/layout/lazy-part.tsx'
import { CheckProgress } from './checks/check-progress.tsx'
import { useRequestedCheck } from './checks/requested-check.ts'
import type { Monitor } from './types.ts'

const loadDialog = async () => (await import('../suppression/silences/silence-dialog.tsx')).SilenceDialog

/** What a member may do with the monitor here. */
export function MonitorControls({ monitor }: { monitor: Monitor }) {
  const { me, execute, isInteractive } = useFrame()
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [isSilencing, setSilencing] = useState(false)
  const SilenceDialog = useLazyPart(loadDialog, isSilencing)
  const { check, start } = useRequestedCheck()
  const path = { id: monitor.id }
  const pausing = call(monitor.is_paused ? 'resumeMonitor' : 'pauseMonitor', { path })
  const canCheck = monitor.type !== 'heartbeat' && !monitor.is_paused
  const run = async () => {
    setBusy(true)
    const outcome = await execute(pausing.name, pausing.arguments)
    setProblem('error' in outcome ? outcome.error.message : null)
    setBusy(false)
  }
  const isDisabled = !isInteractive || isBusy
  return (
    <>
      <p class="actions top">
        {canCheck && (
          <button
            type="button"
            disabled={!isInteractive || check?.state === 'running'}
            onClick={() => start(monitor)}
            aria-keyshortcuts={toKeyShortcut(me, 'c')}
          >
            Check now
          </button>
        )}
        <button type="button" disabled={isDisabled} onClick={() => run()} aria-keyshortcuts={toKeyShortcut(me, 'p')}>
          {monitor.is_paused ? 'Resume' : 'Pause'}
        </button>
        <button
          type="button"
          disabled={isDisabled}
          onClick={() => setSilencing(true)}
          aria-keyshortcuts={toKeyShortcut(me, 'm')}
        >
          Silence…
        </button>
        <a class="button" href={`/monitors/${monitor.id}/settings`} aria-keyshortcuts={toKeyShortcut(me, 'e')}>
          Settings
        </a>
      </p>
      <AsCall
        calls={{
          ...(canCheck && { check: call('checkMonitor', { path }) }),
          [monitor.is_paused ? 'resumed' : 'paused']: pausing,
        }}
        name="for checking and pausing"
      />
      <CheckProgress check={check} />
      {SilenceDialog && <SilenceDialog monitor={monitor} onClose={() => setSilencing(false)} />}
      {problem && (
        <p class="wrong" role="alert">
          {problem}.
        </p>
      )}
    </>
  )
}
