import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { buildClient } from '../../tools/api-client/build.mjs'
import { ROOT } from '../rules/source.ts'
import { shareApi } from '../support/api-server.ts'

const run = promisify(execFile)

/** A program that uses only the package. */
const PROGRAM = `import { createPicket, type Monitor } from 'picket-client'

const [origin = '', apiKey] = process.argv.slice(2)
const picket = createPicket({ origin, apiKey })
const { data } = await picket.createMonitor({ body: { name: 'Shop', type: 'http', url: 'https://shop.example.com/' } })
const monitor: Monitor | undefined = data?.data
// @ts-expect-error a name is not a number
const count: number | undefined = monitor?.name
// @ts-expect-error a monitor has a type
const { error } = await picket.createMonitor({ body: { name: 'Shop' } })
const listed = await picket.listMonitors({ query: { per_page: 1 } })
const missing = await picket.readMonitor({ path: { id: 'none' } })
console.log(JSON.stringify([count, error?.error.details, listed.data?.meta.total, missing.error?.error.code]))
`
const CONFIG = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    module: 'nodenext',
    target: 'es2023',
    noEmit: true,
    types: ['node'],
  },
}

t.test('The packed client and the examples of its README compile and work in an empty folder', async t => {
  const api = await shareApi()
  const { key } = await api.tenant()
  const folder = mkdtempSync(join(tmpdir(), 'picket-client-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = (name: string) => join(folder, name)
  buildClient(file('built'))
  await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: file('built') })
  writeFileSync(file('package.json'), JSON.stringify({ type: 'module' }))
  writeFileSync(file('tsconfig.json'), JSON.stringify({ ...CONFIG, files: ['use.ts', 'readme-0.ts', 'readme-1.ts'] }))
  writeFileSync(file('use.ts'), PROGRAM)
  const examples = [...readFileSync(file('built/README.md'), 'utf8').matchAll(/```ts\n(.*?)```/gs)]
  t.equal(examples.length, 2)
  for (const [i, [, example = '']] of examples.entries()) writeFileSync(file(`readme-${i}.ts`), example)
  const quiet = ['--offline', '--no-audit', '--no-fund', '--silent']
  await run('npm', ['install', ...quiet, './picket-client-1.0.0.tgz'], { cwd: folder })

  const typeRoots = join(ROOT, 'node_modules/@types')
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder, '--typeRoots', typeRoots])
  const { stdout } = await run(process.execPath, ['--import=tsx', file('use.ts'), api.origin, key], { cwd: ROOT })
  t.same(JSON.parse(stdout), ['Shop', [{ path: 'type', message: 'type is required' }], 1, 'not_found'])
})
