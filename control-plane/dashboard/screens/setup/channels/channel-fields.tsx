import type { OperationError } from '../../../core/operations.ts'
import { buildFormErrors, type FormErrors } from '../../../parts/forms/field-errors.ts'
import { CheckField, FieldError, FieldGroup, TextAreaField, TextField } from '../../../parts/forms/fields.tsx'
import { PairsField } from '../../../parts/forms/pairs-field.tsx'
import type { ChannelForm } from './channel-form.ts'
import { CHANNEL_KINDS, CHANNEL_TYPES, type ChannelField } from './channel-kinds.ts'

type ChannelProps = {
  form: ChannelForm
  error: OperationError | null
  change(part: Partial<ChannelForm>): void
}

/** The fields that show their own errors. */
export const SHOWN_FIELDS = ['name', 'config', 'is_default', 'type']

/** All fields of a channel: the kind, and what it needs. `isFixed`: the kind and the configuration cannot be changed. */
export function ChannelFields({
  form,
  error,
  change,
  isNew,
  isFixed,
}: ChannelProps & { isNew: boolean; isFixed: boolean }) {
  const errors = buildFormErrors(error?.details ?? [])
  const kind = CHANNEL_KINDS[form.type]
  const optional = kind.fields.filter(({ isOptional }) => isOptional)
  const isSet = ({ path }: ChannelField) => (path === 'headers' ? form.headers.length > 0 : Boolean(form.values[path]))
  const show = (field: ChannelField) => <ConfigField key={field.path} {...{ field, form, errors, change }} />
  return (
    <>
      {isNew && <KindField form={form} errors={errors} change={change} />}
      {!isFixed && kind.fields.filter(field => !field.isOptional).map(show)}
      <FieldError path="config" errors={errors} />
      <TextField
        path="name"
        label="Name"
        value={form.name}
        placeholder={isNew ? kind.name : undefined}
        errors={errors}
        onChange={name => change({ name })}
      />
      <CheckField
        path="is_default"
        label="Alert this channel about every new monitor"
        hint="For monitors that are created later. Each monitor can have other channels."
        value={form.is_default}
        errors={errors}
        onChange={is_default => change({ is_default })}
      />
      {!isFixed && optional.length > 0 && (
        <FieldGroup
          title={optional.map(({ label }) => label).join(', ')}
          summary={optional.some(isSet) ? 'set' : 'none'}
          isOpen={optional.some(isSet) || errors.isBelow(optional.map(({ path }) => `config.${path}`))}
        >
          {optional.map(show)}
        </FieldGroup>
      )}
    </>
  )
}

const KindField = ({ form, errors, change }: Omit<ChannelProps, 'error'> & { errors: FormErrors }) => (
  <fieldset class="types">
    <legend>Where alerts are sent</legend>
    <div>
      {CHANNEL_TYPES.map(type => (
        <label key={type}>
          <input
            type="radio"
            name="type"
            value={type}
            checked={form.type === type}
            aria-labelledby={`type-${type}`}
            aria-describedby={`type-${type}-hint`}
            onChange={() => change({ type })}
          />
          <span>
            <b id={`type-${type}`}>{CHANNEL_KINDS[type].name}</b>
            <small id={`type-${type}-hint`}>{CHANNEL_KINDS[type].explanation}</small>
          </span>
        </label>
      ))}
    </div>
    <FieldError path="type" errors={errors} />
  </fieldset>
)

function ConfigField({
  field,
  form,
  errors,
  change,
}: {
  field: ChannelField
  form: ChannelForm
  errors: FormErrors
  change: ChannelProps['change']
}) {
  const path = `config.${field.path}`
  const value = form.values[field.path] ?? ''
  const setValue = (text: string) => change({ values: { ...form.values, [field.path]: text } })
  const { label } = field
  if (field.kind === 'headers') {
    return (
      <PairsField
        path={path}
        label={label}
        pairs={form.headers}
        errors={errors}
        onChange={headers => change({ headers })}
      />
    )
  }
  if (field.kind === 'addresses') {
    // the API reports each address by its number; the field shows all of them
    const numbers = value.split(/[\s,;]+/).filter(line => line !== '')
    const below = numbers.flatMap((_, i) => errors.at(`${path}[${i}]`))
    const own: FormErrors = {
      ...errors,
      at: asked => (asked === path ? [...errors.at(path), ...below] : errors.at(asked)),
    }
    return <TextAreaField {...{ path, label, hint: field.hint, errors: own, value }} rows={3} onChange={setValue} />
  }
  return <TextField {...{ path, label, hint: field.hint, errors, value }} onChange={setValue} />
}
