import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Coverage = {
  /** for the test processes, which append what they do (test/support/test-record.ts) */
  env: Record<string, string>
  /**
   * The answers of the API that a test must read and none has read, and the screens of the dashboard that no test has checked with
   * axe. Call it once, after all tests.
   */
  listGaps(): Promise<string[]>
  /** removes the record */
  remove(): void
}

/** Records which answers of the API the tests of a complete run read, and on which screens they run axe. */
export function startCoverage(): Coverage {
  const folder = mkdtempSync(join(tmpdir(), 'picket-record-'))
  const file = join(folder, 'record')
  writeFileSync(file, '')
  return {
    env: { PICKET_TEST_RECORD: file },
    async listGaps() {
      const lines = readFileSync(file, 'utf8').split('\n')
      // only now: they load the whole control plane
      const [{ describeApi }, { listOperations }, { listUnreadAnswers }, { listUncheckedScreens }] = await Promise.all([
        import('../api-client/document.ts'),
        import('../../test/support/operations.ts'),
        import('../../test/specification/read-answers.ts'),
        import('../../test/support/checked-screens.ts'),
      ])
      const { operations } = listOperations(await describeApi('https://picket.test'))
      return [
        ...listUnreadAnswers(operations, lines).map(answer => `no test reads the answer ${answer}`),
        ...listUncheckedScreens(lines).map(path => `no test runs axe on the screen ${path}`),
      ]
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
