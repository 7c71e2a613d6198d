import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { createTestReport } from '../../../tools/test-runner/tap-report.ts'
import { bundleTests } from '../../../tools/test-runner/test-bundle.ts'
import { selectTestFiles } from '../../../tools/test-runner/test-files.ts'
import { runTestFile } from '../../../tools/test-runner/test-process.ts'
import type { Teardown } from '../../support/teardown.ts'

/** A repository with these files. */
function repository(t: Teardown, files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'picket-tests-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  for (const [file, source] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), source)
  }
  return root
}

const PASSES = `console.log('ok 1 - fine\\n1..1')`

t.test('A file that crashes, ends early or cannot be bundled fails, and others run', async t => {
  const root = repository(t, {
    'test/unit/a-passes.test.ts': PASSES,
    'test/unit/b-crashes.test.ts': `console.log('ok 1 - fine\\n1..1'); throw new Error('afterwards')`,
    'test/unit/c-ends.test.ts': `console.log('ok 1 - fine'); process.exit(0)`,
    'test/unit/d-is-nonsense.test.ts': 'const = 1',
    'test/unit/e-imports-nothing.test.ts': `import { x } from './not-there.ts'\nconsole.log(x)`,
    'test/unit/f-is-killed.test.ts': `console.log('ok 1 - fine\\n1..1'); process.kill(process.pid, 'SIGKILL')`,
    'test/unit/g-passes.test.ts': PASSES,
  })
  const { quick } = selectTestFiles(root, []) as { quick: string[] }
  t.equal(quick.length, 7)
  const { bundleOf, remove } = await bundleTests(root, quick)
  const printed: string[] = []
  const report = createTestReport(text => printed.push(text))
  const { signal } = new AbortController()
  for (const run of await Promise.all(quick.map(file => runTestFile(file, bundleOf(file), {}, signal))))
    report.file(run)
  t.same(report.end(), { passed: 5, failed: 5 })
  const failing = printed.filter(line => line.startsWith('FAILED')).map(line => /unit\/(.)-/.exec(line)?.[1])
  t.equal(failing.join(''), 'bcdefbcdef')
  for (const why of [/Error: afterwards/, /Expected identifier/, /Could not resolve ".\/not-there.ts"/])
    t.match(printed.join('\n'), why)
  remove()
  t.notOk(existsSync(dirname(bundleOf('x.test.ts'))))
})

t.test('A bundled file has the location of its source', async t => {
  const file = 'test/unit/where.test.ts'
  // concatenated, because this file is bundled too
  const asked = ['filename', 'dirname', 'url'].map(of => `import.meta.${of}`)
  const root = repository(t, { [file]: `console.log(${asked})` })
  const { bundleOf } = await bundleTests(root, [file])
  const { lines } = await runTestFile(file, bundleOf(file), {}, new AbortController().signal)
  t.same(lines, [`${root}/${file} ${root}/test/unit file://${root}/${file}`])
})

t.test('Quick files start with the fast ones, flow files with the longest', async t => {
  const root = repository(t, {
    'test/api/a.test.ts': '',
    'test/rules/b.test.ts': '',
    'test/unit/deep/c.test.ts': '',
    'test/unit/deep/no-test.ts': '',
    'test/flow/short.test.ts': '',
    'test/flow/long.test.ts': `import t from 'tap'\n\n// takes about 100 s\n`,
    'test/flow/middle.test.ts': '// takes about 9 s',
  })
  const quick = ['test/rules/b.test.ts', 'test/unit/deep/c.test.ts', 'test/api/a.test.ts']
  const flow = ['long', 'middle', 'short'].map(name => `test/flow/${name}.test.ts`)
  t.same(selectTestFiles(root, []), { quick, flow })
  t.same(selectTestFiles(root, [join(root, 'test/unit'), join(root, flow[2]!)]), { quick: [quick[1]], flow: [flow[2]] })
  t.same(selectTestFiles(root, [join(root, 'test/unit/c.test.ts')]), { unknown: 'test/unit/c.test.ts' })
})
