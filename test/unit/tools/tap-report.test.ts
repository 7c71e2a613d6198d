import t from 'tap'
import { createTestReport } from '../../../tools/test-runner/tap-report.ts'

function count(tap: string, code: number | null = 0): { passed: number; failed: number; printed: string } {
  const printed: string[] = []
  const report = createTestReport(text => printed.push(text))
  report.file({ file: 'test/a.test.ts', lines: tap.split('\n'), errors: [], code, tookMs: 12.4 })
  return { ...report.end(), printed: printed.join('\n') }
}

t.test('Tests are counted, not their assertions', async t => {
  const { passed, failed, printed } = count(`TAP version 14
# Subtest: one
    ok 1 - x
    ok 2 - y
    1..2
ok 1 - one # time=1ms

ok 2 - two # time=1ms
1..2
# time=12ms`)
  t.same({ passed, failed }, { passed: 2, failed: 0 })
  t.equal(printed, 'ok     test/a.test.ts 12 ms, 2 tests')
})

t.test('A failing file is printed completely, its failed tests counted, and repeated at the end', async t => {
  const { passed, failed, printed } = count(
    `ok 1 - one
not ok 2 - two
  ---
  diff: |
    not ok 9 - this is text of a diff
  ...

1..2`,
    1,
  )
  t.same({ passed, failed }, { passed: 1, failed: 1 })
  t.match(printed, 'not ok 2 - two')
  t.same(
    printed.split('\n').filter(line => line.startsWith('FAILED')),
    ['FAILED test/a.test.ts 12 ms, 2 tests', 'FAILED test/a.test.ts 12 ms, 2 tests'],
  )
})

t.test('A file that fails without a failed test counts as one failure', async t => {
  const rows: [string, string, number | null][] = [
    ['it crashed at its end', 'ok 1 - one\n1..1', 3],
    ['it was killed', 'ok 1 - one', null],
    ['it ended before its plan', 'ok 1 - one', 0],
    ['it ended before its plan was met', '1..2\nok 1 - one', 0],
    ['it gave up', 'ok 1 - one\nBail out! no server\n1..1', 0],
  ]
  for (const [what, tap, code] of rows) t.match(count(tap, code), { passed: 1, failed: 1 }, what)
})

t.test('A file without a test or output is a failure', async t => {
  t.match(count('TAP version 14\n1..0'), { passed: 0, failed: 1 })
  t.match(count(''), { passed: 0, failed: 1 })
})

t.test('The buffered form of a test counts the same', async t => {
  const tap = `not ok 1 - one # time=5ms {
    ok 1 - x
    not ok 2 - y
    1..2
}

ok 2 - two # time=5ms {
    1..0
}

1..2`
  t.match(count(tap, 1), { passed: 1, failed: 1 })
})

t.test('A skipped test is not counted', async t => {
  const skipped = 'SKIP'
  t.match(count(`ok 1 - one # ${skipped} later\nok 2 - two\n1..2`), { passed: 1, failed: 0 })
})
