import t from 'tap'
import { parseImports, sources } from './source.ts'

t.test('the oracle of the simulation imports nothing of what it judges', async t => {
  const files = sources('test/simulate/oracle')
  t.ok(files.length > 0)
  const found = files.flatMap(parseImports).filter(({ target }) => !target.startsWith('test/simulate/oracle/'))
  t.same(
    found.map(({ file, line, target }) => `${file}:${line} ${target}`),
    [],
  )
})

t.test('no code that decides a status reads ClickHouse or maintenance', async t => {
  const all = new Map(sources('control-plane', 'shared', 'proto').map(source => [source.path, source]))
  const deciding = ['control-plane/verdict/core/rules/', 'control-plane/verdict/reader/counting/']
  const reached = new Set([...all.keys()].filter(path => deciding.some(folder => path.startsWith(folder))))
  t.ok(reached.size > 10, `${reached.size} files`)
  for (const path of reached) {
    const source = all.get(path)
    const imports = source === undefined ? [] : parseImports(source).filter(({ isType }) => !isType)
    for (const { target } of imports) reached.add(target)
  }
  t.ok(reached.size > 30, `${reached.size} files and packages`)
  t.same(
    [...reached].filter(path => /clickhouse|maintenance/i.test(path)),
    [],
  )
})
