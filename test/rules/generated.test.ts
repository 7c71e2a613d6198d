import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { generateClient } from '../../tools/api-client/generate.ts'
import { makeAssets } from '../../tools/build/assets.mjs'
import { filesBelow, ROOT } from './source.ts'

t.test('the committed messages and stubs are what "npm run generate" makes of the .proto files', async t => {
  const out = mkdtempSync(join(tmpdir(), 'picket-proto-'))
  t.teardown(() => rmSync(out, { recursive: true, force: true }))
  const bin = join(ROOT, 'node_modules/.bin')
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` }
  execFileSync(join(bin, 'buf'), ['generate', '--output', out], { cwd: join(ROOT, 'proto'), env })
  const committed = filesBelow('proto/gen')
  t.ok(committed.length > 0)
  for (const path of committed) {
    t.equal(readFileSync(join(out, path.slice('proto/'.length)), 'utf8'), readFileSync(join(ROOT, path), 'utf8'), path)
  }
})

t.test('the committed CSS and browser modules are what "npm run generate" makes of their sources', async t => {
  t.equal(readFileSync(join(ROOT, 'control-plane/pages/templates/assets.ts'), 'utf8'), await makeAssets())
})

t.test('the committed client is what "npm run generate" makes of the routes', async t => {
  const out = mkdtempSync(join(tmpdir(), 'picket-client-'))
  t.teardown(() => rmSync(out, { recursive: true, force: true }))
  await generateClient(join(out, 'gen'))
  const committed = filesBelow('deploy/client/gen')
  t.ok(committed.length > 0)
  for (const path of committed) {
    const made = readFileSync(join(out, path.slice('deploy/client/'.length)), 'utf8')
    t.ok(made === readFileSync(join(ROOT, path), 'utf8'), path)
  }
})
