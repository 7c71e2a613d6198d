import type { Test } from 'tap'
import { createPostgres, type Db } from '../../control-plane/foundation/platform/postgres/client.ts'
import { reserveFreePort } from '../../tools/engines/free-port.ts'
import { type ApiAnswer, createApi } from '../support/api.ts'
import type { RequestOptions } from '../support/api-server.ts'
import { AXE } from '../support/axe.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { createPerson, PERSON_PASSWORD } from '../support/person.ts'
import { type Picket, startPicket } from '../support/picket.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startTarget, type Target } from '../support/target.ts'
import { startTcpRelay, type TcpRelay } from '../support/tcp-relay.ts'
import { waitFor } from '../support/wait.ts'
import type { Driver, StartBrowser } from './drivers/driver.ts'
import { createTab, type Tab } from './drivers/tab.ts'
import { startTlsProxy, type TlsProxy } from './drivers/tls-proxy.ts'

const REGIONS = ['us-east', 'eu-west', 'ap-southeast']
export const OWNER = 'owner@example.com'

/** A complete Picket, and one browser with the flows of one person after the other. */
export type Scene = {
  picket: Picket
  db: Db
  driver: Driver
  tab: Tab
  target: Target
  receiver: Receiver
  proxy: TlsProxy
  postgres: TcpRelay
  clickhouse: TcpRelay
  origin: string
  /** a request of the owner, and what it answers */
  call(method: 'get' | 'post' | 'put' | 'delete', path: string, body?: unknown): Promise<ApiAnswer['body']['data']>
  /** founds another organization; resolves to its project */
  createStranger(email: string): Promise<{ projectId: string }>
  /** opens a page, and waits until its scripts have taken it over */
  open(path: string, tab?: Tab): Promise<void>
  signIn(email: string, path: string, tab?: Tab): Promise<void>
}

/** A thing that a person does, with the title of its test. */
export type Flows = Record<string, (t: Test, scene: Scene) => Promise<void>>

export async function startScene(t: Test, start: StartBrowser): Promise<Scene> {
  const database = (await createDatabase(t)).url
  const postgres = await startTcpRelay(t, database)
  const clickhouse = await startTcpRelay(t, (await createClickhouseDatabase(t)).url)
  const port = await reserveFreePort()
  const origin = `https://localhost:${port}`
  const picket = await startPicket(t, {
    regions: REGIONS,
    env: { DATABASE_URL: postgres.url, CLICKHOUSE_URL: clickhouse.url, PUBLIC_URL: origin, BUILD_ID: 'one' },
  })
  const db = createPostgres(database, 4)
  t.teardown(() => db.destroy())
  const [proxy, target, receiver] = [
    await startTlsProxy(t, port, picket.origin),
    await startTarget(t),
    await startReceiver(t),
  ]
  const driver = await start('light')
  const tab = createTab(driver.first)
  const open: Scene['open'] = async (path, other = tab) => {
    await other.open(origin + path)
    await waitForScripts(other)
  }
  return {
    ...{ picket, db, driver, tab, target, receiver, proxy, postgres, clickhouse, origin, open },
    call: async (method, path, body) => (await picket.api[method](path, body as never)).body.data,
    async createStranger(email) {
      const person = await createPerson({ origin: picket.origin, call: createCaller(picket) }, email)
      return { projectId: (await createApi(picket.origin, person.key).get('/me')).body.data.project.id }
    },
    async signIn(email, path, other = tab) {
      await other.open(`${origin}/sign-in`)
      await other.read(`fetch('/sign-out', { method: 'POST' }).then(answer => answer.status)`)
      await other.open(`${origin}/sign-in?${new URLSearchParams({ return_to: path })}`)
      await other.fill('Email address', email)
      await other.fill('Password', PERSON_PASSWORD)
      await other.click('button', 'Sign in')
      await other.waitForPath(path)
      await waitForScripts(other)
    },
  }
}

const createCaller =
  (picket: Picket) =>
  (method: string, path: string, { key = picket.apiKey, body }: RequestOptions = {}) =>
    createApi(picket.origin, key)[method.toLowerCase() as 'post'](path, body)

const waitForScripts = (tab: Tab) => tab.waitUntil(`document.querySelector('button.search:enabled')`)

type Finding = { id: string; nodes: { html: string }[] }

export async function findAccessibilityProblems(tab: Tab): Promise<string[]> {
  await tab.read(`window.axe ? 0 : (() => { ${AXE} })()`)
  const run = 'axe.run(document, { resultTypes: ["violations"], preload: false })'
  const found = await tab.read<{ violations: Finding[] }>(run)
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

/** What Firefox reports of a page that is left while it loads: its event stream, or a font (NS_BINDING_ABORTED). */
const LEFT =
  /\/events(\?\S*)? was interrupted while|establish a connection to the server at \S+\/events(\?\S*)?\.|font: download failed .* status=2152398850 /

/** What Firefox reports of a script that the proxy forbids. */
const FORBIDDEN = /blocked a script .* because it violates the following directive: “script-src 'none'”/

/** The console has nothing since the start, up to a last message that shows that the console is read. */
export async function expectNoMessages(t: Test, { messages }: Driver, tab: Tab): Promise<void> {
  await tab.expectNoFaults()
  if (!messages) return
  await tab.read(`console.warn('the last message')`)
  await waitFor(() => messages.some(text => text.includes('the last message')), { label: 'the message' })
  const others = messages.splice(0).filter(text => !LEFT.test(text) && !FORBIDDEN.test(text))
  t.match(others, [/the last message/], 'the console has nothing else')
}
