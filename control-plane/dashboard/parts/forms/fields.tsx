import type { ComponentChildren } from 'preact'
import type { FormErrors } from './field-errors.ts'

/** What every field has. `path`: the name of the field in the API, to which errors refer. */
export type FieldOptions = {
  path: string
  label: string
  errors: FormErrors
  hint?: ComponentChildren
}

const toId = ({ path, errors: { scope } }: Pick<FieldOptions, 'path' | 'errors'>) =>
  `field-${scope && `${scope}-`}${path.replace(/[^A-Za-z0-9_-]/g, '-')}`

/** The attributes that connect a control to its label, hint and error. */
export function describeControl({ path, errors, hint }: Pick<FieldOptions, 'path' | 'errors' | 'hint'>) {
  const id = toId({ path, errors })
  const isWrong = errors.at(path).length > 0
  const described = [hint && `${id}-hint`, isWrong && `${id}-error`].filter(Boolean).join(' ')
  return {
    id,
    name: path,
    'aria-invalid': isWrong ? ('true' as const) : undefined,
    'aria-describedby': described || undefined,
  }
}

/** The sentences of the API about a field. */
export const FieldError = ({ path, errors }: { path: string; errors: FormErrors }) => {
  const messages = errors.at(path)
  return messages.length === 0 ? null : (
    <span class="wrong" id={`${toId({ path, errors })}-error`}>
      {messages.join('. ')}.
    </span>
  )
}

/** A label, a control, a hint and the error. */
export const Field = ({ path, label, errors, hint, children }: FieldOptions & { children: ComponentChildren }) => (
  <div class="field">
    <label for={toId({ path, errors })} dir="auto">
      {label}
    </label>
    {children}
    {hint && <small id={`${toId({ path, errors })}-hint`}>{hint}</small>}
    <FieldError path={path} errors={errors} />
  </div>
)

type TextProps = FieldOptions & {
  value: string
  onChange(value: string): void
  type?: 'text' | 'url' | 'number' | 'password' | 'datetime-local'
  inputMode?: 'numeric' | 'decimal'
  placeholder?: string
  isRequired?: boolean
  onBlur?(): void
  onPaste?(event: ClipboardEvent): void
}

/** One line of text, or a number as text. The browser proposes nothing and corrects nothing. */
export const TextField = ({ value, onChange, type = 'text', isRequired, ...props }: TextProps) => (
  <Field {...props}>
    <input
      {...describeControl(props)}
      type={type as 'text'}
      value={value}
      inputMode={props.inputMode}
      placeholder={props.placeholder}
      aria-required={isRequired}
      autocomplete={type === 'password' ? 'new-password' : 'off'}
      autocapitalize="off"
      spellcheck={false}
      onInput={event => onChange(event.currentTarget.value)}
      onBlur={props.onBlur}
      onPaste={props.onPaste}
    />
  </Field>
)

export const TextAreaField = ({
  value,
  onChange,
  rows = 4,
  ...props
}: FieldOptions & { value: string; rows?: number; onChange(value: string): void }) => (
  <Field {...props}>
    <textarea
      {...describeControl(props)}
      class="mono"
      dir="auto"
      rows={rows}
      value={value}
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      onInput={event => onChange(event.currentTarget.value)}
    />
  </Field>
)

/** Options are values, or values with names. */
export const SelectField = <T extends string>({
  value,
  options,
  onChange,
  ...props
}: FieldOptions & { value: T; options: readonly (readonly [value: T, name: string])[]; onChange(value: T): void }) => (
  <Field {...props}>
    <select {...describeControl(props)} value={value} onChange={event => onChange(event.currentTarget.value as T)}>
      {options.map(([option, name]) => (
        <option key={option} value={option} selected={option === value}>
          {name}
        </option>
      ))}
    </select>
  </Field>
)

export const CheckField = ({
  value,
  onChange,
  label,
  hint,
  ...props
}: FieldOptions & { value: boolean; onChange(value: boolean): void }) => {
  const control = describeControl({ ...props, hint })
  return (
    <div class="choice">
      <input {...control} type="checkbox" checked={value} onChange={event => onChange(event.currentTarget.checked)} />
      <div>
        <label for={control.id} dir="auto">
          {label}
        </label>
        {hint && (
          <p class="soft small" id={`${control.id}-hint`}>
            {hint}
          </p>
        )}
        <FieldError path={props.path} errors={props.errors} />
      </div>
    </div>
  )
}

/** Settings that are seldom changed: folded, with a summary of what they are. Open where something is set or wrong. */
export const FieldGroup = ({
  title,
  summary,
  isOpen,
  children,
}: {
  title: string
  /** the current settings in a few words */
  summary: string
  isOpen: boolean
  children: ComponentChildren
}) => (
  <details class="group" open={isOpen}>
    <summary>
      <span class="group-title">{title}</span>{' '}
      <span class="soft small" dir="auto">
        {summary}
      </span>
    </summary>
    <div class="group-fields">{children}</div>
  </details>
)

/** A value that cannot be changed. */
export const FixedField = ({ label, value, why }: { label: string; value: ComponentChildren; why?: string }) => (
  <div class="field fixed">
    <span class="label">{label}</span>
    <span>{value}</span>
    {why && <small>{why}</small>}
  </div>
)
