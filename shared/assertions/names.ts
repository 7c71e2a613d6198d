/** The operators of assertions. Only names, so that browsers can use them without the expressions that they are made of. */
export const OPERATOR_NAMES = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'less_than',
  'greater_than',
  'matches',
  'not_matches',
  'exists',
  'not_exists',
] as const
export type OperatorName = (typeof OPERATOR_NAMES)[number]

const NUMERIC: readonly OperatorName[] = ['equals', 'not_equals', 'less_than', 'greater_than']
const TEXTUAL: readonly OperatorName[] = ['equals', 'not_equals', 'contains', 'not_contains', 'matches', 'not_matches']
const LIMITS: readonly OperatorName[] = ['less_than', 'greater_than']

/** The operators that each assertion type accepts (docs/design/checks.md#assertions). */
export const ASSERTION_OPERATORS = {
  status_code: [...NUMERIC, 'matches', 'not_matches'],
  response_time: LIMITS,
  header: OPERATOR_NAMES,
  body: TEXTUAL,
  json_path: OPERATOR_NAMES,
  dns_record: [...TEXTUAL, 'exists', 'not_exists'],
  certificate_days: NUMERIC,
  'phase.dns': LIMITS,
  'phase.connect': LIMITS,
  'phase.tls': LIMITS,
  'phase.first_byte': LIMITS,
  'phase.transfer': LIMITS,
} satisfies Record<string, readonly OperatorName[]>
export type AssertionType = keyof typeof ASSERTION_OPERATORS
