/** `npm run generate`: the TypeScript client from the routes of the API. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { register } from 'node:module'
import { join } from 'node:path'
import { describeApi } from './document.ts'

/**
 * The generator needs the compiler API, which TypeScript 7 does not have. This loader resolves `typescript` to the older
 * version that the build tool of the test runner depends on.
 */
const olderTypescript = (holder: string) => `export const resolve = (name, context, next) =>
  next(name, name === 'typescript' ? { ...context, parentURL: ${JSON.stringify(holder)} } : context)`

/** Writes the generated part of the client into `folder`. */
export async function generateClient(folder: string): Promise<void> {
  register(`data:text/javascript,${encodeURIComponent(olderTypescript(import.meta.resolve('tshy/package.json')))}`)
  const { createClient } = await import('@hey-api/openapi-ts')
  const document = await describeApi('https://picket.example')
  rmSync(folder, { recursive: true, force: true })
  await createClient({
    input: document as Record<string, unknown>,
    output: { path: folder, importFileExtension: '.ts' },
    logs: { level: 'silent' },
    plugins: [
      '@hey-api/typescript',
      { name: '@hey-api/sdk', operations: { strategy: 'single', containerName: 'Picket' } },
      { name: '@hey-api/client-fetch', baseUrl: false },
    ],
  })
  removeNotes(folder)
}

/** Removes notes of the generator's authors. */
function removeNotes(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue
    const file = join(folder, name)
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^\s*\/\/ [A-Z]+: .*\n/gm, ''))
  }
}

if (process.argv[1] === import.meta.filename) await generateClient(join(import.meta.dirname, '../../deploy/client/gen'))
