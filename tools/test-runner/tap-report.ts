/** The result of a test file: its TAP lines, its standard error, and its exit code (null: killed). */
export type FileRun = { file: string; lines: string[]; errors: string[]; code: number | null; tookMs: number }

type TestReport = { file(run: FileRun): void; end(): { passed: number; failed: number } }

/**
 * Prints one line per test file, preceded by its standard error and, if it failed, its complete output. Counts the tests: the
 * unindented test points of the TAP output. A file that failed without a failed test (it crashed, hung, did not reach its
 * plan or has no tests) counts as one failure; skipped tests are not counted. `inSources` maps positions to the sources.
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
        failing.push(failed === 0 ? `${line} (${code === 0 ? 'incomplete' : `exit code ${code}`})` : line)
      }
      print(isOk ? line : failing.at(-1)!)
    },
    end() {
      for (const line of failing) print(line)
      return total
    },
  }
}

/** The tests of a file, and whether it is complete: as many tests as planned, and at least one. */
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

/**
 * Splits the TAP output of a process that runs several test files (run-group.ts) into the output of each file. `finished` gets
 * the lines of a file, without their indentation, when the file has ended, and whether it succeeded. `other` gets the
 * remaining lines, such as an error after the tests of a file.
 */
export function createGroupReader(
  files: ReadonlySet<string>,
  finished: (file: string, lines: string[], isOk: boolean) => void,
  other: (line: string) => void,
) {
  let lines: string[] = []
  const takeLines = () => {
    const taken = lines
    lines = []
    return taken
  }
  return {
    read(line: string): void {
      const [, failed, file = ''] = /^(not )?ok \d+ - (\S+)/.exec(line) ?? []
      if (files.has(file)) finished(file, takeLines(), failed === undefined)
      else if (line.startsWith(INDENTATION)) lines.push(line.slice(INDENTATION.length))
      else if (!FRAME.test(line)) other(line)
    },
    /** the lines of the file that has not ended */
    takeLines,
  }
}

const INDENTATION = '    '
const FRAME = /^(TAP version .*|# .*|1\.\.\d+|)$/
