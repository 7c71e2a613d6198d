import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from './source.ts'

const readText = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** The full texts, as their authors publish them. */
const LICENSES = [
  {
    folder: '.',
    name: 'AGPL-3.0-only',
    begin: 'GNU AFFERO GENERAL PUBLIC LICENSE',
    digest: '8486a10c4393cee1c25392769ddd3b2d6c242d6ec7928e1414efff7dfb2f07ef',
  },
  {
    folder: 'deploy/client',
    name: 'Apache-2.0',
    begin: 'Apache License',
    digest: 'cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30',
  },
]

for (const { folder, name, begin, digest } of LICENSES) {
  t.test(`${join(folder, 'LICENSE')} is the full text of ${name}, which package.json names`, async t => {
    const text = readText(join(folder, 'LICENSE'))
    t.ok(text.trimStart().startsWith(begin))
    t.equal(sha256(text), digest)
    t.equal(JSON.parse(readText(join(folder, 'package.json'))).license, name)
  })
}
