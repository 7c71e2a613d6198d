import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Operations whose result a screen gets in another way: by another operation, or by an address that a browser opens. */
const REPLACED: Record<string, string> = {
  readAlertRule: 'listAlertRules',
  readSilence: 'listSilences',
  readView: 'listViews',
  listDataSourceFields: 'readDataSource',
  createDataSourceField: 'updateDataSource',
  updateDataSourceField: 'updateDataSource',
  deleteDataSourceField: 'updateDataSource',
  importProject: 'applyImport',
  readStatusPageLogo: '/session/api/v1/status-pages/',
  readStatusPageFavicon: '/session/api/v1/status-pages/',
  streamEvents: '/session/api/v1/events',
  beginChatInstallation: '/settings/chat/install',
}

/** Operations that no screen uses, and why. At most five. */
const WITHOUT_SCREEN: Record<string, string> = {
  bootstrapAgent: 'programs create accounts with it; people use the link that the operator gives them',
  completeChatInstallation: 'the chat calls it after the consent of a person',
  listChatInstallationChannels: 'the channel of a chat is chosen by its id or by a command in the chat',
}

const sources = readdirSync(join(ROOT, 'control-plane/dashboard'), { recursive: true, encoding: 'utf8' })
  .filter(path => /\.tsx?$/.test(path))
  .map(path => readFileSync(join(ROOT, 'control-plane/dashboard', path), 'utf8'))
const client = readFileSync(join(ROOT, 'deploy/client/gen/sdk.gen.ts'), 'utf8')
const operations = [...client.matchAll(/^ +public (\w+)</gm)].map(([, name]) => name!)
const isUsed = (name: string) => sources.some(source => source.includes(`'${name}'`))

t.test('Each operation of the typed client is used by a screen, except for at most five', t => {
  t.ok(operations.length > 150, `${operations.length} operations`)
  const without = operations.filter(name => !isUsed(name) && !(name in REPLACED))
  t.same(without.sort(), Object.keys(WITHOUT_SCREEN).sort(), 'each has a reason')
  t.ok(without.length <= 5)
  const isThere = (what: string) =>
    what.startsWith('/') ? sources.some(source => source.includes(what.replace('/session/api/v1', ''))) : isUsed(what)
  for (const [name, by] of Object.entries(REPLACED)) {
    t.ok(operations.includes(name), `${name} is an operation`)
    t.notOk(isUsed(name), `${name} is not used`)
    t.ok(isThere(by), `${by} is used in place of ${name}`)
  }
  t.end()
})
