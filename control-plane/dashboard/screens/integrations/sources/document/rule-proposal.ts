/** The rule that a value suggests. Pure. */
import { computeDistance, parseComparable } from '../../../../../integrations/data-sources/evaluation/comparable.ts'
import { parseUrl } from '../../../../../integrations/data-sources/evaluation/rules.ts'
import type { RuleType } from '../../../../../integrations/data-sources/types.ts'

/** A field as the API accepts it. */
export type FieldProposal = {
  path: string
  name_template: string
  rule_type: RuleType
  rule_config: Record<string, unknown>
  degraded_rule_config: Record<string, unknown> | null
}

export type RuleProposal = Pick<FieldProposal, 'rule_type' | 'rule_config' | 'degraded_rule_config'>

/** Words for what works, and for what works partly. */
const GOOD =
  /^(ok|okay|up|operational|healthy|good|green|running|active|pass|passing|passed|success|successful|succeeded|available|online|normal|ready|enabled|alive|none)$/i
const PARTLY =
  /^(degraded|slow|warn|warning|partial|partially.?degraded|degraded.?performance|yellow|amber|minor|impaired|unstable)$/i

export const isGoodWord = (value: unknown): boolean => typeof value === 'string' && GOOD.test(value)
export const isPartlyWord = (value: unknown): boolean => typeof value === 'string' && PARTLY.test(value)

const CODE_KEY = /status|code|http/i
const TIME_KEY =
  /(^|[ _-])(at|time|date|timestamp|seen|updated|modified|run|beat|heartbeat|checked|backup)$|^(ts|last)/i

const [HOUR, DAY] = [3_600, 86_400]
/** Ages in seconds that are proposed. */
const AGES = [300, 900, HOUR, 6 * HOUR, DAY, 2 * DAY, 7 * DAY, 31 * DAY, 366 * DAY]
const MAX_CHOICES = 5
const MAX_TEXT = 200

/**
 * Proposes a rule for a value. `others`: the values of all monitors of the path, so that "every service" is judged by all of
 * them. `key`: the name of the value. What the value is now counts as up, unless the words of the values say otherwise.
 */
export function proposeRule({
  value,
  others,
  key,
  nowMs,
}: {
  value: unknown
  others: readonly unknown[]
  key: string
  nowMs: number
}): RuleProposal {
  if (parseUrl(value) !== null) return buildRule('http_ok')
  if (typeof value === 'boolean') return value || others.includes(true) ? buildRule('truthy') : equalTo(value)
  if (typeof value === 'string') return proposeForText(value, others, nowMs)
  if (typeof value === 'number') return proposeForNumber(value, key, nowMs)
  return value === null ? buildRule('truthy') : equalTo(value)
}

function proposeForText(value: string, others: readonly unknown[], nowMs: number): RuleProposal {
  const time = parseComparable(value)
  if (time?.isTime) return proposeAge(value, nowMs)
  if (value.length > MAX_TEXT) return buildRule('truthy')
  const texts = [...new Set(others.filter(other => typeof other === 'string'))]
  const good = texts.filter(isGoodWord)
  const partly = texts.filter(isPartlyWord)
  if (good.length > 0) return withDegraded(amongValues(good), partly)
  if (PARTLY.test(value) || texts.length === 1) return equalTo(value)
  return texts.length <= MAX_CHOICES ? amongValues(texts) : buildRule('truthy')
}

function proposeForNumber(value: number, key: string, nowMs: number): RuleProposal {
  if (CODE_KEY.test(key) && Number.isInteger(value) && value >= 100 && value <= 599) return buildRule('http_ok')
  const isTime = TIME_KEY.test(key) && value > 1e9
  if (isTime) return proposeAge(value, nowMs)
  return value === 0 ? equalTo(0) : buildRule('truthy')
}

/** Not older than the shortest usual time that is at least twice the age now. */
function proposeAge(value: unknown, nowMs: number): RuleProposal {
  const now = { amount: nowMs / 1_000, isTime: true }
  const own = parseComparable(value)
  const age = own === null ? 0 : computeDistance(own, now).amount
  const max = AGES.find(seconds => seconds >= age * 2) ?? Math.ceil((age * 2) / DAY) * DAY
  return { rule_type: 'diff_lte', rule_config: { other_path: 'now', max }, degraded_rule_config: null }
}

const buildRule = (type: 'truthy' | 'http_ok'): RuleProposal => ({
  rule_type: type,
  rule_config: {},
  degraded_rule_config: null,
})

const equalTo = (value: unknown): RuleProposal => ({
  rule_type: 'equals',
  rule_config: { value },
  degraded_rule_config: null,
})

const amongValues = (values: readonly unknown[]): RuleProposal =>
  values.length === 1
    ? equalTo(values[0])
    : { rule_type: 'in', rule_config: { values: [...values] }, degraded_rule_config: null }

/** The configuration of degraded is one of the same rule. */
function withDegraded(rule: RuleProposal, partly: readonly unknown[]): RuleProposal {
  if (partly.length === 0) return rule
  if (rule.rule_type === 'equals' && partly.length === 1) return { ...rule, degraded_rule_config: { value: partly[0] } }
  const values = (rule.rule_config.values as unknown[] | undefined) ?? [rule.rule_config.value]
  return { rule_type: 'in', rule_config: { values }, degraded_rule_config: { values: [...partly] } }
}
