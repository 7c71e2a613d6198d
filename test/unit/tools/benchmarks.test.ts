import t from 'tap'
import { HIGHLIGHTS, replaceHighlights, replacePart } from '../../bench/document.ts'
import type { Figure } from '../../bench/rig.ts'

const occasion = { date: '2026-11-23', machine: '2 cores' }
const row = (what: string, text: string): Figure => ({ what, figure: text, aim: '≤ 2', isMet: true })

t.test('A part of the bench replaces its own section and leaves the others', async t => {
  const document = '# Benchmarks\n\n## idle\n\nold\n\n## ping\n\nkept\n'
  const written = replacePart(document, 'idle', [row('memory', '1 MB')], occasion)
  t.match(written, /^# Benchmarks\n\n## idle\n\nMeasured on 2026-11-23: 2 cores\.\n/)
  t.match(written, /\| memory \| 1 MB \| ≤ 2 \| met \|\n\n## ping\n\nkept\n$/)
  t.notMatch(written, /old/)
  t.same(replacePart(written, 'idle', [row('memory', '1 MB')], occasion), written, 'a second run with the same figures')
})

t.test('A part without a section gets one at the end', async t => {
  t.match(
    replacePart('# Benchmarks\n\n## ping\n\nkept\n', 'idle', [row('memory', '1 MB')], occasion),
    /kept\n\n## idle\n/,
  )
})

t.test('README repeats the highlighted rows unchanged, and a missing row is an error', async t => {
  const readme = 'before\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nafter\n'
  const document = HIGHLIGHTS.map(start => `| ${start} … | 1 | 2 | met |`).join('\n')
  const written = replaceHighlights(readme, document)
  t.match(written, /^before\n<!-- bench:begin -->\n\| what /)
  for (const start of HIGHLIGHTS) t.ok(written.includes(`| ${start} … | 1 | 2 | met |`))
  t.match(written, /<!-- bench:end -->\nafter\n$/)
  t.throws(() => replaceHighlights(readme, '| other |'), /has no row that begins with/)
})
