import { METHODS } from '../../../../../integrations/data-sources/types.ts'
import { CredentialFields } from '../../../../parts/forms/credential-fields.tsx'
import { DurationField } from '../../../../parts/forms/duration-field.tsx'
import type { FormErrors } from '../../../../parts/forms/field-errors.ts'
import { FieldGroup, SelectField, TextAreaField, TextField } from '../../../../parts/forms/fields.tsx'
import { PairsField } from '../../../../parts/forms/pairs-field.tsx'
import { CREDENTIALS, type SourceForm } from './source-form.ts'

type GroupProps = { form: SourceForm; errors: FormErrors; change(part: Partial<SourceForm>): void }

const AUTH_KINDS: readonly (readonly [SourceForm['auth_type'], string])[] = [
  ['', 'None'],
  ['basic', 'Basic: user name and password'],
  ['bearer', 'Bearer: a token'],
  ['api_key', 'API key: a custom header'],
]

/** How the document is requested: what is seldom set. */
export const RequestGroups = (props: GroupProps) => (
  <div class="groups">
    <RequestGroup {...props} />
    <AuthenticationGroup {...props} />
    <ScheduleGroup {...props} />
  </div>
)

function RequestGroup({ form, errors, change }: GroupProps) {
  const headers = form.headers.length
  const parts = [
    form.method,
    headers > 0 && `${headers} ${headers === 1 ? 'header' : 'headers'}`,
    form.root_path !== '' && `from ${form.root_path}`,
  ]
  const isSet = form.method !== 'GET' || headers > 0 || form.root_path !== ''
  return (
    <FieldGroup
      title="Request"
      summary={parts.filter(Boolean).join(', ')}
      isOpen={isSet || errors.isBelow(['method', 'headers', 'body', 'root_path'])}
    >
      <SelectField
        path="method"
        label="Method"
        value={form.method}
        options={METHODS.map(method => [method, method] as const)}
        errors={errors}
        onChange={method => change({ method })}
      />
      <PairsField
        path="headers"
        label="Headers"
        pairs={form.headers}
        errors={errors}
        onChange={headers => change({ headers })}
      />
      {form.method === 'POST' && (
        <TextAreaField path="body" label="Body" value={form.body} errors={errors} onChange={body => change({ body })} />
      )}
      <TextField
        path="root_path"
        label="Root path"
        hint="For example data. A document without it counts as a failed fetch, such as an error message of the API."
        value={form.root_path}
        errors={errors}
        onChange={root_path => change({ root_path })}
      />
    </FieldGroup>
  )
}

const AuthenticationGroup = ({ form, errors, change }: GroupProps) => (
  <CredentialFields
    kinds={AUTH_KINDS}
    credentials={CREDENTIALS}
    form={form}
    isOpen={form.auth_type !== '' || errors.isBelow(['auth_type', 'auth_config'])}
    errors={errors}
    change={part => change(part as Partial<SourceForm>)}
  />
)

const ScheduleGroup = ({ form, errors, change }: GroupProps) => (
  <FieldGroup
    title="Schedule and description"
    summary={`every ${form.fetch_interval_s} s`}
    isOpen={errors.isBelow(['fetch_interval_s', 'timeout_ms', 'description'])}
  >
    <DurationField
      path="fetch_interval_s"
      label="How often"
      hint="30 seconds to a day."
      value={form.fetch_interval_s}
      errors={errors}
      onChange={fetch_interval_s => change({ fetch_interval_s })}
    />
    <TextField
      path="timeout_ms"
      label="Time limit, in seconds"
      type="number"
      inputMode="decimal"
      value={form.timeout_s}
      errors={errors}
      onChange={timeout_s => change({ timeout_s })}
    />
    <TextAreaField
      path="description"
      label="Description"
      rows={2}
      value={form.description}
      errors={errors}
      onChange={description => change({ description })}
    />
  </FieldGroup>
)
