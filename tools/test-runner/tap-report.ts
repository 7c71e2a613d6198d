import type { FileRun } from './test-process.ts'

export type TestReport = { file(run: FileRun): void; end(): { passed: number; failed: number } }

/**
 * Prints a line a test file (before it what it wrote to standard error, and all that a failing file said), and counts the tests: the test points at the margin of a
 * file's TAP. A file that failed though none of its tests did (it crashed, hung, ended before its plan was met or holds
 * no test) counts as one failure; a skipped test counts as nothing. `inSources` says of a line's places where they are in
 * the sources.
 */
export function createTestReport(print: (text: string) => void, inSources = (line: string) => line): TestReport {
  const total = { passed: 0, failed: 0 }
  const failing: string[] = []
  return {
    file({ file, lines, errors, code, tookMs }) {
      const { passed, failed, isWhole } = readTap(lines)
      const isOk = code === 0 && failed === 0 && isWhole
      total.passed += passed
      total.failed += isOk ? 0 : Math.max(1, failed)
      const line = `${isOk ? 'ok    ' : 'FAILED'} ${file} ${Math.round(tookMs)} ms, ${passed + failed} tests`
      if (errors.length > 0) print(errors.map(inSources).join('\n'))
      if (!isOk) {
        print(lines.map(inSources).join('\n'))
        failing.push(failed === 0 ? `${line} (${code === 0 ? 'not to its end' : `exit code ${code}`})` : line)
      }
      print(isOk ? line : failing.at(-1)!)
    },
    end() {
      for (const line of failing) print(line)
      return total
    },
  }
}

/** The tests of a file, and whether it came to its end: as many as its plan says, and at least one. */
function readTap(lines: string[]): { passed: number; failed: number; isWhole: boolean } {
  const points = lines.filter(line => /^(not )?ok\b/.test(line))
  const plan = lines.map(line => /^1\.\.(\d+)/.exec(line)?.[1]).find(count => count !== undefined)
  const counted = points.filter(line => !/ # (skip|todo)\b/i.test(line))
  const failed = counted.filter(line => line.startsWith('not')).length
  return {
    passed: counted.length - failed,
    failed,
    isWhole: points.length > 0 && Number(plan) === points.length && !lines.some(line => line.startsWith('Bail out!')),
  }
}
