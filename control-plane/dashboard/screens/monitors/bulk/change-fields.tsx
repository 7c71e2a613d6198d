import { useEffect, useState } from 'preact/hooks'
import { REGIONS } from '../../../../../shared/checks/check.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { DurationField } from '../../../parts/forms/duration-field.tsx'
import type { FormErrors } from '../../../parts/forms/field-errors.ts'
import { FieldError, SelectField, TextField } from '../../../parts/forms/fields.tsx'
import { SilenceFields } from '../../suppression/silences/silence-fields.tsx'
import { CHANGE_KINDS, type ChangeForm, type Edit } from './change-request.ts'

type FieldsProps = {
  form: ChangeForm
  change(part: Partial<ChangeForm>): void
  errors: FormErrors
  /** names of the alert channels by id; null until they are read */
  channels: ReadonlyMap<string, string> | null
}

/** What changes, and to which value. */
export const ChangeFields = (props: FieldsProps) => (
  <>
    {props.form.kind !== 'silence' && (
      <SelectField
        path="kind"
        label="What changes"
        errors={props.errors}
        value={props.form.kind}
        options={CHANGE_KINDS}
        onChange={kind => props.change({ kind })}
      />
    )}
    <ValueFields {...props} />
  </>
)

function ValueFields({ form, change, errors, channels }: FieldsProps) {
  switch (form.kind) {
    case 'interval':
      return (
        <DurationField
          path="change.interval_seconds"
          label="Interval"
          hint="30 seconds to 1 hour"
          errors={errors}
          value={form.interval}
          onChange={interval => change({ interval })}
        />
      )
    case 'timeout':
    case 'retries': {
      const { kind } = form
      return (
        <TextField
          key={kind}
          path={kind === 'timeout' ? 'change.timeout_ms' : 'change.retry_count'}
          label={kind === 'timeout' ? 'Timeout in milliseconds' : 'Retries'}
          hint={kind === 'timeout' ? '1,000 to 60,000' : '0 to 5 checks, within seconds, that must confirm a failure'}
          type="number"
          errors={errors}
          value={form[kind]}
          onChange={value => change({ [kind]: value })}
        />
      )
    }
    case 'silence':
      return (
        <SilenceFields
          form={form.silence}
          change={part => change({ silence: { ...form.silence, ...part } })}
          errors={errors}
          prefix="change.silence."
          canEnd
        />
      )
    case 'tags':
      return <TagFields form={form} change={change} errors={errors} />
    case 'regions':
      return (
        <Edits
          path="change.regions"
          legend="Regions"
          errors={errors}
          entries={REGIONS.map(region => [region, region])}
          edits={form.regions}
          onChange={(region, edit) => change({ regions: { ...form.regions, [region]: edit } })}
        />
      )
    case 'channels':
      return channels?.size === 0 ? (
        <p class="soft">There is no channel yet.</p>
      ) : (
        <Edits
          path="change.alert_rules"
          legend="Alert channels"
          errors={errors}
          entries={[...(channels ?? [])]}
          edits={form.channels}
          onChange={(id, edit) => change({ channels: { ...form.channels, [id]: edit } })}
        />
      )
  }
}

const TagFields = ({ form, change, errors }: Omit<FieldsProps, 'channels'>) => (
  <>
    <TextField
      path="change.tags.add"
      label="Add tags"
      hint="separated by commas"
      errors={errors}
      value={form.addedTags}
      onChange={addedTags => change({ addedTags })}
    />
    <TextField
      path="change.tags.remove"
      label="Remove tags"
      errors={errors}
      value={form.removedTags}
      onChange={removedTags => change({ removedTags })}
    />
  </>
)

const EDIT_NAMES: readonly (readonly [Edit, string])[] = [
  ['keep', 'as it is'],
  ['add', 'add'],
  ['remove', 'remove'],
]

const Edits = ({
  path,
  legend,
  errors,
  entries,
  edits,
  onChange,
}: {
  path: string
  legend: string
  errors: FormErrors
  entries: readonly (readonly [id: string, name: string])[]
  edits: Partial<Record<string, Edit>>
  onChange(id: string, edit: Edit): void
}) => (
  <fieldset class="edits">
    <legend>{legend}</legend>
    {entries.map(([id, name]) => (
      <label key={id}>
        <span dir="auto">{name}</span>
        <select value={edits[id] ?? 'keep'} onChange={event => onChange(id, event.currentTarget.value as Edit)}>
          {EDIT_NAMES.map(([edit, label]) => (
            <option key={edit} value={edit} selected={edit === (edits[id] ?? 'keep')}>
              {label}
            </option>
          ))}
        </select>
      </label>
    ))}
    <FieldError path={path} errors={errors} />
  </fieldset>
)

/** The newest channels: names by id, null until they are read. */
export function useChannels(isNeeded: boolean): ReadonlyMap<string, string> | null {
  const { execute } = useFrame()
  const [channels, setChannels] = useState<ReadonlyMap<string, string> | null>(null)
  useEffect(() => {
    if (!isNeeded || channels) return
    execute('listAlertChannels', { query: { per_page: 100 } }).then(outcome => {
      if ('data' in outcome) setChannels(new Map(outcome.data.data.map(({ id, name }) => [id, name])))
    })
  }, [isNeeded])
  return channels
}
