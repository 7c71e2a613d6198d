import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { WebSocket } from 'ws'
import type { Teardown } from '../../support/teardown.ts'
import type { Driver, DriverTab, StartBrowser } from './driver.ts'

const PROGRAM = '/usr/bin/firefox-esr'
/** Not about:blank, with which the focus is in the address field. */
const EMPTY_PAGE = 'data:text/html,'

/** The look that pages are asked for, and no requests of the browser itself. */
const buildPreferences = (look: 'light' | 'dark') => ({
  'layout.css.prefers-color-scheme.content-override': look === 'dark' ? 0 : 1,
  'ui.prefersReducedMotion': 1,
  // a window without a screen has the focus, which shows where the focus in its page is
  'focusmanager.testmode': true,
  'app.update.auto': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
})

/** Starts Debian's Firefox, driven by WebDriver BiDi. */
export const startFirefox = (t: Teardown): StartBrowser => {
  return async look => {
    const profile = mkdtempSync(join(tmpdir(), 'firefox-'))
    const lines = Object.entries(buildPreferences(look)).map(
      pair => `user_pref(${pair.map(one => JSON.stringify(one))});`,
    )
    writeFileSync(join(profile, 'user.js'), lines.join('\n'))
    const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port=0', EMPTY_PAGE]
    const browser = spawn(PROGRAM, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    const isEnded = once(browser, 'close')
    t.teardown(async () => {
      browser.kill('SIGKILL')
      await isEnded
      rmSync(profile, { recursive: true, force: true, maxRetries: 10 })
    })
    return connect(t, await readAddress(browser.stderr))
  }
}

/** The address that Firefox prints when it accepts connections. */
async function readAddress(output: NodeJS.ReadableStream): Promise<string> {
  const lines = createInterface(output)
  for await (const line of lines) {
    const address = /WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1]
    if (!address) continue
    output.resume()
    return address
  }
  throw new Error('Firefox ended before it listened')
}

type Answer = { id: number; type: string; result?: unknown; error?: string; message?: string }
type Entry = { method: 'log.entryAdded'; params: { level: string; text: string } }

async function connect(t: Teardown, address: string): Promise<Driver> {
  const socket = new WebSocket(`${address}/session`)
  t.teardown(() => socket.terminate())
  await once(socket, 'open')
  const waiting = new Map<number, (answer: Answer) => void>()
  const messages: string[] = []
  socket.on('message', data => {
    const message = JSON.parse(String(data)) as Answer | Entry
    if ('id' in message) waiting.get(message.id)?.(message)
    else if (message.method === 'log.entryAdded') messages.push(`${message.params.level}: ${message.params.text}`)
  })
  let last = 0
  const send: Send = async <T>(method: string, params: object): Promise<T> => {
    const id = ++last
    const answer = new Promise<Answer>(resolve => waiting.set(id, resolve))
    socket.send(JSON.stringify({ id, method, params }))
    const { type, result, error, message } = await answer
    waiting.delete(id)
    if (type === 'error') throw new Error(`${method}: ${error}: ${message}`)
    return result as T
  }
  const unhandledPromptBehavior = { default: 'dismiss', beforeUnload: 'accept' }
  await send('session.new', { capabilities: { alwaysMatch: { acceptInsecureCerts: true, unhandledPromptBehavior } } })
  await send('session.subscribe', { events: ['log.entryAdded'] })
  const { contexts } = await send<{ contexts: { context: string }[] }>('browsingContext.getTree', {})
  const adopt = async (context: string) => {
    await send('browsingContext.setViewport', { context, viewport: { width: 1280, height: 900 } })
    return createDriverTab(send, context)
  }
  return {
    messages,
    first: await adopt(contexts[0]!.context),
    async openTab() {
      const { context } = await send<{ context: string }>('browsingContext.create', { type: 'tab' })
      return adopt(context)
    },
  }
}

type Send = <T>(method: string, params: object) => Promise<T>

function createDriverTab(send: Send, context: string): DriverTab {
  return {
    navigate: async url => void (await send('browsingContext.navigate', { context, url, wait: 'complete' })),
    async evaluate(expression) {
      const parameters = { expression, target: { context }, awaitPromise: true }
      type Evaluated = { result?: { value: string }; exceptionDetails?: { text: string } }
      const { result, exceptionDetails } = await send<Evaluated>('script.evaluate', parameters)
      if (!result) throw new Error(exceptionDetails?.text)
      return result.value
    },
    perform: async actions => void (await send('input.performActions', { context, actions })),
    async setFile(selector, path) {
      const locator = { type: 'css', value: selector }
      type Located = { nodes: { sharedId: string }[] }
      const { nodes } = await send<Located>('browsingContext.locateNodes', { context, locator })
      const { sharedId } = nodes[0]!
      await send('input.setFiles', { context, element: { sharedId }, files: [path] })
    },
    close: async () => void (await send('browsingContext.close', { context })),
  }
}
