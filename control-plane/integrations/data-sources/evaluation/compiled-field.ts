import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { countWildcards, type DocumentPath, parsePath } from '../document/path.ts'
import type { FieldDefinition } from '../types.ts'
import { type NameTemplate, parseNameTemplate } from './name-template.ts'
import type { CompiledRule, CompileRule } from './rule.ts'
import { RULES } from './rules.ts'

/** A field with its path, template and rules parsed. */
export type CompiledField = {
  path: DocumentPath
  template: NameTemplate
  rule: CompiledRule
  degradedRule: CompiledRule | null
}

/** Compiles a field, or returns its problems at paths such as `rule_config.max`. */
export function compileField(field: Omit<FieldDefinition, 'id'>): CompiledField | { problems: ErrorDetail[] } {
  const path = parsePath(field.path)
  if ('problem' in path) return { problems: [toDetail('path', path.problem)] }
  const template = parseNameTemplate(field.nameTemplate, countWildcards(path))
  const compileRule = RULES[field.ruleType]
  const rule = compileRule(field.ruleConfig, path)
  const degradedRule = field.degradedRuleConfig && compileRule(field.degradedRuleConfig, path)
  if (!('problem' in template) && typeof rule === 'function' && (!degradedRule || typeof degradedRule === 'function')) {
    return { path, template, rule, degradedRule }
  }
  return {
    problems: [
      ...('problem' in template ? [toDetail('name_template', template.problem)] : []),
      ...toConfigDetails('rule_config', rule),
      ...toConfigDetails('degraded_rule_config', degradedRule),
    ],
  }
}

function toConfigDetails(path: string, compiled: ReturnType<CompileRule> | null): ErrorDetail[] {
  if (compiled === null || typeof compiled === 'function') return []
  return compiled.problems.map(({ key, message }) => toDetail(`${path}.${key}`, message))
}

const toDetail = (path: string, message: string): ErrorDetail => ({ path, message: `${path} ${message}` })
