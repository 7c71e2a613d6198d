/*
 * TEST_GROUP='[["NAME", "BUNDLE"], …]' node run-group.js: runs several bundled test files in one process, one after another,
 * each as a test of its name. Starting Node and loading modules takes longer than most quick files.
 */
import { pathToFileURL } from 'node:url'
import tap from 'tap'
import { setTestOfFile } from './current-test.ts'

const files: [name: string, bundle: string][] = JSON.parse(process.env.TEST_GROUP ?? '[]')
// not for the programs that tests start
delete process.env.TEST_GROUP

for (const [name, bundle] of files) {
  await tap.test(name, async t => {
    setTestOfFile(t)
    await import(pathToFileURL(bundle).href)
  })
}
