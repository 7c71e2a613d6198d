/** Writes docs/api-coverage.md (`npm run generate`). */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../rules/source.ts'
import { makePage } from './page.ts'

writeFileSync(join(ROOT, 'docs/api-coverage.md'), (await makePage()).text)
