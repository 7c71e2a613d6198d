import { useState } from 'preact/hooks'
import { useFrame } from '../../../core/frame-context.ts'
import { call } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { Dialog } from '../../overlays/dialog.tsx'
import { SilenceFields } from './silence-fields.tsx'
import { EMPTY_SILENCE, readSilenceForm } from './silence-form.ts'

/** Silences one monitor. */
export function SilenceDialog({ monitor, onClose }: { monitor: { id: string; name: string }; onClose(): void }) {
  const { execute, nowMs, timeZone } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const [form, setForm] = useState(EMPTY_SILENCE)
  const element = useFocusOnError(error)
  const settings = readSilenceForm(form, nowMs, timeZone)
  const body = settings && { monitor_ids: [monitor.id], ...settings }
  const send = async () => {
    if (body && (await run(() => execute('createSilence', { body })))) onClose()
  }
  return (
    <Dialog id="silence" title={`Silence ${monitor.name}`} onClose={onClose}>
      <form
        ref={element}
        class="stack"
        onSubmit={event => {
          event.preventDefault()
          void send()
        }}
      >
        <FormMessages error={error} shown={['until', 'reason']} />
        <SilenceFields
          form={form}
          change={part => setForm({ ...form, ...part })}
          errors={buildFormErrors(error?.details ?? [])}
        />
        <div class="actions">
          <button type="submit" class="main" disabled={isBusy || !settings}>
            Silence
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
        {body && <AsCall call={call('createSilence', { body })} />}
      </form>
    </Dialog>
  )
}
