import { compileField } from '../../../../../integrations/data-sources/evaluation/compiled-field.ts'
import {
  collectMatches,
  evaluate,
  listUrlsToCheck,
} from '../../../../../integrations/data-sources/evaluation/evaluate.ts'
import { type FieldDefinition, RULE_TYPES } from '../../../../../integrations/data-sources/types.ts'
import type { OperationResponse } from '../../../../core/operations.ts'
import type { FieldProblem } from '../../../../parts/forms/field-errors.ts'
import { type FieldForm, toFieldBody } from './field-form.ts'

export type Preview = OperationResponse<'previewDataSource'>['data']

/** A newer server can have rules that this page does not know. */
const isKnown = ({ rule_type }: FieldForm) => RULE_TYPES.includes(rule_type)

/** The monitors that fields make from a document. */
export type Verdicts = Pick<Preview, 'children' | 'notes'>

const toDefinition = (field: FieldForm, i: number): FieldDefinition => {
  const { path, name_template, rule_type, rule_config, degraded_rule_config } = toFieldBody(field)
  const config = { ruleType: rule_type, ruleConfig: rule_config, degradedRuleConfig: degraded_rule_config }
  return { id: String(i), path, nameTemplate: name_template, ...config }
}

/**
 * Evaluates fields with the code of the server. Null when only the server can: the document is not complete here, or addresses in it
 * have to be requested.
 */
export function evaluateFields(preview: Preview, fields: readonly FieldForm[], nowMs: number): Verdicts | null {
  if (preview.document_note !== null || !fields.every(isKnown)) return null
  const definitions = fields.map(toDefinition)
  const collected = collectMatches(preview.document, definitions)
  if (listUrlsToCheck(collected).length > 0) return null
  const { children, notes } = evaluate(preview.document, collected, new Date(nowMs), new Map())
  return {
    children: children.map(({ fieldId, key, name, typed, outcome, reason }) => ({
      ...{ field_index: Number(fieldId), key, name, value: typed, status: outcome, reason },
    })),
    notes,
  }
}

/** What the server would refuse about fields, in its words. */
export const findFieldProblems = (fields: readonly FieldForm[]): FieldProblem[] =>
  fields.flatMap((field, i) => {
    if (!isKnown(field)) return []
    const compiled = compileField(toDefinition(field, i))
    if (!('problems' in compiled)) return []
    return compiled.problems.map(({ path, message }) => ({
      path: `fields[${i}].${path}`,
      message: `fields[${i}].${message}`,
    }))
  })
