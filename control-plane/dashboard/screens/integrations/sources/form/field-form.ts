import type { RuleType } from '../../../../../integrations/data-sources/types.ts'
import type { OperationResponse } from '../../../../core/operations.ts'
import type { FieldProposal } from '../document/rule-proposal.ts'
import { formatRuleValue, parseRuleValue } from '../document/rule-value.ts'

type StoredField = OperationResponse<'readDataSource'>['data']['fields'][number]

/** The configuration of any rule as texts. `values`: one on each line. */
type RuleForm = { value: string; values: string; other_path: string; max: string }

/** A field as it is in the form. `id`: null before it is stored. `place`: identifies its row while the form is open. */
export type FieldForm = {
  id: string | null
  place: number
  path: string
  name_template: string
  rule_type: RuleType
  rule: RuleForm
  /** whether some values are degraded instead of down */
  hasDegraded: boolean
  degraded: RuleForm
}

const EMPTY_RULE: RuleForm = { value: '', values: '', other_path: 'now', max: '' }

/** Rules with a configuration of their own for degraded. */
export const CONFIGURED: readonly RuleType[] = ['equals', 'in', 'diff_lte']

/** A rule that is written by hand. */
export const NEW_FIELD: FieldProposal = {
  ...{ path: '', name_template: '{{key}}', rule_type: 'equals', rule_config: { value: 'ok' } },
  degraded_rule_config: null,
}

export const toFieldForm = (stored: StoredField, place: number): FieldForm => ({
  ...toProposedForm(stored, place),
  id: stored.id,
})

/** A field that is not stored yet. */
export function toProposedForm(field: FieldProposal, place: number): FieldForm {
  const { path, name_template, rule_type, rule_config: config, degraded_rule_config: degraded } = field
  return {
    ...{ id: null, place, path, name_template, rule_type, rule: readRule(config) },
    ...{ hasDegraded: degraded !== null, degraded: readRule(degraded ?? {}) },
  }
}

const readRule = (config: Record<string, unknown>): RuleForm => ({
  value: 'value' in config ? formatRuleValue(config.value) : EMPTY_RULE.value,
  values: Array.isArray(config.values) ? config.values.map(formatRuleValue).join('\n') : EMPTY_RULE.values,
  other_path: typeof config.other_path === 'string' ? config.other_path : EMPTY_RULE.other_path,
  max: config.max === undefined ? EMPTY_RULE.max : String(config.max),
})

/** A field as the API accepts it. */
export function toFieldBody({ id, rule, degraded, hasDegraded, ...field }: FieldForm): FieldProposal & { id?: string } {
  const { path, name_template, rule_type } = field
  // the degraded difference is to the same value unless a stored one has another
  const limits = { ...degraded, other_path: degraded.other_path === 'now' ? rule.other_path : degraded.other_path }
  return {
    ...(id !== null && { id }),
    ...{ path: path.trim(), name_template: name_template.trim(), rule_type, rule_config: buildConfig(rule_type, rule) },
    degraded_rule_config: hasDegraded ? buildConfig(rule_type, limits) : null,
  }
}

function buildConfig(type: RuleType, { value, values, other_path, max }: RuleForm): Record<string, unknown> {
  if (type === 'equals') return { value: parseRuleValue(value) }
  if (type === 'in') {
    const lines = values.split('\n').filter(line => line.trim() !== '')
    return { values: lines.map(parseRuleValue) }
  }
  if (type === 'diff_lte') return { other_path: other_path.trim(), ...(max !== '' && { max: Number(max) }) }
  return {}
}
