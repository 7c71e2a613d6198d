import t from 'tap'
import { examine, isQuicklyExamined } from '../../../../control-plane/integrations/data-sources/evaluation/examine.ts'
import type { FieldDefinition } from '../../../../control-plane/integrations/data-sources/types.ts'

const buildFields = (count: number, given: Partial<FieldDefinition> = {}): FieldDefinition[] =>
  Array.from({ length: count }, (_, i) => ({
    ...{ id: String(i), path: '*', nameTemplate: '{{key}}', ruleType: 'truthy', ruleConfig: {} },
    ...{ degradedRuleConfig: null, ...given },
  }))
const buildAnswer = (text: string) => ({ body: Buffer.from(text), headers: null })

t.test('The main thread examines a document only when its size, its fields and their rules are small', async t => {
  const values = { values: Array.from({ length: 1_000 }, (_, i) => `value ${i}`) }
  const cases: [bytes: number, fields: FieldDefinition[], expected: boolean][] = [
    [0, [], true],
    [32_000, buildFields(1), true],
    [33_000, buildFields(1), false],
    [33_000, [], false],
    [3_000, buildFields(10), true],
    [3_300, buildFields(10), false],
    [500, buildFields(50), true],
    [700, buildFields(50), false],
    [100, buildFields(1, { ruleType: 'in', ruleConfig: values }), true],
    [100, buildFields(3, { ruleType: 'in', ruleConfig: values }), false],
    [100, buildFields(2, { ruleType: 'in', ruleConfig: values, degradedRuleConfig: values }), false],
  ]
  for (const [bytes, fields, expected] of cases) {
    const isQuick = isQuicklyExamined({ answer: buildAnswer('x'.repeat(bytes)), fields })
    t.equal(isQuick, expected, `${bytes} bytes, ${fields.length} fields`)
  }
})

t.test(
  'A document with too many keys or with URLs says what it needs, and the same matches are then evaluated',
  async t => {
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`key-${i}`, `https://${i}.example.com/`]))
    const examined = (
      document: object,
      fields: FieldDefinition[],
      known: Set<string> | null,
      answers: Map<string, { isOk: boolean; message: string }> | null,
    ) =>
      examine({
        ...{ answer: buildAnswer(JSON.stringify(document)), rootPath: null, now: new Date(0), isShown: false },
        fields,
        known,
        answers,
      })
    const urls = buildFields(1, { ruleType: 'http_ok' })
    t.same(examined(many, urls, null, null), { needsKnown: true })
    t.match(examined(many, urls, new Set(), null), { urls: { length: 200 } })
    t.match(examined(many, urls, new Set(), new Map()), { evaluation: { children: { length: 200 }, keys: 201 } })
    t.match(examined(many, buildFields(1), null, null), { needsKnown: true })
    t.match(examined({ a: 200 }, urls, null, null), { evaluation: { children: [{ outcome: 'up' }], keys: 1 } })
  },
)
