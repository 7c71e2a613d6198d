import { useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../../core/frame-context.ts'
import { useAttempt } from '../../../../parts/forms/attempt.ts'
import type { UpdateBody } from '../state/monitor-body.ts'
import { type RehearsalRecord, RehearsalResult } from './rehearsal-result.tsx'

/** `update`: the settings that differ from the stored ones. */
export type RehearsalSettings = { monitorId: string; update: UpdateBody }

/** Settings that change the verdict on checks that are stored. */
const SIMULATED = ['retry_count', 'regions', 'timeout_ms', 'assertions'] as const

/** "What would have happened": asks for a rehearsal, and shows its result until the settings change. */
export function RehearsalSection({ monitorId, update }: RehearsalSettings) {
  const { me, execute } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const [result, setResult] = useState<{ of: string; record: RehearsalRecord } | null>(null)
  if (!canWrite(me) || !SIMULATED.some(name => name in update)) return null
  const settings = JSON.stringify(update)
  const rehearse = async () => {
    const answer = await run(() => execute('rehearseMonitor', { path: { id: monitorId }, body: { settings: update } }))
    if (answer) setResult({ of: settings, record: answer.data })
  }
  return (
    <section class="rehearsal" aria-labelledby="rehearsal-title">
      <div class="section-head">
        <h2 id="rehearsal-title">What would have happened</h2>
      </div>
      <p class="soft">The checks of the last 7 days, evaluated again with these settings. Nothing is saved.</p>
      <div class="actions">
        <button type="button" disabled={isBusy} onClick={rehearse}>
          Rehearse over 7 days
        </button>
      </div>
      <div role="status">
        {isBusy && <p class="soft">Rehearsing …</p>}
        {!isBusy && error && <p class="missing">The rehearsal failed: {error.message}.</p>}
        {!isBusy && !error && result?.of === settings && <RehearsalResult record={result.record} />}
        {!isBusy && !error && result !== null && result.of !== settings && (
          <p class="soft">The settings have changed since the rehearsal.</p>
        )}
      </div>
    </section>
  )
}
