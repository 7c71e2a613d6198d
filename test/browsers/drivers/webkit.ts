import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { reserveFreePort } from '../../../tools/engines/free-port.ts'
import type { Teardown } from '../../support/teardown.ts'
import { HANG_MS, waitFor } from '../../support/wait.ts'
import type { Driver, DriverTab, StartBrowser } from './driver.ts'

const BROWSER = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser'

/** Starts WebKitGTK's small browser on a screen of its own, driven by WebDriver over HTTP. */
export const startWebkit = (t: Teardown): StartBrowser => {
  return async look => {
    const port = await reserveFreePort()
    const env = {
      ...process.env,
      GTK_THEME: look === 'dark' ? 'Adwaita:dark' : 'Adwaita',
      // refused to root otherwise; the pages are our own
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
    }
    const args = ['--auto-servernum', 'WebKitWebDriver', `--port=${port}`]
    const program = spawn('xvfb-run', args, { env, stdio: 'ignore', detached: true })
    t.teardown(() => endGroup(program))
    const send = createSend(`http://127.0.0.1:${port}`)
    await waitFor(() => send('GET', '/status'), { label: 'WebKitWebDriver' })
    return openSession(t, send)
  }
}

/** Ends the driver with the browser and the screen that it started. */
async function endGroup(program: ChildProcess): Promise<void> {
  const isEnded = once(program, 'close')
  process.kill(-program.pid!, 'SIGTERM')
  await isEnded
}

type Send = <T>(method: string, path: string, body?: object) => Promise<T>

const createSend =
  (origin: string): Send =>
  async (method, path, body) => {
    const signal = AbortSignal.timeout(HANG_MS)
    const request = { method, signal, ...(body && { body: JSON.stringify(body) }) }
    const answer = await fetch(origin + path, request).catch(error => {
      throw new Error(`${method} ${path}: ${error.message}`, { cause: error })
    })
    const { value } = (await answer.json()) as { value: { error?: string; message?: string } }
    if (!answer.ok) throw new Error(`${method} ${path}: ${value.error}: ${value.message}`)
    return value as never
  }

async function openSession(t: Teardown, send: Send): Promise<Driver> {
  const options = { binary: BROWSER, args: ['--automation'] }
  const capabilities = { alwaysMatch: { acceptInsecureCerts: true, 'webkitgtk:browserOptions': options } }
  const { sessionId } = await send<{ sessionId: string }>('POST', '/session', { capabilities })
  const session = `/session/${sessionId}`
  t.teardown(() => send('DELETE', session))
  await send('POST', `${session}/window/rect`, { width: 1280, height: 900 })
  let current = await send<string>('GET', `${session}/window`)
  /** One command at a time, each in the window of its tab. */
  let last: Promise<unknown> = Promise.resolve()
  const inTab = (handle: string): Send => {
    return (method, path, body) => {
      const run = async () => {
        if (current !== handle) await send('POST', `${session}/window`, { handle })
        current = handle
        return send(method, session + path, body)
      }
      const result = last.then(run, run)
      last = result.catch(() => {})
      return result as never
    }
  }
  return {
    messages: null,
    first: createDriverTab(inTab(current)),
    async openTab() {
      const { handle } = await send<{ handle: string }>('POST', `${session}/window/new`, { type: 'tab' })
      return createDriverTab(inTab(handle))
    },
  }
}

function createDriverTab(send: Send): DriverTab {
  return {
    navigate: async url => void (await send('POST', '/url', { url })),
    evaluate: expression => {
      const script = `const done = arguments[0]; Promise.resolve(${expression}).then(done, error => done('' + error))`
      return send('POST', '/execute/async', { script, args: [] })
    },
    perform: async actions => void (await send('POST', '/actions', { actions })),
    async setFile(selector, path) {
      const found = await send<Record<string, string>>('POST', '/element', { using: 'css selector', value: selector })
      await send('POST', `/element/${Object.values(found)[0]}/value`, { text: path })
    },
    close: async () => void (await send('DELETE', '/window')),
  }
}
