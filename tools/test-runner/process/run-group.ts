/*
 * TEST_GROUP='[["NAME", "BUNDLE"], …]' TEST_FILE_TIMEOUT_S=3600 node run-group.js: runs several bundled test files in one process, one after another,
 * each as a test of its name. Starting Node and loading modules takes longer than most quick files.
 */
import { pathToFileURL } from 'node:url'
import tap from 'tap'
import { setTestOfFile } from './current-test.ts'

const files: [name: string, bundle: string][] = JSON.parse(process.env.TEST_GROUP ?? '[]')
// not for the programs that tests start
delete process.env.TEST_GROUP
const timeoutMs = Number(process.env.TEST_FILE_TIMEOUT_S) * 1_000

for (const [name, bundle] of files) {
  await tap.test(name, { timeout: timeoutMs }, async t => {
    setTestOfFile(t)
    await import(pathToFileURL(bundle).href)
  })
}
