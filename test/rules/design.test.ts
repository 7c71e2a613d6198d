import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { filesBelow, ROOT } from './source.ts'

/** The subjects of the service. Each document has purpose, data, rules, limits and failure behaviour. */
const SUBJECTS = [
  ...['verdict', 'assignments', 'results', 'deliveries', 'alerting', 'incidents', 'status-pages', 'accounts'],
  ...['data-sources', 'vendors', 'chat', 'egress', 'history', 'events', 'heartbeats', 'import-export', 'monitors'],
  ...['subscribers', 'suppression'],
]
const SECTIONS = ['Data', 'Limits', 'Failure behaviour']

/** Other documents, whose failures are in the document of their subject or a subject of their own. */
const WITHOUT_FAILURES: Record<string, string> = {
  README: 'the way through the files',
  checks: 'each failure of a target is an outcome',
  'dashboard-list': 'a part of dashboard.md',
  'dashboard-pages': 'a part of dashboard.md',
  'dashboard-setup': 'a part of dashboard.md',
  dashboard: 'the section "States" has what each screen shows then',
  guarantee: 'the section "Faults" has the guarantee during each',
  local: 'the engines of one machine',
  retention: 'a table of what is deleted when',
  security: 'attackers are its subject',
  simulation: 'faults are its input',
  views: 'stored settings of users',
}

const read = (name: string) => readFileSync(join(ROOT, 'docs/design', `${name}.md`), 'utf8')
const listSections = (name: string) => [...read(name).matchAll(/^## (.+)$/gm)].map(([, title = '']) => title)
const names = filesBelow('docs/design').map(path => path.slice('docs/design/'.length, -'.md'.length))

t.test('the document of each subject has purpose, data, rules, limits and failure behaviour', async t => {
  for (const name of SUBJECTS) {
    const sections = listSections(name)
    t.same(
      SECTIONS.filter(section => !sections.includes(section)),
      [],
      `${name}.md has the sections`,
    )
    const rules = sections.filter(section => !['Purpose', 'Terms', ...SECTIONS].includes(section))
    t.ok(rules.length >= 2, `${name}.md has rules`)
  }
})

t.test('every design document begins with its purpose', async t => {
  t.ok(names.length > 40)
  t.same(
    names.filter(name => !/^# .+\n\n(## Purpose\n\n)?[^#|]/.test(read(name))),
    [],
  )
})

t.test('every design document has its failure behaviour, under this heading', async t => {
  const without = names.filter(name => !listSections(name).includes('Failure behaviour'))
  t.same(without.sort(), Object.keys(WITHOUT_FAILURES).sort(), 'each exception is needed')
})
