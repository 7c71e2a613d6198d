import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type ApiCoverage = {
  /** for the test processes, which append the answers that they read (test/support/read-answers.ts) */
  env: Record<string, string>
  /** The answers of the API ("GET /monitors 200") that a test must read and none has read. Call it once, after all tests. */
  listUnread(): Promise<string[]>
  /** removes the file of the answers */
  remove(): void
}

/** Records which answers of the API the tests of a complete run read. */
export function startApiCoverage(): ApiCoverage {
  const folder = mkdtempSync(join(tmpdir(), 'picket-answers-'))
  const file = join(folder, 'answers')
  writeFileSync(file, '')
  return {
    env: { PICKET_READ_ANSWERS: file },
    async listUnread() {
      const lines = readFileSync(file, 'utf8').split('\n')
      // only now: they load the whole control plane
      const [{ describeApi }, { listOperations }, { listUnreadAnswers }] = await Promise.all([
        import('../api-client/document.ts'),
        import('../../test/support/operations.ts'),
        import('../../test/specification/read-answers.ts'),
      ])
      return listUnreadAnswers(listOperations(await describeApi('https://picket.test')).operations, lines)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
