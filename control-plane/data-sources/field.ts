import type { Detail } from '../web/errors.ts'
import { parseTemplate, type Template } from './name-template.ts'
import { type Path, parsePath, wildcardsOf } from './path.ts'
import type { Judge, ReadRule } from './rule.ts'
import { RULES } from './rules.ts'
import type { FieldDefinition } from './types.ts'

/** A field whose texts are read, ready to be looked for in documents. */
export type ReadyField = { path: Path; template: Template; judge: Judge; judgeDegraded: Judge | null }

/** Reads a field; else everything wrong with it, at places such as `rule_config.max`. */
export function readField(field: Omit<FieldDefinition, 'id'>): ReadyField | { problems: Detail[] } {
  const path = parsePath(field.path)
  if ('problem' in path) return { problems: [detailOf('path', path.problem)] }
  const template = parseTemplate(field.nameTemplate, wildcardsOf(path))
  const readRule = RULES[field.ruleType]
  const judge = readRule(field.ruleConfig, path)
  const judgeDegraded = field.degradedRuleConfig && readRule(field.degradedRuleConfig, path)
  if (
    !('problem' in template) &&
    typeof judge === 'function' &&
    (!judgeDegraded || typeof judgeDegraded === 'function')
  ) {
    return { path, template, judge, judgeDegraded }
  }
  return {
    problems: [
      ...('problem' in template ? [detailOf('name_template', template.problem)] : []),
      ...configDetails('rule_config', judge),
      ...configDetails('degraded_rule_config', judgeDegraded),
    ],
  }
}

function configDetails(path: string, read: ReturnType<ReadRule> | null): Detail[] {
  if (read === null || typeof read === 'function') return []
  return read.problems.map(({ key, message }) => detailOf(`${path}.${key}`, message))
}

const detailOf = (path: string, message: string): Detail => ({ path, message: `${path} ${message}` })
