/**
 * Splits the TAP output of a process that runs several test files (run-group.ts) into the output of each file. `finished` gets
 * the lines of a file, without their indentation, when the file has ended. Other lines are kept for `rest`.
 */
export function createGroupReader(files: ReadonlySet<string>, finished: (file: string, lines: string[]) => void) {
  let lines: string[] = []
  return {
    read(line: string): void {
      const file = /^(?:not )?ok \d+ - (\S+)/.exec(line)?.[1] ?? ''
      if (!files.has(file)) {
        lines.push(line)
        return
      }
      finished(
        file,
        lines.filter(one => one.startsWith(INDENTATION)).map(one => one.slice(INDENTATION.length)),
      )
      lines = []
    },
    /** the lines since the last file that ended */
    rest: () => lines,
  }
}

const INDENTATION = '    '
