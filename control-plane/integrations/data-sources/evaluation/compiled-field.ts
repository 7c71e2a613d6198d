import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { countWildcards, type DocumentPath, parsePath } from '../document/path.ts'
import type { FieldDefinition } from '../types.ts'
import { type NameTemplate, parseNameTemplate } from './name-template.ts'
import type { CompiledRule, CompileRule } from './rule.ts'
import { RULES } from './rules.ts'

/** A field whose texts are read, ready to be looked for in documents. */
export type CompiledField = {
  path: DocumentPath
  template: NameTemplate
  rule: CompiledRule
  degradedRule: CompiledRule | null
}

/** Reads a field; else everything wrong with it, at places such as `rule_config.max`. */
export function compileField(field: Omit<FieldDefinition, 'id'>): CompiledField | { problems: ErrorDetail[] } {
  const path = parsePath(field.path)
  if ('problem' in path) return { problems: [toDetail('path', path.problem)] }
  const template = parseNameTemplate(field.nameTemplate, countWildcards(path))
  const readRule = RULES[field.ruleType]
  const judge = readRule(field.ruleConfig, path)
  const judgeDegraded = field.degradedRuleConfig && readRule(field.degradedRuleConfig, path)
  if (
    !('problem' in template) &&
    typeof judge === 'function' &&
    (!judgeDegraded || typeof judgeDegraded === 'function')
  ) {
    return { path, template, rule: judge, degradedRule: judgeDegraded }
  }
  return {
    problems: [
      ...('problem' in template ? [toDetail('name_template', template.problem)] : []),
      ...toConfigDetails('rule_config', judge),
      ...toConfigDetails('degraded_rule_config', judgeDegraded),
    ],
  }
}

function toConfigDetails(path: string, read: ReturnType<CompileRule> | null): ErrorDetail[] {
  if (read === null || typeof read === 'function') return []
  return read.problems.map(({ key, message }) => toDetail(`${path}.${key}`, message))
}

const toDetail = (path: string, message: string): ErrorDetail => ({ path, message: `${path} ${message}` })
