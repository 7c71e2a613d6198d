import { useState } from 'preact/hooks'
import { REGION_NAMES, type Region } from '../../../../../shared/checks/check.ts'
import { CREATE_DEFAULTS } from '../../../../monitoring/monitors/settings/defaults.ts'
import { formatCount } from '../../../core/format.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { TextField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { countChanges, type ImportJob, isRunning } from './file-kind.ts'

const NO_ERRORS = buildFormErrors([])

/** What can be done with an import: apply it, discard it, or continue elsewhere after it. */
export function NextSteps({ job }: { job: ImportJob }) {
  const { me } = useFrame()
  if (isRunning(job)) return null
  if (job.status === 'applied') return <AfterImport job={job} />
  if (!canWrite(me)) return <NeedsRole what="Applying the plan" needed="editor" />
  return <ApplyForm job={job} />
}

function ApplyForm({ job }: { job: ImportJob }) {
  const { execute, navigate, isInteractive } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const [typed, setTyped] = useState('')
  const changes = countChanges(job)
  const deletions = job.summary?.delete ?? 0
  const isConfirmed = deletions < 2 || typed.trim() === String(deletions)
  const path = { id: job.id }
  const [application, removal] = [call('applyImport', { path }), call('deleteImport', { path })]
  const apply = async (event: Event) => {
    event.preventDefault()
    await run(() => execute(application.name, application.arguments))
  }
  const discard = async () => {
    if (await run(() => execute(removal.name, removal.arguments))) navigate('/settings/import')
  }
  const canApply = job.can_apply && (changes > 0 || job.status === 'failed')
  return (
    <form class="import-form" onSubmit={apply}>
      <fieldset class="plain stack" disabled={!isInteractive || isBusy}>
        {job.status === 'ready' && changes === 0 && <p>The project already is as the file describes it.</p>}
        {canApply && deletions > 1 && (
          <TextField
            path="deletions"
            label={`${formatCount(deletions, 'record')} will be deleted. Type ${deletions} to confirm`}
            hint={<a href={`/settings/import/${job.id}?action=delete`}>Show what will be deleted</a>}
            errors={NO_ERRORS}
            value={typed}
            inputMode="numeric"
            onChange={setTyped}
          />
        )}
        <RegionNote job={job} />
        <FormMessages error={error} shown={[]} />
        <div class="actions">
          {canApply && (
            <button type="submit" class="main" disabled={!isConfirmed}>
              {job.status === 'failed' ? 'Try again' : `Apply ${formatCount(changes, 'change')}`}
            </button>
          )}
          <button type="button" class="quiet" onClick={() => void discard()}>
            {job.status === 'failed' ? 'Discard it and choose another file' : 'Discard the plan'}
          </button>
        </div>
      </fieldset>
      <AsCall calls={{ ...(canApply && { applied: application }), discarded: removal }} />
    </form>
  )
}

/** Files of other products have no regions, so that monitors of them begin with the default. */
const RegionNote = ({ job: { from, summary } }: { job: ImportJob }) =>
  from === 'picket' || (summary?.create ?? 0) === 0 ? null : (
    <p class="soft">
      New monitors are checked from {CREATE_DEFAULTS.regions.map(region => REGION_NAMES[region as Region]).join(', ')}{' '}
      only, because the file has no regions. In the list of monitors, select them and change their regions.{' '}
      <a href="/fleet">Regions with a probe</a>
    </p>
  )

const AfterImport = ({ job }: { job: ImportJob }) => (
  <>
    <RegionNote job={job} />
    <div class="next-step">
      <a class="button main" href="/monitors">
        Open the monitors
      </a>
      <a class="button" href="/monitors/unalerted">
        Monitors without an alert channel
      </a>
      <a class="button quiet" href="/settings/import">
        Import another file
      </a>
    </div>
  </>
)
