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

t.test('Entries that refer to one that is left out keep their other references', async t => {
  const shop = { type: 'http', url: 'https://shop.test/' }
  const night = { cron: '0 3 * * *', duration_minutes: 60, time_zone: 'UTC' }
  const { file, warnings } = dropInvalidEntries(
    {
      version: 1,
      alert_channels: [
        { name: 'Broken', type: 'pigeon', config: {} },
        { name: 'Ops', type: 'webhook', config: { url: 'https://hooks.test/' } },
      ],
      monitors: [
        { ...shop, id: 'core_odd', name: 'Odd', type: 'smoke signal' },
        { ...shop, name: 'Shop', parents: ['Odd', 'Router'], rules: [{ channel: 'Broken' }, { channel: 'Ops' }] },
        { ...shop, name: 'Router' },
        { ...shop, name: 'Twin' },
        { ...shop, name: 'Twin', type: 'smoke signal' },
      ],
      maintenance_windows: [
        { ...night, title: 'All', monitors: ['core_odd', 'Shop', 'Twin'] },
        { ...night, title: 'One', monitors: ['core_odd'] },
      ],
    } as unknown as ProjectFile,
    findFaults,
  )
  t.same(file.maintenance_windows, [{ ...night, title: 'All', monitors: ['Shop', 'Twin'] }])
  t.match(file.monitors?.[0], { name: 'Shop', parents: ['Router'], rules: [{ channel: 'Ops' }] })
  t.equal(file.monitors?.[0]?.rules?.length, 1)
  const text = warnings.map(({ path, message }) => `${path} ${message}`).join('\n')
  for (const sentence of [
    /^monitors\[1\] Shop: its alert channel Broken was left out; its alert rule was left out$/m,
    /^monitors\[1\] Shop: its parent Odd was left out$/m,
    /^maintenance_windows\[0\] All: monitors that were left out are not in its maintenance: core_odd$/m,
    /^maintenance_windows\[1\] One: none of its monitors is left; it was left out$/m,
  ]) {
    t.match(text, sentence)
  }
})
