import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makePage } from '../specification/page.ts'
import { makeRoutesPage } from '../specification/routes.ts'
import { ROOT } from './source.ts'

const { text, missing } = await makePage()

t.test('each operation, status, field, event and limit of the specification is there', async t => {
  t.same(missing, [])
})

t.test('docs/api-coverage.md is what "npm run generate" makes', async t => {
  t.ok(readFileSync(join(ROOT, 'docs/api-coverage.md'), 'utf8') === text, 'run npm run generate')
})

t.test('docs/routes.md names the file of each route, as "npm run generate" makes it', async t => {
  const routes = await makeRoutesPage()
  t.same(routes.missing, [])
  t.ok(readFileSync(join(ROOT, 'docs/routes.md'), 'utf8') === routes.text, 'run npm run generate')
})
