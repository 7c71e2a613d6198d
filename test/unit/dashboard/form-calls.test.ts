import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROOT, sources } from '../../rules/source.ts'
import { FULL, RECORD_ID } from '../../support/dashboard-scenes.ts'
import { renderScreen, toText } from '../../support/dashboard-screens.tsx'

/** Forms without `</>`, and why. At most five. */
const WITHOUT_CALL: Record<string, string> = {
  AccountMenu: 'signing out ends the session of the browser, which the API does not know',
}

/** Changes that are carried out without being shown as a call, and why. At most five. */
const NOT_SHOWN: Record<string, string> = {
  updateMonitorAuth: 'credentials are sent by an operation of their own, and a text to copy should not contain them',
}

/** Operations that store and send nothing. They try what the form around them sends, and have its body. */
const TRIES = /^(preview|analyze|rehearse|testMonitor|testDependency)/

/** A declaration at the top level of a file. */
type Part = { name: string; file: string; code: string }

const parts: Part[] = sources('control-plane/dashboard/parts', 'control-plane/dashboard/screens').flatMap(
  ({ path, code }) => {
    const heads = [...code.matchAll(/^(?:export )?(?:async )?(?:function|const) (\w+)/gm)]
    return heads.map((head, i) => {
      const end = heads[i + 1]?.index ?? code.length
      return { name: head[1]!, file: path, code: code.slice(head.index, end) }
    })
  },
)

/** Whether a part of JSX shows a call, directly or by a component. */
function showsCall(code: string, file: string, seen: ReadonlySet<string> = new Set()): boolean {
  if (code.includes('<AsCall')) return true
  return [...code.matchAll(/<([A-Z]\w+)/g)].some(([, name]) => {
    if (seen.has(name!)) return false
    const named = parts.filter(part => part.name === name)
    const [element] = named.some(part => part.file === file) ? named.filter(part => part.file === file) : named
    return element !== undefined && showsCall(element.code, element.file, new Set([...seen, name!]))
  })
}

/** The form around an operation: the parts that use it show the call. */
const isCarrier = (name: string) => name === 'OperationForm'

/** Forms that lead to an address, such as filters: the page of that address shows its reads. */
const isLink = (form: string) =>
  /^<form[^>]*\saction=/s.test(form.slice(0, 300)) && !form.slice(0, 300).includes('method="post"')

t.test('Each form of the dashboard shows the call that it makes, except for at most five', t => {
  const forms = parts.flatMap(({ name, file, code }) =>
    [...code.matchAll(/<form\b.*?<\/form>/gs)].map(([form]) => ({ name, file, form })),
  )
  t.ok(forms.length > 35, `${forms.length} forms`)
  const without = forms.filter(({ form, file, name }) => !isLink(form) && !showsCall(form, file) && !isCarrier(name))
  t.same(without.map(({ name }) => name).sort(), Object.keys(WITHOUT_CALL).sort(), 'each has a reason')
  t.ok(without.length <= 5)
  t.end()
})

t.test('Each change that the dashboard makes is shown as a call where it is made, except for at most five', t => {
  const client = readFileSync(join(ROOT, 'deploy/client/gen/sdk.gen.ts'), 'utf8')
  const changes = [...client.matchAll(/^ +public (\w+)<.*?\.(post|put|patch|delete|get)</gms)]
    .filter(([, name, method]) => method !== 'get' && !TRIES.test(name!))
    .map(([, name]) => name!)
  t.ok(changes.length > 60, `${changes.length} operations`)
  const screens = sources('control-plane/dashboard/screens', 'control-plane/dashboard/parts').map(file => ({
    ...file,
    code: file.code.replace(/<NeedsScript.*?\/>/gs, ''),
  }))
  const isShown = (name: string) =>
    screens.some(({ code, path }) => new RegExp(`\\bcall\\([^,{]*'${name}'`).test(code) && showsCall(code, path))
  const made = changes.filter(name => screens.some(({ code }) => code.includes(`'${name}'`)) && !isShown(name))
  t.same(made.sort(), Object.keys(NOT_SHOWN).sort(), 'each has a reason')
  t.ok(made.length <= 5)
  t.end()
})

t.test('A form that deletes shows the call with its method and path', t => {
  const rows: [address: string, pattern: RegExp][] = [
    ['/monitors/:id/settings', /\/monitors\/[^/]+/],
    ['/pages/:id', /\/status-pages\/[^/]+/],
    ['/pages/:id/domain', /\/status-pages\/[^/]+\/custom-domain/],
    ['/settings/channels/:id', /\/alerts\/channels\/[^/]+/],
    ['/dependencies/:id', /\/dependencies\/[^/]+/],
    ['/incidents/:id/edit', /\/incidents\/[^/]+/],
    ['/maintenance/:id', /\/maintenance-windows\/[^/]+/],
    ['/sources/:id', /\/data-sources\/[^/]+/],
  ]
  for (const [path, pattern] of rows) {
    const text = toText(renderScreen(path.replace(':id', RECORD_ID), FULL).html)
    t.match(text, new RegExp(`curl -s -X DELETE "\\$PICKET_URL/api/v1${pattern.source}" `), path)
  }
  t.end()
})
