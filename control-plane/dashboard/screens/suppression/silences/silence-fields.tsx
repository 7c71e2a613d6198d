import { useFrame } from '../../../core/frame-context.ts'
import type { FormErrors } from '../../../parts/forms/field-errors.ts'
import { SelectField, TextField } from '../../../parts/forms/fields.tsx'
import { SILENCE_LENGTHS, type SilenceForm } from './silence-form.ts'

/** How long monitors are silenced, and why. `prefix`: the place of the fields in the body of the request. */
export function SilenceFields({
  form,
  change,
  errors,
  prefix = '',
  canEnd = false,
}: {
  form: SilenceForm
  change(part: Partial<SilenceForm>): void
  errors: FormErrors
  prefix?: string
  /** whether the silences of the monitors can be ended instead */
  canEnd?: boolean
}) {
  const { timeZone } = useFrame()
  return (
    <>
      <p class="soft">
        Checks, incidents, status pages and uptime go on. An outage that still lasts at the end is sent then.
      </p>
      <SelectField
        path={form.length === 'time' ? 'length' : `${prefix}until`}
        label="How long"
        errors={errors}
        value={form.length}
        options={canEnd ? [...SILENCE_LENGTHS, ['end', 'End the silence']] : SILENCE_LENGTHS}
        onChange={length => change({ length })}
      />
      {form.length === 'time' && (
        <TextField
          path={`${prefix}until`}
          label="Until"
          hint={`in ${timeZone}, at most 90 days from now`}
          type="datetime-local"
          isRequired
          errors={errors}
          value={form.time}
          onChange={time => change({ time })}
        />
      )}
      {form.length !== 'end' && (
        <TextField
          path={`${prefix}reason`}
          label="Reason"
          hint="optional; everyone in the project sees it"
          errors={errors}
          value={form.reason}
          onChange={reason => change({ reason })}
        />
      )}
    </>
  )
}
