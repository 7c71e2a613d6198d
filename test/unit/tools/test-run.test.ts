import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { createTestReport, type FileRun } from '../../../tools/test-runner/tap-report.ts'
import { bundleTests } from '../../../tools/test-runner/test-bundle.ts'
import { groupFiles, selectTestFiles } from '../../../tools/test-runner/test-files.ts'
import { runTestFiles } from '../../../tools/test-runner/test-process.ts'
import { ROOT } from '../../support/deployment.ts'
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
  const bundles = await bundleTests(root, quick)
  const printed: string[] = []
  const report = createTestReport(text => printed.push(text))
  const { signal } = new AbortController()
  const runs: FileRun[] = []
  await Promise.all(quick.map(file => runTestFiles([file], bundles, {}, signal, run => runs.push(run))))
  for (const run of runs.sort((a, b) => (a.file < b.file ? -1 : 1))) report.file(run)
  t.same(report.end(), { passed: 5, failed: 5 })
  const failing = printed.filter(line => line.startsWith('FAILED')).map(line => /unit\/(.)-/.exec(line)?.[1])
  t.equal(failing.join(''), 'bcdefbcdef')
  for (const why of [/Error: afterwards/, /Expected identifier/, /Could not resolve ".\/not-there.ts"/])
    t.match(printed.join('\n'), why)
  bundles.remove()
  t.notOk(existsSync(dirname(bundles.buildPath('x.test.ts'))))
})

t.test(
  'A bundled file has the location of its source, also when another imports a file that cannot be bundled',
  async t => {
    const file = 'test/unit/where.test.ts'
    const broken = 'test/unit/broken.test.ts'
    // concatenated, because this file is bundled too
    const asked = ['filename', 'dirname', 'url'].map(of => `import.meta.${of}`)
    const root = repository(t, {
      [file]: `console.log(${asked})`,
      [broken]: `import './nonsense.ts'`,
      'test/unit/nonsense.ts': 'const = 1',
    })
    const files = [broken, file]
    const runs: FileRun[] = []
    const { signal } = new AbortController()
    const bundles = await bundleTests(root, files)
    for (const one of files) await runTestFiles([one], bundles, {}, signal, run => runs.push(run))
    t.match(runs[0]?.errors.join(), /nonsense\.ts:1:6: ERROR: Expected identifier/)
    t.same(runs[1]?.lines, [`${root}/${file} ${root}/test/unit file://${root}/${file}`])
  },
)

t.test('Files of one process are reported one by one; files after a crash fail', async t => {
  const passing = `import t from 'tap'\nt.test('one', async t => { t.ok(true) })\nt.test('two', async t => { t.ok(true) })`
  const root = repository(t, {
    'test/unit/a-passes.test.ts': passing,
    'test/unit/b-fails.test.ts': `import t from 'tap'\nt.test('one', async t => { t.equal(1, 2) })`,
    'test/unit/c-has-no-test.test.ts': '',
    'test/unit/d-throws.test.ts': `throw new Error('at once')`,
    'test/unit/e-passes.test.ts': passing,
    'test/unit/e-is-nonsense.test.ts': 'const = 1',
    'test/unit/e-tears-down.test.ts': `${passing}\nt.teardown(() => { throw new Error('boom') })`,
    'test/unit/f-ends.test.ts': `import t from 'tap'\nt.test('one', async t => { t.equal(3, 4); process.exit(0) })`,
    'test/unit/g-passes.test.ts': passing,
  })
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  const { quick } = selectTestFiles(root, []) as { quick: string[] }
  t.same(groupFiles(root, quick), [quick])
  const printed: string[] = []
  const report = createTestReport(text => printed.push(text))
  const runs: FileRun[] = []
  const { signal } = new AbortController()
  await runTestFiles(quick, await bundleTests(root, quick), {}, signal, run => runs.push(run))
  t.same(
    runs.map(({ file }) => file),
    quick,
  )
  for (const run of runs) report.file(run)
  t.match(report.end(), { failed: 7 })
  const failing = new Set(
    printed.filter(line => line.startsWith('FAILED')).map(line => /unit\/([\w-]+)/.exec(line)?.[1]),
  )
  t.same([...failing], ['b-fails', 'c-has-no-test', 'd-throws', 'e-is-nonsense', 'e-tears-down', 'f-ends', 'g-passes'])
  for (const why of [/Expected identifier/, /at once/, /boom/, /\+3/]) t.match(printed.join('\n'), why)
})

t.test('An error that escapes from a test fails this test and no other', async t => {
  const escapes: Record<string, string> = {
    'a-timer': `setTimeout(() => { throw new Error('boom') }, 1)`,
    'b-rejection': `void (async () => { await null; throw new Error('boom') })()`,
    'c-rejection-later': `setTimeout(() => { void Promise.reject(new Error('boom')) }, 1)`,
    'd-emitter': `createServer(({ socket }) => { socket.destroy(); throw new Error('boom') }).listen(0, function () { get({ port: this.address().port }).on('error', () => {}) }).unref()`,
    'e-tick': `process.nextTick(() => { throw new Error('boom') })`,
    'f-no-error': `setTimeout(() => { throw null }, 1)`,
  }
  const buildSource = (code: string) =>
    [
      `import { createServer, get } from 'node:http'`,
      `import t from 'tap'`,
      `t.test('one', async t => { t.ok(true) })`,
      `t.test('escapes', async t => { ${code} })`,
      `t.test('three', async t => { t.ok(true) })`,
    ].join('\n')
  const root = repository(
    t,
    Object.fromEntries(
      Object.entries(escapes).flatMap(([name, code]) => [
        [`test/unit/${name}.test.ts`, buildSource(`${code}; await new Promise(() => {})`)],
        [`test/unit/${name}-passes.test.ts`, buildSource('t.ok(true)')],
      ]),
    ),
  )
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  const { quick } = selectTestFiles(root, []) as { quick: string[] }
  const bundles = await bundleTests(root, quick)
  const { signal } = new AbortController()
  for (const group of [quick, ...quick.map(file => [file])]) {
    await runTestFiles(group, bundles, {}, signal, ({ file, lines, code }) => {
      const points = lines.filter(line => /^(not )?ok/.test(line)).map(line => /^(?:not )?ok \d+ - \S+/.exec(line)?.[0])
      const isEscape = !file.includes('passes')
      t.same(points.slice(0, 3), ['ok 1 - one', `${isEscape ? 'not ' : ''}ok 2 - escapes`, 'ok 3 - three'], file)
      t.equal(code, isEscape ? 1 : 0, file)
    })
  }
})

t.test('An error after the last test of a process is a failure', async t => {
  const root = repository(t, {
    'test/unit/a-passes.test.ts': `import t from 'tap'\nt.test('one', async t => { t.ok(true) })`,
    'test/unit/b-throws-late.test.ts': `import t from 'tap'\nt.test('one', async t => { t.ok(true) })\nprocess.once('exit', () => process.exit(7))`,
  })
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  const { quick } = selectTestFiles(root, []) as { quick: string[] }
  const report = createTestReport(() => {})
  const { signal } = new AbortController()
  await runTestFiles(quick, await bundleTests(root, quick), {}, signal, run => report.file(run))
  t.same(report.end(), { passed: 2, failed: 1 })
})

t.test(
  'A group has files of one folder that share an API, or none; files that ask for a process of their own or take long are not in a group',
  async t => {
    const root = repository(t, {
      'test/unit/a.test.ts': '',
      'test/unit/b.test.ts': '// runs in a process of its own, because it measures memory',
      'test/unit/c.test.ts': '',
      'test/api/d.test.ts': '',
      'test/api/g.test.ts': 'const api = await shareApi()',
      'test/api/h.test.ts': '',
      'test/api/i.test.ts': 'const api = await shareApi()',
      'test/rules/e.test.ts': '',
      'test/rules/f.test.ts': '',
      'test/flow/j.test.ts': '',
      'test/flow/k.test.ts': '// takes about 20 s',
      'test/flow/l.test.ts': '// takes about 19 s',
      'test/store/m.test.ts': '// takes about 20 s',
    })
    const { quick, flow } = selectTestFiles(root, []) as { quick: string[]; flow: string[] }
    const names = groupFiles(root, [...quick, ...flow]).map(group =>
      group.map(file => file.split('/').at(-1)![0]).join(''),
    )
    t.same(names.sort(), ['ac', 'b', 'dh', 'ef', 'gi', 'k', 'lj', 'm'])
  },
)

t.test('Quick files start with the rules; flow files, and quick ones that take long, with the longest', async t => {
  const root = repository(t, {
    'test/api/a.test.ts': '',
    'test/rules/b.test.ts': '',
    'test/unit/deep/c.test.ts': '',
    'test/unit/deep/no-test.ts': '',
    'test/flow/short.test.ts': '',
    'test/flow/long.test.ts': `import t from 'tap'\n\n// takes about 100 s\n`,
    'test/flow/middle.test.ts': '// takes about 9 s',
    'test/store/long.test.ts': '// takes about 20 s',
    'test/faults/kill.test.ts': '',
    'test/attacks/bodies.test.ts': '',
  })
  const quick = ['test/rules/b.test.ts', 'test/api/a.test.ts', 'test/unit/deep/c.test.ts']
  const flow = ['flow/long', 'store/long', 'flow/middle', 'flow/short'].map(name => `test/${name}.test.ts`)
  t.same(selectTestFiles(root, []), { quick, flow })
  t.same(selectTestFiles(root, [join(root, 'test/unit'), join(root, flow[3]!)]), { quick: [quick[2]], flow: [flow[3]] })
  t.same(selectTestFiles(root, [join(root, 'test/faults')]), { quick: [], flow: ['test/faults/kill.test.ts'] })
  t.same(selectTestFiles(root, [join(root, 'test/attacks')]), { quick: ['test/attacks/bodies.test.ts'], flow: [] })
  t.same(selectTestFiles(root, [join(root, 'test/unit/c.test.ts')]), { unknown: 'test/unit/c.test.ts' })
})
