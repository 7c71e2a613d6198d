import t from 'tap'
import { createReport } from '../../../deploy/local/tap-report.ts'

function count(tap: string): { passed: number; failed: number; printed: string } {
  const printed: string[] = []
  const report = createReport(text => printed.push(text))
  for (const line of tap.split('\n')) report.line(line)
  return { ...report.end(), printed: printed.join('\n') }
}

t.test('tests are counted a level below the file, not their assertions', async t => {
  const { passed, failed, printed } = count(`TAP version 14
# Subtest: test/a.test.ts
    # Subtest: one
        ok 1 - x
        ok 2 - y
    ok 1 - one # time=1ms
    ok 2 - two # time=1ms
    1..2
ok 1 - test/a.test.ts # time=12.4ms

1..1`)
  t.same({ passed, failed }, { passed: 2, failed: 0 })
  t.match(printed, 'ok     test/a.test.ts 12 ms, 2 tests')
})

t.test('a failing file is printed whole, and its failing tests counted', async t => {
  const { passed, failed, printed } = count(`# Subtest: test/a.test.ts
    ok 1 - one
    not ok 2 - two
      ---
      diff: |
    not ok 9 - this is text of a diff
      ...
not ok 1 - test/a.test.ts # time=5ms
  ---
  exitCode: 1
  ...

1..1`)
  t.same({ passed, failed }, { passed: 1, failed: 1 })
  t.match(printed, 'not ok 2 - two')
  t.match(printed, 'FAILED test/a.test.ts 5 ms, 2 tests')
})

t.test('a file that fails though none of its tests did counts as one failure', async t => {
  const tap = `# Subtest: test/a.test.ts
    ok 1 - one
not ok 1 - test/a.test.ts # time=5ms
  ---
  exitCode: 3
  ...

# Subtest: test/b.test.ts
    ok 1 - one
ok 2 - test/b.test.ts # time=5ms`
  t.match(count(tap), { passed: 2, failed: 1 })
})

t.test('the buffered form of a file counts the same', async t => {
  const tap = `ok 1 - test/a.test.ts # time=5ms {
    ok 1 - one
    ok 2 - two
    1..2
}

not ok 2 - test/b.test.ts # time=5ms {
    not ok 1 - one
    1..1
}
`
  t.match(count(tap), { passed: 2, failed: 1 })
})

t.test('a skipped test counts as nothing', async t => {
  const skipped = 'SKIP'
  t.match(count(`    ok 1 - one # ${skipped} later\n    ok 2 - two\nok 1 - test/a.test.ts`), { passed: 1, failed: 0 })
})
