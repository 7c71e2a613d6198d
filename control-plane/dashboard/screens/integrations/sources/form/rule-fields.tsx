import type { RuleType } from '../../../../../integrations/data-sources/types.ts'
import { formatCount } from '../../../../core/format.ts'
import type { FormErrors } from '../../../../parts/forms/field-errors.ts'
import { CheckField, FieldError, SelectField, TextAreaField, TextField } from '../../../../parts/forms/fields.tsx'
import { CONFIGURED, type FieldForm } from './field-form.ts'

const RULES: readonly (readonly [RuleType, string])[] = [
  ['equals', 'is equal to a value'],
  ['in', 'is one of several values'],
  ['diff_lte', 'is close to another value or the present time'],
  ['truthy', 'is anything but false, 0, null and ""'],
  ['http_ok', 'is a status code from 200 to 399, or an address that returns such a code'],
]

const VALUE_HINT = 'Numbers, true, false and null are written as they are. In quotes they are texts: "200".'

/** The fields of one rule: which values, how their monitors are called, and when they are up. */
export function RuleFields({
  field,
  index,
  count,
  errors,
  isOpen,
  change,
  onRemove,
}: {
  field: FieldForm
  index: number
  /** how many monitors it makes; null: not known */
  count: number | null
  errors: FormErrors
  isOpen: boolean
  change(part: Partial<FieldForm>): void
  /** undefined: the rule cannot be removed */
  onRemove?: () => void
}) {
  const at = `fields[${index}]`
  return (
    <details class="group rule" open={isOpen || errors.isBelow([at])}>
      <summary>
        <span class="group-title mono" dir="auto">
          {field.path || 'New rule'}
        </span>{' '}
        <span class="soft small">{count === null ? '' : formatCount(count, 'monitor')}</span>
      </summary>
      <div class="group-fields">
        <TextField
          path={`${at}.path`}
          label="Path of the values"
          hint="* is every key or element."
          value={field.path}
          errors={errors}
          onChange={path => change({ path })}
        />
        <TextField
          path={`${at}.name_template`}
          label="Names of the monitors"
          hint="{{key}} is what * matched; {{value}} is the value."
          value={field.name_template}
          errors={errors}
          onChange={name_template => change({ name_template })}
        />
        <SelectField
          path={`${at}.rule_type`}
          label="Up when the value"
          value={field.rule_type}
          options={RULES}
          errors={errors}
          onChange={rule_type =>
            change({ rule_type, hasDegraded: field.hasDegraded && CONFIGURED.includes(rule_type) })
          }
        />
        <RuleConfig {...{ field, at, errors, change }} part="rule" />
        {CONFIGURED.includes(field.rule_type) && (
          <CheckField
            path={`${at}.degraded_rule_config`}
            label="Some values are degraded instead of down"
            value={field.hasDegraded}
            errors={errors}
            onChange={hasDegraded => change({ hasDegraded })}
          />
        )}
        {field.hasDegraded && <RuleConfig {...{ field, at, errors, change }} part="degraded" />}
        <FieldError path={at} errors={errors} />
        {onRemove && <RemoveButton path={field.path} onRemove={onRemove} />}
      </div>
    </details>
  )
}

const RemoveButton = ({ path, onRemove }: { path: string; onRemove(): void }) => (
  <div>
    <button type="button" onClick={onRemove}>
      Remove
      <span class="hidden" dir="auto">
        {' '}
        the rule {path}
      </span>
    </button>
  </div>
)

function RuleConfig({
  field,
  at,
  part,
  errors,
  change,
}: {
  field: FieldForm
  at: string
  part: 'rule' | 'degraded'
  errors: FormErrors
  change(part: Partial<FieldForm>): void
}) {
  const isMain = part === 'rule'
  const path = `${at}.${isMain ? 'rule_config' : 'degraded_rule_config'}`
  const config = field[part]
  const set = (changed: Partial<FieldForm['rule']>) => change({ [part]: { ...config, ...changed } })
  if (field.rule_type === 'equals') {
    return (
      <TextField
        path={`${path}.value`}
        label={isMain ? 'Value that is up' : 'Value that is degraded'}
        hint={isMain ? VALUE_HINT : undefined}
        value={config.value}
        errors={errors}
        onChange={value => set({ value })}
      />
    )
  }
  if (field.rule_type === 'in') {
    return (
      <TextAreaField
        path={`${path}.values`}
        label={isMain ? 'Values that are up, one on each line' : 'Values that are degraded, one on each line'}
        hint={isMain ? VALUE_HINT : undefined}
        value={config.values}
        errors={errors}
        onChange={values => set({ values })}
      />
    )
  }
  if (field.rule_type !== 'diff_lte') return null
  return (
    <>
      {isMain && (
        <TextField
          path={`${path}.other_path`}
          label="Path of the other value"
          hint="now is the present time."
          value={config.other_path}
          errors={errors}
          onChange={other_path => set({ other_path })}
        />
      )}
      <TextField
        path={`${path}.max`}
        label={isMain ? 'Largest difference that is up' : 'Largest difference that is degraded'}
        hint={isMain ? 'In seconds for times.' : undefined}
        type="number"
        inputMode="decimal"
        value={config.max}
        errors={errors}
        onChange={max => set({ max })}
      />
    </>
  )
}
