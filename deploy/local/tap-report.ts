export type Report = { line(line: string): void; end(): { passed: number; failed: number } }

/**
 * Reads tap's raw output line by line, prints a line a test file (and all of a failing file), and counts the tests: a
 * file is a test point at the margin, its tests stand one level in. A file that failed though none of its tests did (it
 * crashed, hung or could not be read) counts as one failure; a skipped test counts as nothing.
 */
export function createReport(print: (text: string) => void): Report {
  const total = { passed: 0, failed: 0 }
  let file = { passed: 0, failed: 0, isOk: true, heading: '', lines: [] as string[] }
  let inDiagnostics = false

  const endFile = () => {
    if (!file.heading) return
    if (!file.isOk && file.failed === 0) file.failed = 1
    total.passed += file.passed
    total.failed += file.failed
    if (!file.isOk) print(file.lines.join('\n'))
    print(`${file.isOk ? 'ok    ' : 'FAILED'} ${summary(file.heading)}, ${file.passed + file.failed} tests`)
    file = { passed: 0, failed: 0, isOk: true, heading: '', lines: [] }
  }

  const line = (text: string) => {
    file.lines.push(text)
    const trimmed = text.trim()
    if (trimmed === '---' || trimmed === '...') inDiagnostics = trimmed === '---'
    else if (inDiagnostics) return
    else if (/^(not )?ok\b/.test(text)) {
      file.heading = text
      file.isOk = text.startsWith('ok')
      // the tests of a buffered file follow between braces; those of any other one came before
      if (file.isOk && !text.endsWith('{')) endFile()
    } else if (/^ {4}not ok\b/.test(text)) file.failed++
    else if (/^ {4}ok\b/.test(text) && !/ # (skip|todo)\b/i.test(text)) file.passed++
    else if (text === '}' || (file.heading && text === '')) endFile()
  }

  return {
    line,
    end() {
      endFile()
      return total
    },
  }
}

/** "not ok 3 - test/unit/x.test.ts # time=12.3ms {" → "test/unit/x.test.ts 12 ms" */
function summary(heading: string): string {
  const [, name = heading, time] = /^(?:not )?ok \d+ - (.*?)(?: # time=([\d.]+)ms.*| \{)?$/.exec(heading) ?? []
  return time ? `${name} ${Math.round(Number(time))} ms` : name
}
