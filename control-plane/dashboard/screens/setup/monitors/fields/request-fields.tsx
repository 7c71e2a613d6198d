import { HTTP_METHODS } from '../../../../../../shared/checks/check.ts'
import { type Credential, CredentialFields } from '../../../../parts/forms/credential-fields.tsx'
import { FieldGroup, SelectField, TextAreaField } from '../../../../parts/forms/fields.tsx'
import { PairsField } from '../../../../parts/forms/pairs-field.tsx'
import type { FormCredentials, MonitorForm } from '../state/monitor-form.ts'
import { type GroupOptions, isGroupOpen } from './group-props.ts'

/** The HTTP request: method, headers, body. */
export function RequestFields(props: GroupOptions) {
  const { form, errors, change } = props
  const headers = form.headers.length
  const summary = [
    form.method,
    headers > 0 && `${headers} ${headers === 1 ? 'header' : 'headers'}`,
    form.body !== '' && 'a body',
  ]
  return (
    <FieldGroup
      title="Request"
      summary={summary.filter(Boolean).join(', ')}
      isOpen={isGroupOpen(props, ['method', 'headers', 'body'])}
    >
      <SelectField
        path="method"
        label="Method"
        value={form.method}
        options={HTTP_METHODS.map(method => [method, method] as const)}
        errors={errors}
        onChange={method => change({ method })}
      />
      <PairsField
        path="headers"
        label="Headers"
        pairs={form.headers}
        errors={errors}
        onChange={pairs => change({ headers: pairs })}
      />
      <TextAreaField path="body" label="Body" value={form.body} errors={errors} onChange={body => change({ body })} />
    </FieldGroup>
  )
}

const KINDS: readonly (readonly [MonitorForm['auth_type'], string])[] = [
  ['', 'None'],
  ['basic', 'Basic: user name and password'],
  ['bearer', 'Bearer: a token'],
  ['header', 'A custom header'],
]

const CREDENTIALS: Record<MonitorForm['auth_type'], Credential<keyof FormCredentials>[]> = {
  '': [],
  basic: [
    { key: 'username', label: 'User name', isSecret: false },
    { key: 'password', label: 'Password', isSecret: true },
  ],
  bearer: [{ key: 'token', label: 'Token', isSecret: true }],
  header: [
    { key: 'name', label: 'Name of the header', isSecret: false },
    { key: 'value', label: 'Value', isSecret: true },
  ],
}

/** The credentials that every check sends. */
export const AuthenticationFields = (props: GroupOptions) => (
  <CredentialFields
    kinds={KINDS}
    credentials={CREDENTIALS}
    form={props.form}
    isOpen={isGroupOpen(props, ['auth_type', 'auth_config'])}
    errors={props.errors}
    change={part => props.change(part as Partial<MonitorForm>)}
  />
)
