import { useState } from 'preact/hooks'
import { type DisplaySettings, useFrame } from '../../core/frame-context.ts'
import { call, type OperationError } from '../../core/operations.ts'
import { AsCall } from '../../parts/calls/as-call.tsx'
import { buildFormErrors } from '../../parts/forms/field-errors.ts'
import { CheckField, SelectField, TextField } from '../../parts/forms/fields.tsx'
import { FormMessages } from '../../parts/forms/form-messages.tsx'
import { Dialog } from './dialog.tsx'

const THEMES = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const
const DENSITIES = [
  ['compact', 'Compact rows'],
  ['comfortable', 'Higher rows'],
] as const

/** How the person wants to see the dashboard. A choice applies at once, here and in other browsers after the next page. */
export function Display({ onClose }: { onClose(): void }) {
  const { me, execute } = useFrame()
  const [error, setError] = useState<OperationError | null>(null)
  const { theme, density, keyboard_shortcuts, time_zone } = me.preferences!
  const [zone, setZone] = useState(time_zone ?? '')
  const typedZone = zone.trim() === '' ? null : zone.trim()
  const errors = buildFormErrors(error?.details ?? [])
  // choices can follow each other quickly: each is sent
  const change = async (body: Partial<DisplaySettings>) => {
    const outcome = await execute('updateMePreferences', { body })
    setError('error' in outcome ? outcome.error : null)
  }
  return (
    <Dialog id="display" title="Display" onClose={onClose}>
      <form
        class="stack"
        onSubmit={event => {
          event.preventDefault()
          void change({ time_zone: typedZone })
        }}
      >
        <FormMessages error={error} shown={['time_zone']} />
        <SelectField
          path="theme"
          label="Theme"
          value={theme}
          options={THEMES}
          errors={errors}
          onChange={value => void change({ theme: value })}
        />
        <SelectField
          path="density"
          label="Rows"
          value={density}
          options={DENSITIES}
          errors={errors}
          onChange={value => void change({ density: value })}
        />
        <TextField
          path="time_zone"
          label="Time zone"
          value={zone}
          placeholder="Europe/Berlin"
          hint="A name of the IANA database. Empty: the time zone of the browser. Applies with Enter."
          errors={errors}
          onChange={setZone}
        />
        <CheckField
          path="keyboard_shortcuts"
          label="Use keys without Ctrl"
          value={keyboard_shortcuts}
          errors={errors}
          onChange={value => void change({ keyboard_shortcuts: value })}
        />
        <div class="actions">
          <button type="button" onClick={onClose}>
            Close
          </button>
        </div>
        <AsCall call={call('updateMePreferences', { body: { ...me.preferences!, time_zone: typedZone } })} />
      </form>
    </Dialog>
  )
}
