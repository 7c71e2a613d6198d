import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { PROGRAMS } from '../../../tools/build/build.mjs'
import { ROOT } from '../../support/deployment.ts'

t.test('A build fails and names the programs whose sources do not exist', async t => {
  const clone = t.testdir({ node_modules: t.fixture('symlink', join(ROOT, 'node_modules')) })
  for (const folder of ['tools/build', 'tools/install'])
    cpSync(join(ROOT, folder), join(clone, folder), { recursive: true })
  const build = () =>
    new Promise<string>(resolve => {
      execFile(process.execPath, [join(clone, 'tools/build/build.mjs')], (error, _stdout, stderr) =>
        resolve(error ? stderr : 'built'),
      )
    })
  const [last = '', ...others] = Object.values(PROGRAMS).reverse()
  for (const file of others) {
    mkdirSync(dirname(join(clone, file)), { recursive: true })
    writeFileSync(join(clone, file), '')
  }
  t.match(await build(), `lists files that do not exist: ${last}\n`)
  t.notOk(existsSync(join(clone, 'dist')), 'nothing is built')

  mkdirSync(dirname(join(clone, last)), { recursive: true })
  writeFileSync(join(clone, last), '')
  t.equal(await build(), 'built')
})
