import t from 'tap'
import { createSchemaCompiler } from '../../../../control-plane/foundation/web/validation/schema-compiler.ts'
import type {
  CompileSchema,
  FindFaults,
  SchemaCheck,
} from '../../../../control-plane/foundation/web/validation/validation-errors.ts'
import { dropInvalidEntries } from '../../../../control-plane/integrations/import-export/converters/valid-entries.ts'
import type { ProjectFile } from '../../../../control-plane/integrations/import-export/file/project-file.ts'

const compile = createSchemaCompiler() as unknown as CompileSchema
const checks = new Map<object, SchemaCheck>()
const findFaults: FindFaults = (schema, value) => {
  const check = checks.get(schema) ?? compile({ schema })
  checks.set(schema, check)
  return check(value) ? [] : (check.errors ?? [])
}

t.test('Invalid entries of a long file are left out with a warning', async t => {
  const monitors = Array.from({ length: 3_000 }, (_, n) => ({
    name: `Shop ${n}`,
    type: 'http',
    url: 'https://shop.test/',
  }))
  monitors[1_200]!.name = 'x'.repeat(300)
  monitors[2_900]!.type = 'smoke signal'
  const { file, warnings } = dropInvalidEntries({ version: 1, monitors } as unknown as ProjectFile, findFaults)
  t.equal(file.monitors?.length, 2_998)
  t.match(warnings, [
    { path: 'monitors[1200]', message: /name must have at most \d+ characters; it was left out$/ },
    { path: 'monitors[2900]', message: /^Shop 2900: type must be one of .*; it was left out$/ },
  ])
})
