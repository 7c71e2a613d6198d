import type { FormErrors } from './field-errors.ts'
import { FieldError, FieldGroup, SelectField, TextField } from './fields.tsx'

/** A credential. Secrets are stored encrypted. */
export type Credential<Key extends string> = { key: Key; label: string; isSecret: boolean }

type Credentials<Kind extends string, Key extends string> = {
  auth_type: Kind
  auth_config: Partial<Record<Key, string>>
}

type CredentialProps<Kind extends string, Key extends string> = {
  /** with a text such as `Basic: user name and password` */
  kinds: readonly (readonly [kind: Kind, text: string])[]
  credentials: Readonly<Record<Kind, readonly Credential<Key>[]>>
  form: Credentials<Kind, Key>
  isOpen: boolean
  errors: FormErrors
  change(part: Partial<Credentials<Kind, Key>>): void
}

/** How a request is authenticated. Stored secrets are shown as a mask; a mask that is sent back keeps them. */
export function CredentialFields<Kind extends string, Key extends string>(props: CredentialProps<Kind, Key>) {
  const { kinds, credentials, form, isOpen, errors, change } = props
  const [, text = ''] = kinds.find(([kind]) => kind === form.auth_type) ?? []
  return (
    <FieldGroup title="Authentication" summary={text.split(':')[0]!.toLowerCase()} isOpen={isOpen}>
      <SelectField
        path="auth_type"
        label="Kind"
        value={form.auth_type}
        options={kinds}
        errors={errors}
        onChange={kind => change({ auth_type: kind })}
      />
      {credentials[form.auth_type].map(({ key, label, isSecret }) => (
        <TextField
          key={key}
          path={`auth_config.${key}`}
          label={label}
          type={isSecret ? 'password' : 'text'}
          hint={isSecret ? 'Stored encrypted. It cannot be read again.' : undefined}
          value={form.auth_config[key] ?? ''}
          errors={errors}
          onChange={value => change({ auth_config: { ...form.auth_config, [key]: value } })}
        />
      ))}
      <FieldError path="auth_config" errors={errors} />
    </FieldGroup>
  )
}
