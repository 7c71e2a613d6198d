/** `npm run generate`: docs/api-coverage.md and docs/routes.md. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../rules/source.ts'
import { makePage } from './page.ts'
import { makeRoutesPage } from './routes.ts'

writeFileSync(join(ROOT, 'docs/api-coverage.md'), (await makePage()).text)
writeFileSync(join(ROOT, 'docs/routes.md'), (await makeRoutesPage()).text)
