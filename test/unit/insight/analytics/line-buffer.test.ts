import t from 'tap'
import { createLineBuffer } from '../../../../control-plane/insight/analytics/recording/line-buffer.ts'

t.test('Any part of the lines is their UTF-8, whatever their characters and lengths', async t => {
  const lines = Array.from(
    { length: 3_000 },
    (_, i) => `["${i}","${['', 'é', '€uro', '😀'.repeat(i % 700)][i % 4]}"]\n`,
  )
  lines.push(`["${'ü€😀'.repeat(100_000)}"]\n`, '[]\n')
  const buffer = createLineBuffer()
  for (const line of lines) buffer.add(line)
  t.equal(buffer.count(), lines.length)
  for (const [from, to] of [
    [0, lines.length],
    [0, 1],
    [1_499, 1_502],
    [2_999, 3_001],
    [lines.length - 1, lines.length],
    [7, 7],
  ] as const)
    t.equal(buffer.slice(from, to).toString(), lines.slice(from, to).join(''), `${from} to ${to}`)
})

t.test('Lines that are added later leave an earlier part as it is', async t => {
  const buffer = createLineBuffer()
  buffer.add('[1]\n')
  const part = buffer.slice(0, 1)
  for (let i = 0; i < 100_000; i++) buffer.add('[2]\n')
  t.equal(part.toString(), '[1]\n')
  t.equal(buffer.slice(0, 2).toString(), '[1]\n[2]\n')
})
