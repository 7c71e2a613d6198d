import {
  ASSERTION_OPERATORS,
  type AssertionType,
  type OperatorName,
} from '../../../../../../shared/assertions/names.ts'
import type { MonitorType } from '../../../../../../shared/checks/check.ts'
import { describeControl, FieldError, FieldGroup } from '../../../../parts/forms/fields.tsx'
import { type FormAssertion, sendsRequests } from '../state/monitor-form.ts'
import { type GroupOptions, isGroupOpen } from './group-props.ts'

const TYPE_NAMES: Record<AssertionType, string> = {
  status_code: 'Status code',
  response_time: 'Response time (ms)',
  header: 'Header',
  body: 'Body',
  json_path: 'JSON value',
  dns_record: 'DNS record',
  certificate_days: 'Days until the certificate expires',
  'phase.dns': 'DNS phase (ms)',
  'phase.connect': 'Connect phase (ms)',
  'phase.tls': 'TLS phase (ms)',
  'phase.first_byte': 'First byte phase (ms)',
  'phase.transfer': 'Transfer phase (ms)',
}

const EXAMPLES: Partial<Record<AssertionType, string>> = {
  status_code: '200, 2xx or 200-299',
  response_time: '800',
  header: 'Name: text',
  json_path: '$.database.status: ok',
  dns_record: 'MX: mail.example.com',
  certificate_days: '14',
}

const ALL_TYPES = Object.keys(ASSERTION_OPERATORS) as AssertionType[]
const TIMES: readonly AssertionType[] = ['response_time', 'phase.dns', 'phase.connect']

/** The assertions that make sense for a monitor of a type. Others that are stored are still shown. */
function listTypes(type: MonitorType): readonly AssertionType[] {
  if (sendsRequests(type)) return ALL_TYPES.filter(one => one !== 'dns_record')
  return type === 'dns' ? ['dns_record', ...TIMES] : TIMES
}

const formatOperator = (operator: string) => operator.replaceAll('_', ' ')

/** What counts as success. Without an assertion on the status code, 200 to 399 is a success. */
export function SuccessFields(props: GroupOptions) {
  const { form, errors, change } = props
  const { assertions } = form
  const types = listTypes(form.type)
  const replace = (at: number, assertion: FormAssertion) =>
    change({ assertions: assertions.map((one, i) => (i === at ? assertion : one)) })
  const add = () => {
    const type = types[0]!
    const operator = ASSERTION_OPERATORS[type][0]!
    change({ assertions: [...assertions, { type, operator, value: type === 'status_code' ? '200' : '' }] })
  }
  return (
    <FieldGroup
      title="What counts as success"
      summary={summarize(form.type, assertions.length)}
      isOpen={isGroupOpen(props, ['assertions'])}
    >
      <p class="soft small">
        All conditions must be met. If only a condition about a time is not met, the monitor is degraded, not down.
      </p>
      {assertions.map((assertion, i) => (
        <AssertionRow
          key={i}
          at={i}
          assertion={assertion}
          types={types}
          errors={errors}
          onChange={next => replace(i, next)}
          onRemove={() => change({ assertions: assertions.filter((_, at) => at !== i) })}
        />
      ))}
      <FieldError path="assertions" errors={errors} />
      <div>
        <button type="button" onClick={add}>
          Add an assertion
        </button>
      </div>
    </FieldGroup>
  )
}

function summarize(type: MonitorType, count: number): string {
  if (count > 0) return `${count} ${count === 1 ? 'assertion' : 'assertions'}`
  if (type === 'http') return 'status 200 to 399'
  return type === 'keyword' ? 'status 200 to 399 and the text' : 'any answer'
}

function AssertionRow({
  at,
  assertion,
  types,
  errors,
  onChange,
  onRemove,
}: {
  at: number
  assertion: FormAssertion
  types: readonly AssertionType[]
  errors: GroupOptions['errors']
  onChange(assertion: FormAssertion): void
  onRemove(): void
}) {
  const path = `assertions[${at}]`
  const type = assertion.type as AssertionType
  const operators: readonly OperatorName[] = ASSERTION_OPERATORS[type] ?? []
  const setType = (next: AssertionType) => {
    const accepted: readonly string[] = ASSERTION_OPERATORS[next]
    const operator = accepted.includes(assertion.operator) ? assertion.operator : accepted[0]!
    onChange({ ...assertion, type: next, operator })
  }
  // the API reports a problem of the row, or of one of its values
  const wrong = ['', '.type', '.operator', '.value'].map(part => path + part)
  const isWrong = errors.isBelow([path])
  const control = describeControl({ path: wrong.find(one => errors.at(one).length > 0) ?? path, errors })
  return (
    <fieldset class="row-fields">
      <legend class="hidden">Assertion {at + 1}</legend>
      <select aria-label="What" value={type} onChange={event => setType(event.currentTarget.value as AssertionType)}>
        {[...new Set([...types, type])].map(one => (
          <option key={one} value={one} selected={one === type}>
            {TYPE_NAMES[one] ?? one}
          </option>
        ))}
      </select>
      <select
        aria-label="Condition"
        value={assertion.operator}
        onChange={event => onChange({ ...assertion, operator: event.currentTarget.value })}
      >
        {[...new Set([...operators, assertion.operator])].map(one => (
          <option key={one} value={one} selected={one === assertion.operator}>
            {formatOperator(one)}
          </option>
        ))}
      </select>
      <input
        id={`field-assertion-${at}-value`}
        aria-label="Value"
        aria-invalid={isWrong ? 'true' : undefined}
        aria-describedby={control['aria-describedby']}
        placeholder={EXAMPLES[type]}
        value={assertion.value}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        onInput={event => onChange({ ...assertion, value: event.currentTarget.value })}
      />
      <button type="button" onClick={onRemove}>
        Remove<span class="hidden"> assertion {at + 1}</span>
      </button>
      {wrong.map(one => (
        <FieldError key={one} path={one} errors={errors} />
      ))}
    </fieldset>
  )
}
