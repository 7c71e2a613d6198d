import t from 'tap'
import { isListedAsEnrolled } from '../../../tools/start/listed-probes.ts'

const row = (name: string, ...marks: string[]) =>
  ['1', 'eu-west', name, '2026-01-01T00:00:00.000Z', ...marks].join('\t')

t.test('A local probe is enrolled when one of its rows in "probe list" is not revoked', async t => {
  const rows: [string, string[], boolean][] = [
    ['no rows', [], false],
    ['its only row', [row('local-eu-west')], true],
    ['a drained probe', [row('local-eu-west', 'drained')], true],
    ['a revoked probe', [row('local-eu-west', 'revoked')], false],
    ['a revoked and drained probe', [row('local-eu-west', 'revoked', 'drained')], false],
    ['enrolled again after it was revoked', [row('local-eu-west', 'revoked'), row('local-eu-west')], true],
    ['another probe only', [row('local-us-east')], false],
    ['revoked, and another probe is not', [row('local-eu-west', 'revoked'), row('local-us-east')], false],
  ]
  for (const [what, lines, isEnrolled] of rows)
    t.equal(isListedAsEnrolled(`${lines.join('\n')}\n`, 'local-eu-west'), isEnrolled, what)
})
