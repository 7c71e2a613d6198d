import t from 'tap'
import { importsOf, sources } from './source.ts'

t.test('the oracle of the simulation imports nothing of what it judges', async t => {
  const files = sources('test/simulate/oracle')
  t.ok(files.length > 0)
  const found = files.flatMap(importsOf).filter(({ target }) => !target.startsWith('test/simulate/oracle/'))
  t.same(
    found.map(({ file, line, target }) => `${file}:${line} ${target}`),
    [],
  )
})
